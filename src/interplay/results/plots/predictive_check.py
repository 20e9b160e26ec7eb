"""Posterior predictive check: the response as observed, among responses that the model would make."""

import numpy as np
import pandas as pd

from interplay.results.fit import Fit
from interplay.results.plots.style import INK, SOFT, Axes, new_axes, short, tidy, title
from interplay.results.replicates import replicates

REPLICATES = 200
"""Data sets drawn from the posterior predictive distribution."""

FEWEST, MOST = 6, 30
"""Fewest and most bins."""


def table(fit: Fit, probability: float = 0.9, random_state: int = 0) -> pd.DataFrame:
    """Rows in bins of the response: how many were observed, and how many in replicated data.

    A replicate is a new response for the same rows, drawn from the posterior: hyperparameters, regression
    function and noise. The model has seen these data, so this checks its form, not its predictions.

    Parameters
    ----------
    fit
        The fit.
    probability
        Of the interval from `lower` to `upper` over replicates.
    random_state
        Seed of the replicates.

    Returns
    -------
    DataFrame
        `left right observed median lower upper`; the first and last bin also hold what lies beyond them.
    """
    if not 0.0 < probability < 1.0:
        raise ValueError(f"probability={probability!r}: expected a number between 0 and 1, such as 0.9.")
    design = fit.design
    y = design.response_centre + design.response_scale * design.y
    made = replicates(fit, REPLICATES, np.random.default_rng(random_state))
    bins = int(np.clip(np.ceil(2.0 * np.cbrt(design.n)), FEWEST, MOST))
    low, high = np.quantile(made, [0.005, 0.995])
    edges = np.linspace(min(low, y.min()), max(high, y.max()), bins + 1)
    counts = np.array([_counts(row, edges) for row in made])
    median, lower, upper = np.quantile(
        counts, [0.5, 0.5 - probability / 2, 0.5 + probability / 2], axis=0, method="inverted_cdf"
    )
    return pd.DataFrame(
        {
            "left": edges[:-1],
            "right": edges[1:],
            "observed": _counts(y, edges),
            "median": median,
            "lower": lower,
            "upper": upper,
        }
    )


def draw(counts: pd.DataFrame, response: str = "response", *, axes: Axes | None = None) -> Axes:
    """Draw observed counts as steps over the band of the replicates.

    Parameters
    ----------
    counts
        What `table` gives.
    response
        Name of the response.
    axes
        Where to draw; None makes new axes.
    """
    axes = new_axes(axes, 6.4, 3.8)
    edges = [*counts["left"], counts["right"].iloc[-1]]
    axes.stairs(
        counts["upper"],
        edges,
        baseline=counts["lower"],
        fill=True,
        color=SOFT,
        alpha=0.35,
        label="replicates",
    )
    axes.stairs(
        counts["median"], edges, color=SOFT, linestyle=(0, (4, 2)), baseline=None, label="their median"
    )
    axes.stairs(counts["observed"], edges, color=INK, linewidth=1.8, baseline=None, label="observed")
    axes.set(xlabel=short(response, 40), ylabel="rows", ylim=(0.0, None))
    axes.legend(frameon=False, fontsize=8.5)
    outside = int(((counts["observed"] < counts["lower"]) | (counts["observed"] > counts["upper"])).sum())
    title(axes, "Posterior predictive check", f"observed outside the band in {outside} of {len(counts)} bins")
    return tidy(axes, "y")


def _counts(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0]
