"""The engine for few rows: everything through the n × n kernel matrix, O(n² p + n³)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, final

import numpy as np
from jaxtyping import Float, Int

from interplay._support import lapack
from interplay.data.design import Design
from interplay.model.engines.base import Engine, Likelihood
from interplay.model.engines.columns import Columns
from interplay.model.engines.kernel_posterior import KernelPosterior
from interplay.model.families.base import Working
from interplay.model.kernel import (
    Assembled,
    Matrix,
    Part,
    add_named_pairs,
    assemble,
    combine,
    parts_of,
    pull_back,
    square_weights,
)
from interplay.model.layout import Layout, power
from interplay.model.variances import Variances

Precision = Literal["float64", "float32"]

FEWEST_TRUNCATED = 128
"""Columns up to which the squares of all of them are used."""

NOT_DEFINED = Likelihood(-math.inf)

Resolvent = tuple[Float[np.ndarray, "n n"], Float[np.ndarray, " n"]]
"""The lower Cholesky factor of K + V, and α = (K + V)⁻¹ z, in the precision of the products."""


@final
@dataclass(frozen=True, eq=False)
class Factored:
    """The likelihood at one draw, with the matrices that it was computed from.

    Parameters
    ----------
    value
        Log N(z | 0, K + V); −inf where it is not defined, and then the factor is of no use.
    parts, matrices
        The products of weighted columns that K is put together from, and their weights.
    lower, alpha
        Lower Cholesky factor of K + V, (n, n), and α = (K + V)⁻¹ z, (n,).
    """

    value: float
    parts: Sequence[Part]
    matrices: Sequence[Matrix]
    lower: Float[np.ndarray, "n n"]
    alpha: Float[np.ndarray, " n"]


@final
class KernelSpace(Engine):
    """A data set in kernel space.

    Parameters
    ----------
    design
        The data.
    precision
        Precision of the O(n² p) products, and of the inverse in the gradient; the factor that the value comes
        from is always in double precision.
    tolerance
        Bound on the change of the log likelihood by leaving out squares of columns; 0 for none.
    """

    def __init__(self, design: Design, *, precision: Precision = "float64", tolerance: float = 1e-4) -> None:
        self._X = design.X
        self._layout = Layout.of(design)
        self._row_weights = design.row_weights
        self._tolerance = tolerance
        values = np.asfortranarray(design.X, dtype=precision)
        norms = [design.row_weights @ power(design.X, self._layout.levels, k) ** 2 for k in (1, 2)]
        self._columns = Columns(values, self._layout, np.stack(norms))

    @property
    def layout(self) -> Layout:
        """Which variable each column belongs to."""
        return self._layout

    @property
    def columns(self) -> Columns:
        """The columns, in the precision of the products."""
        return self._columns

    @property
    def single_precision(self) -> bool:
        """Whether the products are in single precision."""
        return self._columns.values.dtype == np.float32

    @property
    def has_coefficients(self) -> bool:
        """Pairs are found by bounds on their posteriors."""
        return False

    def log_likelihood(self, variances: Variances, working: Working) -> Likelihood:
        """Log p(z | τ, v), the paper's equation for log p(D | τ, σ²) (Section 4)."""
        return Likelihood(self.factor(variances, working).value)

    def factor(self, variances: Variances, working: Working, near: Factored | None = None) -> Factored:
        """The likelihood with its matrices.

        Parameters
        ----------
        variances, working
            The draw.
        near
            What is known of a draw in which the weights of most columns are the same: only the products of
            the others are computed, and added.
        """
        columns = self._truncated(variances, working)
        parts = parts_of(variances, self._layout)
        old: Sequence[tuple[Part, Matrix] | None] = [None] * len(parts)
        if near is not None:
            old = list(zip(near.parts, near.matrices, strict=True))
        matrices = [_product(columns, part, known) for part, known in zip(parts, old, strict=True)]
        K = combine(variances, self._layout, matrices).K
        add_named_pairs(K, variances, self._layout, self._columns)
        value, white = _factorise(K, working)
        if math.isfinite(value):
            lapack.solve_triangle(K, white, transposed=True)
        return Factored(value, parts, matrices, K, white[:, 0])

    def resolvent(self, variances: Variances, working: Working, near: Factored) -> Resolvent | None:
        """The factor of K + V and α in the precision of the products, for proposals; None if undefined."""
        precision = self._columns.values.dtype
        old = zip(near.parts, near.matrices, strict=True)
        matrices = [
            _product(self._columns, part, known).astype(precision, copy=False)
            for part, known in zip(parts_of(variances, self._layout), old, strict=True)
        ]
        lower = combine(variances, self._layout, matrices).K
        add_named_pairs(lower, variances, self._layout, self._columns)
        value, white = _factorise(lower, working)
        if not math.isfinite(value):
            return None
        lapack.solve_triangle(lower, white, transposed=True)
        return lower, white[:, 0]

    def gradient(self, variances: Variances, working: Working) -> Likelihood:
        """The value and its derivatives in closed form.

        ∂/∂K = G = ½ (α αᵀ − (K + V)⁻¹), and ∂/∂ log v = Σ_i G_ii v_i. As K is symmetric, the lower triangle
        of G, doubled off the diagonal, stands for both.
        """
        columns = self._truncated(variances, working)
        assembled = assemble(variances, self._layout, columns)
        return self._derivatives(variances, working, assembled, columns)

    def hold(self, factored: Factored, active: Int[np.ndarray, " h"]) -> "HeldGram":
        """The likelihood as a function of the weights of some columns, with those of all others held.

        Variances of single pairs have no weights, and are not held.

        Parameters
        ----------
        factored
            The draw at which the others are held.
        active
            The columns whose weights may change.
        """
        columns = self._columns.taken(active)
        precision = self._columns.values.dtype
        held = [
            (matrix - columns.product(part.weights[active], part.power)).astype(precision, copy=False)
            for part, matrix in zip(factored.parts, factored.matrices, strict=True)
        ]
        return HeldGram(self, columns, held, active)

    def condition(self, variances: Variances, working: Working) -> KernelPosterior:
        """The posterior of the coefficients, from the factor of K + V."""
        factored = self.factor(variances, working)
        if not math.isfinite(factored.value):
            raise np.linalg.LinAlgError("K + V is not positive definite to working precision")
        return KernelPosterior(self._X, self._layout, variances, working, factored.lower, factored.alpha)

    def _derivatives(
        self, variances: Variances, working: Working, assembled: Assembled, columns: Columns
    ) -> Likelihood:
        lower = assembled.K  # overwritten by its factor: the derivative needs the parts, not their sum
        value, white = _factorise(lower, working)
        if not math.isfinite(value):
            return NOT_DEFINED
        lapack.solve_triangle(lower, white, transposed=True)
        alpha = white[:, 0]
        inverse = lower.astype(self._columns.values.dtype, copy=False)
        lapack.inverse_from_factor(inverse)
        G = np.multiply.outer(alpha, alpha).T
        G -= inverse
        G *= self._lower_triangle
        by_log_variance = float(np.diagonal(G) @ working.noise)
        return Likelihood(value, pull_back(variances, columns.layout, assembled, G, columns), by_log_variance)

    def _truncated(self, variances: Variances, working: Working) -> Columns:
        """The columns without the squares that move the log likelihood by less than the tolerance.

        As (K + V)⁻¹ ⪯ V⁻¹, leaving out M moves log p by at most ½ tr(V⁻¹M) (1 + zᵀV⁻¹z). Norms have the
        weights of the design, so that tr(V⁻¹M) is at most their sum over the noise below.
        """
        few = self._X.shape[1] <= FEWEST_TRUNCATED
        # Past pairs, K is not linear in the sums of squares.
        if not self._tolerance or few or working.variance == 0 or variances.degree > 2:
            return self._columns
        noise = working.variance / float(np.max(working.weights / self._row_weights, initial=0.0))
        z = working.response
        slack = 2.0 * self._tolerance * noise / (1.0 + float(z @ (working.weights * z)) / working.variance)
        return self._columns.truncated(square_weights(variances, self._layout), slack)

    @cached_property
    def _lower_triangle(self) -> Float[np.ndarray, "n n"]:
        """1 below the diagonal, ½ on it and 0 above: from 2G to its triangle, doubled off the diagonal."""
        n = len(self._X)
        mask = np.asfortranarray(np.tril(np.ones((n, n), dtype=self._columns.values.dtype)))
        np.fill_diagonal(mask, 0.5)
        return mask


