"""The kernel interaction trick by test points, for kernels whose prior variances are not known.

The effects are combinations of values of the regression function g at unit vectors (Theorem 5.1, mended):

    θ_i  = ½ [g(e_i) − g(−e_i)]                 θ_ii = ½ [g(e_i) + g(−e_i)] − g(0)
    θ_ij = ¼ [g(e_i+e_j) − g(e_i−e_j) − g(−e_i+e_j) + g(−e_i−e_j)]

They hold for any regression function that is a polynomial of degree two, and for numbers only.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float
from scipy.linalg import cho_factor, cho_solve

from interplay.model.terms import Term

Kernel = Callable[[np.ndarray, np.ndarray], np.ndarray]


def points_and_contrasts(
    terms: Sequence[Term], p: int
) -> tuple[Float[np.ndarray, "q p"], Float[np.ndarray, "t q"]]:
    """The points A, and the contrasts R with θ = R g(A)."""
    index: dict[tuple[tuple[int, float], ...], int] = {}
    contrasts: list[dict[int, float]] = []
    for term in terms:
        weights = dict(_contrast(term))
        contrasts.append({index.setdefault(point, len(index)): w for point, w in weights.items()})
    A = np.zeros((len(index), p))
    for point, row in index.items():
        for variable, value in point:
            A[row, variable] = value
    R = np.zeros((len(terms), len(index)))
    for row, contrast in enumerate(contrasts):
        for column, weight in contrast.items():
            R[row, column] = weight
    return A, R


def effects_by_test_points(
    kernel: Kernel,
    X: Float[np.ndarray, "n p"],
    y: Float[np.ndarray, " n"],
    noise: float,
    terms: Sequence[Term],
) -> tuple[Float[np.ndarray, " t"], Float[np.ndarray, "t t"]]:
    """Posterior mean and covariance of terms, from the kernel alone.

    Parameters
    ----------
    kernel
        Gram matrix of two sets of rows.
    X, y
        Data.
    noise
        Noise variance σ².
    terms
        Intercept, mains, pairs and squares, as tuples of columns.
    """
    A, R = points_and_contrasts(terms, X.shape[1])
    factor = cho_factor(kernel(X, X) + noise * np.eye(len(X)), lower=True)
    cross = R @ kernel(A, X)
    covariance = R @ kernel(A, A) @ R.T - cross @ cho_solve(factor, cross.T)
    return cross @ cho_solve(factor, y), covariance


def _contrast(term: Term) -> list[tuple[tuple[tuple[int, float], ...], float]]:
    match term:
        case ():
            return [((), 1.0)]
        case (i,):
            return [(((i, 1.0),), 0.5), (((i, -1.0),), -0.5)]
        case (i, j) if i == j:
            return [(((i, 1.0),), 0.5), (((i, -1.0),), 0.5), ((), -1.0)]
        case (i, j):
            signs = [(a, b) for a in (1.0, -1.0) for b in (1.0, -1.0)]
            return [(((i, a), (j, b)), 0.25 * a * b) for a, b in signs]
        case _:
            raise ValueError(f"Test points are for terms of at most two variables, got {term}.")
