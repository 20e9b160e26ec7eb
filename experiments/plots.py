"""What all pictures have in common."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator


def new(rows: int, columns: int, *, width: float, height: float) -> tuple[Any, np.ndarray]:
    """A figure, and its panels as a flat array."""
    figure, panels = plt.subplots(rows, columns, figsize=(width, height), layout="constrained", squeeze=False)
    for axes in panels.flat:
        axes.grid(True, color="0.88", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, panels.ravel()


def plain_log(axis: Any, *steps: float) -> None:
    """Write plain numbers on a logarithmic axis, at these multiples of the powers of ten."""
    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: f"{value:g}")


def plain_symlog(axes: Any, linear: float = 1.0) -> None:
    """Make the vertical axis logarithmic on both sides of zero, with plain numbers."""
    axes.set_yscale("symlog", linthresh=linear)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")


def curve(axes: Any, x: Sequence[float], y: Sequence[float], stopped: Sequence[bool], **style: Any) -> None:
    """Draw a curve on logarithmic axes, its marks hollow where a method was stopped: it would take more."""
    axes.loglog(x, y, **style)
    hollow = {"markevery": list(np.flatnonzero(stopped)), "markerfacecolor": "white", "linestyle": "none"}
    axes.loglog(x, y, **(style | hollow | {"label": None}))


def save(figure: Any, path: Path, *, columns: int = 4) -> None:
    """Write a figure with one legend for all panels: each name once, if there is anything of it."""
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            if not isinstance(handle, Line2D) or np.size(handle.get_xdata()):
                entries.setdefault(name, handle)
    if entries:
        figure.legend(
            entries.values(), entries, loc="outside lower center", ncols=columns, frameon=False, fontsize=9
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, metadata={"Software": None})
    plt.close(figure)