@final
@dataclass(frozen=True, eq=False)
class HeldGram:
    """The likelihood and its gradient with the weights of most columns held, in the precision of products.

    Parameters
    ----------
    engine
        The data.
    columns
        The columns whose weights may change.
    held
        What the others add to each product.
    active
        Their place among all columns.
    """

    engine: KernelSpace
    columns: Columns
    held: Sequence[Matrix]
    active: Int[np.ndarray, " h"]

    def gradient(self, variances: Variances, working: Working) -> Likelihood:
        """The value, to the precision of the products, and its derivatives; 0 by weights that are held."""
        parts = parts_of(variances, self.engine.layout)
        matrices = [
            self.columns.product(part.weights[self.active], part.power, wide=False) + held
            for part, held in zip(parts, self.held, strict=True)
        ]
        assembled = combine(variances, self.engine.layout, matrices)
        return self.engine._derivatives(variances, working, assembled, self.columns)


def _product(columns: Columns, part: Part, known: tuple[Part, Matrix] | None) -> Matrix:
    """The product of a part, from that of other weights where most of them are the same."""
    if known is not None:
        old, matrix = known
        changed = np.flatnonzero(part.weights != old.weights)
        if not changed.size:
            return matrix
        if 3 * changed.size < part.weights.size:
            difference = part.weights[changed] - old.weights[changed]
            return matrix + columns.taken(changed).product(difference, part.power, signed=True)
    return columns.product(part.weights, part.power, signed=part.signed)


def _factorise(K: Float[np.ndarray, "n n"], working: Working) -> tuple[float, Float[np.ndarray, "n 1"]]:
    """Overwrite K with the factor L of K + V; log N(z | 0, K + V), −inf where undefined, and L⁻¹ z."""
    n = len(K)
    K.ravel(order="K")[:: n + 1] += working.noise
    white = np.array(working.response[:, None], dtype=K.dtype, order="F")
    # Without noise there is no density of copies of a row, even where K has a factor.
    if working.variance == 0 or not lapack.cholesky(K):
        return -math.inf, white
    lapack.solve_triangle(K, white)
    log_det = 2.0 * float(np.sum(np.log(np.diagonal(K))))
    value = -0.5 * (float(white[:, 0] @ white[:, 0]) + log_det + n * math.log(2.0 * math.pi))
    return (value if math.isfinite(value) else -math.inf), white
