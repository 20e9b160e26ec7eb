"""Each row predicted from the others, without fitting again.

Given a draw of the hyperparameters, leaving a row out is a closed formula. With f the regression function at
the row given all data, N(m, v), noise variance σ² and h = v/σ² the row's leverage,

    y | other rows ~ N(y − (y − m) / (1 − h), σ² / (1 − h)).

The draws are of the posterior with the row in it. Importance weights 1 / p(y | other rows, draw), smoothed by
a Pareto tail (PSIS), make them draws without it; the tail's shape k says where that cannot be relied on.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from arviz_stats.base.array import array_stats
from jaxtyping import Float
from scipy.special import log_softmax, ndtr

from interplay.results.fit import Fit

LEAST_DRAWS = 25
"""Draws below which no tail can be smoothed, and k is not known."""

GOOD_K = 0.7
"""Largest k at which a row's prediction can be relied on."""


@dataclass(frozen=True)
class LeaveOneOut:
    """Predictions of each row from the others.

    Parameters
    ----------
    table
        One row for each row of the data: `observed mean sd probability k`, in units of the response:
        mean and sd of its prediction, the probability of a value below the one observed, and the shape of
        the tail of its importance weights.
    r2
        1 − Σ (observed − mean)² / Σ (observed − average)², by weight.
    error
        Root of the mean squared error, in units of the response.
    """

    table: pd.DataFrame
    r2: float
    error: float

    def coverage(self, probability: float) -> float:
        """Share of the rows inside their central interval of the given probability."""
        return float(np.mean(np.abs(self.table["probability"] - 0.5) <= probability / 2))

    @property
    def doubtful(self) -> int:
        """Number of rows with k above 0.7 or not known."""
        return int((~(self.table["k"] <= GOOD_K)).sum())


def leave_one_out(fit: Fit) -> LeaveOneOut:
    """Predict each row from the others.

    A row of weight w is left out with all its copies, and predicted with noise variance σ²/w.
    """
    design, conditional = fit.design, fit.conditional
    weights, sigma_sq = design.row_weights, fit.observation_variance[:, None]
    noise = sigma_sq / weights
    without, variance = conditional.leave_one_out()
    # σ²/w over the variance is 1 − h. A row that is fitted exactly has leverage 1, and others say nothing
    # of it; there rounding may leave less than nothing.
    share = noise / variance
    left = np.maximum(share, np.finfo(np.float64).eps)
    residual = (design.y - without) * share / left
    spread = np.sqrt(noise / left)
    # A row of weight w counts as w copies: the density of its w observations, not of their average.
    copies = 0.5 * (weights - 1.0) * np.log(sigma_sq)
    log_likelihood = -0.5 * (residual / spread) ** 2 - np.log(spread) - copies
    log_weight, k = _smoothed(log_likelihood)
    importance = np.exp(log_weight)
    means = design.y - residual
    mean = np.sum(importance * means, axis=0)
    variance = np.sum(importance * (spread**2 + (means - mean) ** 2), axis=0)
    scale, centre = design.response_scale, design.response_centre
    table = pd.DataFrame(
        {
            "observed": centre + scale * design.y,
            "mean": centre + scale * mean,
            "sd": scale * np.sqrt(variance),
            "probability": np.sum(importance * ndtr(residual / spread), axis=0),
            "k": k,
        }
    )
    errors = np.average((design.y - mean) ** 2, weights=weights)
    total = np.average((design.y - np.average(design.y, weights=weights)) ** 2, weights=weights)
    return LeaveOneOut(table, float(1.0 - errors / total), float(scale * np.sqrt(errors)))


def _smoothed(
    log_likelihood: Float[np.ndarray, "s n"],
) -> tuple[Float[np.ndarray, "s n"], Float[np.ndarray, " n"]]:
    """Logarithms of importance weights that add up to one over the draws, and the shape k of each tail."""
    draws, rows = log_likelihood.shape
    if draws < LEAST_DRAWS:
        return log_softmax(-log_likelihood, axis=0), np.full(rows, np.nan)
    log_weight, k = array_stats.psislw(log_likelihood.T, axis=-1)
    return np.asarray(log_weight).T, np.asarray(k)
