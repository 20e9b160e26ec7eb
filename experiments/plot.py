"""Squared errors of every fit beside those of the peers."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from experiments.goals import by_setting, label
from experiments.peers import PEERS
from experiments.protocol import Outcome

STYLES = {
    "LassoCV, raw columns": {"marker": "v", "color": "tab:red"},
    "LassoCV, standardised": {"marker": "^", "color": "tab:orange"},
    "adelie": {"marker": "s", "color": "tab:blue"},
    "R glinternet": {"marker": "D", "color": "tab:cyan"},
    "abess": {"marker": "P", "color": "tab:green"},
}
"""Told apart without colour by their marks."""


def draw(outcomes: list[Outcome], path: Path) -> None:
    """Draw the errors of mains and of pairs for each setting, on logarithmic axes."""
    settings = by_setting(outcomes)
    figure, panels = plt.subplots(1, 2, figsize=(9, 4.2), sharex=True, layout="constrained")
    places = np.arange(len(settings), dtype=float)
    for axes, kind, null in zip(panels, ("main", "pair"), (5.0, 10.0), strict=True):
        for place, fits in zip(places, settings.values(), strict=True):
            errors = [one.errors.mains if kind == "main" else one.errors.pairs for one in fits]
            name = "interplay, each fit" if place == 0 else None
            axes.plot(np.full(len(fits), place - 0.25), errors, "o", color="black", alpha=0.5, label=name)
            name = "interplay, mean" if place == 0 else None
            mean = float(np.mean(errors))
            axes.plot([place - 0.35, place - 0.15], [mean, mean], color="black", linewidth=2, label=name)
        for offset, (peer, style) in zip(np.linspace(0.0, 0.4, len(STYLES)), STYLES.items(), strict=True):
            cells = [PEERS[peer].get(key) for key in settings]
            values = [getattr(cell, f"{kind}_error") if cell else np.nan for cell in cells]
            axes.plot(places + offset, values, linestyle="none", label=peer, **style)
        axes.axhline(null, color="0.6", linestyle=":", label="no effects at all")
        axes.set(yscale="log", title=f"{kind.capitalize()} effects" if kind == "main" else "Pairs")
        axes.set_xticks(places, [label(key) for key in settings])
        axes.set_xlabel("(N, p, λ)")
        axes.grid(True, axis="y", color="0.85", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("squared error")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path, dpi=150, metadata={"Software": None})
    plt.close(figure)
