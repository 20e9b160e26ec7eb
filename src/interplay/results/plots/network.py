"""Interaction network: variables on a circle, joined where they act together."""

import numpy as np
import pandas as pd

from interplay.results.plots.leading import by_level, table, variables
from interplay.results.plots.style import INK, LEAST, MINUS, PLUS, SOFT, Axes, new_axes, rows, short, title

__all__ = ["draw", "table"]

PERHAPS = 0.2
"""Local false sign rate up to which a pair is drawn at all, thin and grey where it is not sure."""


def draw(effects: pd.DataFrame, *, total: int | None = None, axes: Axes | None = None) -> Axes:
    """Draw main effects as discs and pairs as lines, both larger where the effect is.

    Parameters
    ----------
    effects
        What `table` gives.
    total
        How many variables there are, to be said on the plot.
    axes
        Where to draw; None makes new axes.
    """
    from matplotlib.lines import Line2D

    axes = new_axes(axes, 6.4, 5.6)
    names = variables(effects)
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / max(len(names), 1)
    place = dict(zip(names, np.column_stack([np.cos(angle), np.sin(angle)]), strict=True))
    pairs = effects[(effects["kind"] == "pair") & (effects["lfsr"] <= PERHAPS)]
    largest = float(effects.loc[effects["kind"] != "quadratic", "mean"].abs().max()) or 1.0
    for pair in rows(pairs.iloc[::-1]):
        ends = np.array([place[pair.first], place[pair.second]]).T
        sure = pair.lfsr <= LEAST
        axes.plot(
            *ends,
            color=(PLUS if pair.mean > 0 else MINUS) if sure else SOFT,
            linestyle=("-" if pair.mean > 0 else (0, (4, 2))) if sure else ":",
            linewidth=1.2 + 5.0 * abs(pair.mean) / largest if sure else 1.0,
            solid_capstyle="round",
            zorder=1,
        )
    for main in rows(effects[effects["kind"] == "main"]):
        x, y = place[main.first]
        sure = main.lfsr <= LEAST
        size = 50 + 450 * abs(main.mean) / largest
        colour = PLUS if main.mean > 0 else MINUS
        axes.scatter(
            x, y, s=size, facecolor=colour if sure else "white", edgecolor=INK, linewidth=1.0, zorder=2
        )
        if sure:
            sign = "+" if main.mean > 0 else "−"
            axes.text(
                x, y, sign, ha="center", va="center_baseline", color="white", fontweight="bold", zorder=3
            )
        gap = 1.06 + 0.5 * np.sqrt(size / np.pi) / 72 / 2.2
        side = "center" if abs(x) < 0.15 else "left" if x > 0 else "right"
        level = "center" if abs(x) >= 0.15 else "bottom" if y > 0 else "top"
        axes.text(gap * x, gap * y, short(main.first), ha=side, va=level, fontsize=9.5)
    axes.set(xlim=(-1.75, 1.75), ylim=(-1.3, 1.3), aspect="equal")
    axes.axis("off")
    lines = [
        Line2D([], [], color=PLUS, linewidth=2.5, label="together they add"),
        Line2D([], [], color=MINUS, linewidth=2.5, linestyle=(0, (3, 1.5)), label="together they take away"),
        Line2D([], [], color=SOFT, linewidth=1.0, linestyle=":", label=f"unsure (lfsr {LEAST} to {PERHAPS})"),
    ]
    axes.legend(
        handles=lines, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=3, frameon=False, fontsize=8.5
    )
    of = (
        f"{len(names)} of {total:,} variables"
        if total is not None and total > len(names)
        else "all variables"
    )
    sure = int((pairs["lfsr"] <= LEAST).sum())
    found = f"{sure} sure pair{'' if sure == 1 else 's'}" if sure else "no pair is sure"
    title(
        axes, "Interaction network", f"{of}; {found}; filled discs are sure main effects{by_level(effects)}"
    )
    return axes
