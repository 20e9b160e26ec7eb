"""The paper's Figure 1, drawn from the curves."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from benchmarks.probe import RESOLUTION, ROWS
from benchmarks.scaling import Curve

STYLES = {
    "interplay": {"color": "black", "linestyle": "-", "marker": "o"},
    "Woodbury": {"color": "tab:blue", "linestyle": "--", "marker": "s"},
    "naive": {"color": "tab:red", "linestyle": ":", "marker": "^"},
}
"""Told apart without colour by line and marker."""


def draw(curves: list[Curve], path: Path) -> None:
    """Draw time and memory against p on logarithmic axes."""
    figure, (time, memory) = plt.subplots(1, 2, figsize=(9, 3.8), sharex=True, layout="constrained")
    for curve in curves:
        p = [point.p for point in curve.points]
        style = STYLES[curve.method] | {"markersize": 5}
        time.loglog(p, [point.times.median / 1e3 for point in curve.points], label=curve.method, **style)
        seen = [point for point in curve.points if point.bytes > RESOLUTION]
        memory.loglog([point.p for point in seen], [point.bytes / 1e6 for point in seen], **style)
    time.set(ylabel="time of one evaluation (s)", title="Time")
    memory.set(ylabel="peak memory (MB)", title="Memory")
    for axes in (time, memory):
        axes.set_xlabel("number of variables p")
        axes.grid(True, which="major", color="0.85", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"Marginal likelihood with all pairs and squares, N = {ROWS}", fontsize=11)
    figure.legend(loc="outside lower center", ncols=len(curves), frameon=False)
    figure.savefig(path, dpi=150, metadata={"Software": None})
    plt.close(figure)
