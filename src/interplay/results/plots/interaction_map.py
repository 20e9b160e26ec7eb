"""Interaction map: the leading variables against each other, strength by colour, probability by size."""

from typing import Any

import numpy as np
import pandas as pd

from interplay.results.plots.leading import by_level, table, variables
from interplay.results.plots.style import FAINT, INK, LEAST, MINUS, PLUS, SOFT, Axes, new_axes, short, title

__all__ = ["draw", "table"]

LARGEST, SMALLEST = 0.86, 0.12
"""Diameter of the largest mark, in cells, and of the smallest, relative to it."""

LEAST_SCALE = 0.3
"""The colours span at least this share of the largest main effect, so that small effects look small."""


def draw(effects: pd.DataFrame, *, total: int | None = None, axes: Axes | None = None) -> Axes:
    """Draw the pairs below the diagonal and the squares on it.

    Parameters
    ----------
    effects
        What `table` gives.
    total
        How many variables there are, to be said on the plot.
    axes
        Where to draw; None makes new axes.
    """
    from matplotlib.collections import EllipseCollection
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    names = variables(effects)
    place = {name: position for position, name in enumerate(names)}
    count = len(names)
    labels = [short(name) for name in names]
    # Inches of the longest label, beside and, turned, below the cells.
    margin = 0.09 * max(map(len, labels))
    side = 0.42 * max(count, 5)
    axes = new_axes(axes, 2.4 + margin + side, 1.2 + 0.8 * margin + side)
    shown = effects[effects["kind"] != "main"]
    x, y = (shown[side].map(place).to_numpy(dtype=float) for side in ("first", "second"))
    lfsr, mean = shown["lfsr"].to_numpy(), shown["mean"].to_numpy()
    strongest = max(float(np.abs(mean).max(initial=0.0)), LEAST_SCALE * float(effects["mean"].abs().max()))
    strongest = strongest or 1.0
    # From a coin's toss, lfsr = ½, to certainty.
    certainty = np.clip(1.0 - 2.0 * lfsr, 0.0, 1.0)
    diameter = LARGEST * (SMALLEST + (1.0 - SMALLEST) * certainty)
    for k in range(count):
        axes.plot([-0.5, k + 0.5], [k + 0.5, k + 0.5], color=FAINT, linewidth=0.6, zorder=0)
        axes.plot([k - 0.5, k - 0.5], [k - 0.5, count - 0.5], color=FAINT, linewidth=0.6, zorder=0)
    marks = EllipseCollection(
        diameter,
        diameter,
        np.zeros(len(shown)),
        units="x",
        offsets=np.column_stack([x, y]),
        offset_transform=axes.transData,
        cmap=LinearSegmentedColormap.from_list("sign", [MINUS, "#f7f7f7", PLUS]),
        norm=Normalize(-strongest, strongest),
        edgecolors=INK,
        linewidths=np.where(lfsr <= LEAST, 1.3, 0.4),
    )
    marks.set_array(mean)
    axes.add_collection(marks)
    for sure in np.flatnonzero(lfsr <= LEAST):
        dark = abs(mean[sure]) > 0.6 * strongest
        sign = "+" if mean[sure] > 0 else "−"
        axes.text(
            x[sure],
            y[sure],
            sign,
            ha="center",
            va="center_baseline",
            fontsize=11,
            fontweight="bold",
            color="white" if dark else INK,
        )
    axes.set_xticks(range(count), labels, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(count), labels)
    axes.set(xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5), aspect="equal")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    _key(axes, marks, certainty.size)
    of = f"{count} of {total:,} variables" if total is not None and total > count else f"{count} variables"
    title(axes, "Interactions", f"{of}, the leading ones; squares on the diagonal{by_level(effects)}")
    return axes


def _key(axes: Axes, marks: Any, drawn: int) -> None:
    """What colour and size mean."""
    from matplotlib.lines import Line2D

    if not drawn:
        return
    figure = axes.figure
    bar = figure.colorbar(marks, ax=axes, shrink=0.6, aspect=18, pad=0.02, anchor=(0.0, 0.0))
    bar.set_label("effect in standard deviations", fontsize=8.5)
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_visible(False)
    handles = [
        Line2D([], [], marker="o", linestyle="none", markersize=size, markeredgecolor=SOFT, color="none")
        for size in (13.0 * (SMALLEST + (1.0 - SMALLEST) * certainty) for certainty in (0.0, 0.5, 1.0))
    ]
    axes.legend(
        handles,
        ["0.5", "0.75", "1"],
        title="P(sign is right)",
        loc="upper right",
        frameon=False,
        fontsize=8.5,
        title_fontsize=8.5,
        labelspacing=0.7,
    )
