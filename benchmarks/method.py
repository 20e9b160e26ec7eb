"""The three ways to the marginal likelihood of the paper's Figure 1, under an isotropic prior."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from interplay.baselines import naive, woodbury
from interplay.data.design import Design
from interplay.model.engines.kernel_space import KernelSpace
from interplay.model.families import Working
from interplay.model.variances import Symmetric, Variances

NOISE = 1.0
"""Noise variance."""

Evaluation = Callable[[], float]
"""One evaluation of log p(D | τ, σ²), with all that does not depend on τ and σ² prepared before."""


@dataclass(frozen=True)
class Method:
    """A way to the marginal likelihood, and what the paper's Table 1 says of it.

    Parameters
    ----------
    prepare
        From a design to an evaluation.
    time_order, memory_order
        Its cost in p and N.
    time_exponent, memory_exponent
        The exponents of p in it.
    needs
        Bytes of the largest arrays that one evaluation holds at a time, for n rows and p variables.
    fit_from
        Exponents are fitted to the values of p from here.
    rehearsal
        Variables of a small problem that loads all that the method needs.
    """

    prepare: Callable[[Design], Evaluation]
    time_order: str
    memory_order: str
    time_exponent: float
    memory_exponent: float
    needs: Callable[[int, int], float]
    fit_from: int
    rehearsal: int


def dimension(p: int) -> int:
    """The number of coefficients: intercept, mains, pairs and squares."""
    return 1 + 2 * p + p * (p - 1) // 2


def _kernel_space(design: Design) -> Evaluation:
    engine = KernelSpace(design)
    variance = np.asarray(1.0 / dimension(design.p))
    component = Symmetric(np.ones(design.p), np.full(2, variance), variance)
    variances = Variances(intercept=variance, symmetric=(component,), p=design.p)
    working = Working(design.y, NOISE, design.row_weights)
    return lambda: engine.log_likelihood(variances, working).value


def _woodbury(design: Design) -> Evaluation:
    Phi, S = _explicit(design.X)
    return lambda: woodbury.log_likelihood(Phi, S, NOISE, design.y)


def _naive(design: Design) -> Evaluation:
    Phi, S = _explicit(design.X)
    return lambda: naive.log_likelihood(Phi, S, NOISE, design.y)


def _explicit(X: Float[np.ndarray, "n p"]) -> tuple[Float[np.ndarray, "n D"], Float[np.ndarray, " D"]]:
    """All features, written into one array: nothing else of their size is made."""
    n, p = X.shape
    D = dimension(p)
    Phi = np.empty((n, D))
    Phi[:, 0] = 1.0
    Phi[:, 1 : 1 + p] = X
    start = 1 + p
    for i in range(p):
        np.multiply(X[:, i:], X[:, i : i + 1], out=Phi[:, start : start + p - i])
        start += p - i
    return Phi, np.full(D, 1.0 / D)


METHODS = {
    "interplay": Method(
        prepare=_kernel_space,
        time_order="O(pN² + N³)",
        memory_order="O(pN + N²)",
        time_exponent=1.0,
        memory_exponent=1.0,
        # X, its copy in Fortran order, and what is computed of X on the way to the norms of its columns.
        needs=lambda n, p: 8.0 * 4 * n * p,
        fit_from=1000,
        rehearsal=10,
    ),
    "Woodbury": Method(
        prepare=_woodbury,
        time_order="O(p²N² + N³)",
        memory_order="O(p²N + N²)",
        time_exponent=2.0,
        memory_exponent=2.0,
        # Φ and ΦS.
        needs=lambda n, p: 8.0 * 2 * n * dimension(p),
        fit_from=300,
        rehearsal=10,
    ),
    "naive": Method(
        prepare=_naive,
        time_order="O(p⁶ + p⁴N)",
        memory_order="O(p⁴ + p²N)",
        time_exponent=6.0,
        memory_exponent=4.0,
        # Σ_τ⁻¹, ΦᵀΦ/σ², and the factor of their sum.
        needs=lambda n, p: 8.0 * 3 * dimension(p) ** 2,
        fit_from=50,
        rehearsal=10,
    ),
}
"""The methods by name."""
