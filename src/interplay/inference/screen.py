"""How much each variable has to say, alone and in pairs: what a walk over sets of variables begins with."""

import numpy as np
from jaxtyping import Float

from interplay.data.design import Design

VARIANCE = 0.1
"""Prior variance of an effect, in units of the noise variance,."""

BLOCK = 512
"""Columns at a time."""


def screen(design: Design) -> Float[np.ndarray, " p"]:
    """How much each variable has to say, alone or in a pair: the log of a sum of Bayes factors.

    For a feature φ with z² = (φᵀWy)² / (φᵀWφ var y), where W holds the weights and n is their sum, the factor
    against no effect, with a prior variance of v noise variances, is (1 + nv)^(-½) exp(½ z² nv / (1 + nv)).
    O(n p²), once.
    """
    X = design.X.astype(np.float32)
    weights = np.ones(design.n) if design.weights is None else design.weights
    centred = design.y - np.average(design.y, weights=weights)
    variance = np.average(centred**2, weights=weights)
    information = design.total_weight * VARIANCE
    y, squares = (weights * design.y).astype(np.float32), X**2
    weighted = squares * weights[:, None].astype(np.float32)

    def log_factor(product: np.ndarray, norm: np.ndarray) -> np.ndarray:
        z_sq = product**2 / np.maximum(norm * variance, 1e-12)
        return 0.5 * z_sq * information / (1.0 + information) - 0.5 * np.log1p(information)

    scores = log_factor(X.T @ y, weighted.sum(axis=0))
    for start in range(0, design.d, BLOCK):
        block = slice(start, start + BLOCK)
        factors = log_factor((X[:, block] * y[:, None]).T @ X, weighted[:, block].T @ squares)
        factors[design.owner[block, None] == design.owner] = -np.inf
        scores[block] = np.logaddexp(scores[block], np.logaddexp.reduce(factors, axis=1))
    best = np.full(design.p, -np.inf)
    np.maximum.at(best, design.owner, scores)
    return best
