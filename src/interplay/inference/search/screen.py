"""How much variables have to say, alone and in pairs: what the search for sets of variables begins with."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from interplay.data.design import Design

VARIANCE = 0.1
"""Prior variance of an effect, in units of the noise variance,."""

BLOCK = 512
"""Columns at a time."""


class Screened(NamedTuple):
    """What each variable has to say, and the pairs of variables that have most to say together."""

    scores: Float[np.ndarray, " p"]
    pairs: Int[np.ndarray, "b 2"]


def screen(design: Design, most: int) -> Screened:
    """How much each variable has to say, alone or in a pair: the log of a sum of Bayes factors.

    For a feature φ with z² = (φᵀWy)² / (φᵀWφ var y), where W holds the weights and n is their sum, the factor
    against no effect, with a prior variance of v noise variances, is (1 + nv)^(-½) exp(½ z² nv / (1 + nv)).
    A pair has the product of the factors of its two columns and of their product. O(n p²), once.

    Parameters
    ----------
    design
        The data.
    most
        How many pairs, the best first; fewer where there are not as many.
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

    alone = log_factor(X.T @ y, weighted.sum(axis=0))
    scores = alone.copy()
    pairs = _Best(most)
    for start in range(0, design.d, BLOCK):
        block = slice(start, start + BLOCK)
        owner = design.owner[block, None]
        factors = log_factor((X[:, block] * y[:, None]).T @ X, weighted[:, block].T @ squares)
        factors[owner == design.owner] = -np.inf
        scores[block] = np.logaddexp(scores[block], np.logaddexp.reduce(factors, axis=1))
        # Each pair once: with the variables that come later.
        factors[owner > design.owner] = -np.inf
        pairs = pairs.or_better(factors + alone[block, None] + alone, start)
    best = np.full(design.p, -np.inf)
    np.maximum.at(best, design.owner, scores)
    # Levels of factors make the same pair of variables several times.
    unique = dict.fromkeys(map(tuple, design.owner[pairs.columns].tolist()))
    return Screened(best, np.array(list(unique), dtype=int).reshape(-1, 2))


@dataclass(frozen=True)
class _Best:
    """The best pairs of columns so far, the best first, and their values."""

    most: int
    columns: Int[np.ndarray, "b 2"] = field(default_factory=lambda: np.empty((0, 2), dtype=int))
    values: Float[np.ndarray, " b"] = field(default_factory=lambda: np.empty(0))

    def or_better(self, values: Float[np.ndarray, "k d"], start: int) -> "_Best":
        """The same with the rows of a block, which begins at a column."""
        among = np.flatnonzero(values > -np.inf)
        if among.size > self.most:
            among = among[np.argpartition(-values.ravel()[among], self.most)[: self.most]]
        row, column = np.divmod(among, values.shape[1])
        columns = np.concatenate([self.columns, np.column_stack([start + row, column])])
        every = np.concatenate([self.values, values.ravel()[among]])
        order = np.argsort(-every, kind="stable")[: self.most]
        return _Best(self.most, columns[order], every[order])
