"""Forest: effects with their intervals, the surest on top."""

from typing import Any

import pandas as pd

from interplay.effects.selection import Rule
from interplay.results.fit import Fit
from interplay.results.plots.style import INK, SOFT, Axes, new_axes, number, rows, short, tidy, title
from interplay.results.requests import Labels

MARKERS = {"main": "o", "pair": "D", "quadratic": "s"}
"""By kind of effect; a triangle for any other."""


def table(
    fit: Fit,
    terms: str | Labels | None = None,
    probability: float = 0.9,
    rule: Rule = "lfsr",
    q: float = 0.05,
) -> pd.DataFrame:
    """The effect table, see `interplay.results.fit.Fit.effects`."""
    return fit.effects(terms, probability, rule, q)


def draw(effects: pd.DataFrame, *, size: int = 20, axes: Axes | None = None) -> Axes:
    """Draw mean and interval of the first effects of the table, on the standardised scale.

    Parameters
    ----------
    effects
        What `table` gives.
    size
        Most effects that are drawn.
    axes
        Where to draw; None makes new axes.
    """
    top = effects.head(size).reset_index(drop=True)
    axes = new_axes(axes, 7.0, 1.3 + 0.27 * max(len(top), 2))
    from matplotlib.lines import Line2D

    axes.axvline(0.0, color=SOFT, linewidth=0.8)
    place = axes.get_yaxis_transform()
    for row in rows(top):
        axes.plot([row.lower, row.upper], [row.Index, row.Index], color=INK, linewidth=1.4)
        axes.plot(row.mean, row.Index, **_mark(row.kind, INK if row.selected else "white"))
        text = f"{number(row.mean)} ({number(row.lower)} to {number(row.upper)})"
        axes.text(1.02, row.Index, text, transform=place, va="center", fontsize=8.5, color=SOFT)
    axes.set_yticks(range(len(top)), [short(name, 36) for name in top["term"]])
    axes.set_ylim(len(top) - 0.4, -0.6)
    axes.set_xlabel("effect in standard deviations (posterior mean and interval)")
    axes.tick_params(axis="y", length=0)
    kinds = list(dict.fromkeys(top["kind"]))
    handles = [Line2D([], [], label=kind, **_mark(kind, SOFT)) for kind in kinds]
    if kinds:
        axes.legend(handles=handles, loc="best", framealpha=0.9, edgecolor="none", fontsize=8.5)
    title(axes, "Effects", f"the surest {len(top)} of {len(effects):,}; filled marks are selected")
    return tidy(axes, "x")


def _mark(kind: str, fill: str) -> dict[str, Any]:
    marker = MARKERS.get(kind, "^")
    return {"marker": marker, "markersize": 6, "color": INK, "markerfacecolor": fill, "linestyle": "none"}
