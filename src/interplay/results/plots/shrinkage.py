"""Shrinkage: the local scale κ of each variable, and how much of its main effect is shrunk away."""

import numpy as np
import pandas as pd

from interplay.results.fit import Fit
from interplay.results.plots.style import INK, SOFT, Axes, new_axes, rows, short, tidy, title


def table(fit: Fit, probability: float = 0.9) -> pd.DataFrame:
    """One row for each variable, the largest κ first.

    Parameters
    ----------
    fit
        The fit, of a prior with local scales.
    probability
        Of the central interval from `lower` to `upper`.

    Returns
    -------
    DataFrame
        `variable kappa lower upper shrinkage`: median and interval of κ over all draws, and the mean of
        1 / (1 + n η1² κ² / σ²), the share by which a main effect is drawn to zero where variables are not
        correlated: near 0 for one that is left as the data have it, near 1 for one that is shrunk away.
    """
    if not 0.0 < probability < 1.0:
        raise ValueError(f"probability={probability!r}: expected a number between 0 and 1, such as 0.9.")
    draws = fit.draws.stacked()
    if "kappa" not in draws:
        raise ValueError(
            f"{type(fit.prior).__name__} has no κ: it gives no variable a scale of its own, so there is no"
            " shrinkage to show. Expected a fit with SKIM."
        )
    kappa = draws["kappa"]
    ends = [0.5, 0.5 - probability / 2, 0.5 + probability / 2]
    middle, lower, upper = np.quantile(kappa, ends, axis=0)
    precision = fit.design.total_weight * draws["eta1"] ** 2 / fit.family.observation_variance(draws)
    shrunk = np.mean(1.0 / (1.0 + precision[:, None] * kappa**2), axis=0)
    scales = pd.DataFrame(
        {"variable": fit.design.names, "kappa": middle, "lower": lower, "upper": upper, "shrinkage": shrunk}
    )
    return scales.sort_values("kappa", ascending=False, kind="stable", ignore_index=True)


def draw(scales: pd.DataFrame, *, size: int = 20, axes: Axes | None = None) -> Axes:
    """Draw κ of the first variables on a logarithmic axis, and all others as one row.

    Parameters
    ----------
    scales
        What `table` gives.
    size
        Most variables that are drawn by name.
    axes
        Where to draw; None makes new axes.
    """
    top, rest = scales.head(size), scales.iloc[size:]
    count = len(top) + bool(len(rest))
    axes = new_axes(axes, 7.0, 1.3 + 0.27 * max(count, 2))
    labels = [short(name, 36) for name in top["variable"]]
    for row in rows(top):
        axes.plot([row.lower, row.upper], [row.Index, row.Index], color=INK, linewidth=1.4)
        fill = str(round(float(np.clip(row.shrinkage, 0.0, 1.0)), 2))
        axes.plot(row.kappa, row.Index, marker="o", markersize=6.5, color=INK, markerfacecolor=fill)
        _beside(axes, row.Index, f"{row.shrinkage:.2f}")
    if len(rest):
        low, middle, high = np.quantile(rest["kappa"], [0.0, 0.5, 1.0])
        axes.plot([low, high], [len(top)] * 2, color=SOFT, linewidth=4, alpha=0.5, solid_capstyle="butt")
        axes.plot(middle, len(top), marker="|", markersize=10, color=INK)
        labels.append(f"the other {len(rest):,} (medians)")
        _beside(axes, len(top), f"{rest['shrinkage'].mean():.2f}")
    axes.set_xscale("log")
    axes.set_yticks(range(count), labels)
    axes.set_ylim(count - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("local scale κ (median and interval)")
    place = axes.get_yaxis_transform()
    axes.text(1.02, -0.75, "shrunk\naway", transform=place, fontsize=8.5, color=SOFT, va="bottom")
    title(axes, "Shrinkage", "dark marks are left as the data have them, white ones are shrunk away")
    return tidy(axes, "x")


def _beside(axes: Axes, row: int, text: str) -> None:
    axes.text(1.02, row, text, transform=axes.get_yaxis_transform(), va="center", fontsize=8.5, color=SOFT)
