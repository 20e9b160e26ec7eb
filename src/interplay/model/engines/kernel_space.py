"""The engine for few rows: everything through the n × n kernel matrix, O(n² p + n³)."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, final

import numpy as np
from jaxtyping import Float

from interplay._support import lapack
from interplay.data.design import Design
from interplay.model.engines.base import ConditionalPosterior, Engine, Likelihood
from interplay.model.engines.columns import Columns
from interplay.model.families.base import Working
from interplay.model.kernel import assemble, diagonal, gram, pull_back, square_weights
from interplay.model.layout import Layout, power
from interplay.model.terms import Terms, column_products, joint_prior, marginal_prior, term_features
from interplay.model.variances import Variances, spread

Precision = Literal["float64", "float32"]

LEFT_OUT = 10.0
"""Largest prior variance of all rows together, in units of the noise, that a surrogate leaves out."""

FEWEST_LEADING = 64
"""Smallest number of leading columns that is worth a selection."""

NOT_DEFINED = Likelihood(-math.inf)


@final
class KernelSpace(Engine):
    """A data set in kernel space.

    Parameters
    ----------
    design
        The data.
    precision
        Precision of the O(n² p) products, and of the inverse in the gradient; the factor is always in
        double precision.
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
    def single_precision(self) -> bool:
        """Whether the products are in single precision."""
        return self._columns.values.dtype == np.float32

    @property
    def enumerates_pairs(self) -> bool:
        """Pairs are found by bounds on their posteriors."""
        return False

    @property
    def has_surrogate(self) -> bool:
        """Whether there are enough columns for the leading ones to be cheaper."""
        return self._leading_count < self._X.shape[1]

    def log_likelihood(self, variances: Variances, working: Working) -> Likelihood:
        """Log p(z | τ, v), the paper's equation for log p(D | τ, σ²) (Section 4)."""
        lower = self._gram(variances, working)
        return Likelihood(_factorise(lower, working)[0])

    def gradient(self, variances: Variances, working: Working, *, surrogate: bool = False) -> Likelihood:
        """The value and its derivatives in closed form.

        ∂/∂K = G = ½ (α αᵀ − (K + V)⁻¹), and ∂/∂ log v = Σ_i G_ii v_i. As K is symmetric, the lower triangle
        of G, doubled off the diagonal, stands for both.
        """
        columns = self._leading(variances, working) if surrogate and self.has_surrogate else None
        squares = None
        if columns is None:
            columns, squares = self._truncated(variances, working)
        assembled = assemble(variances, columns.layout, columns, squares)
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

    def condition(self, variances: Variances, working: Working) -> "KernelPosterior":
        """The posterior of the coefficients, from the factor of K + V."""
        lower = self._gram(variances, working)
        value, white = _factorise(lower, working)
        if not math.isfinite(value):
            raise np.linalg.LinAlgError("K + V is not positive definite to working precision")
        lapack.solve_triangle(lower, white, transposed=True)
        return KernelPosterior(self._X, self._layout, variances, working, lower, white[:, 0])

    def _gram(self, variances: Variances, working: Working) -> Float[np.ndarray, "n n"]:
        columns, squares = self._truncated(variances, working)
        return assemble(variances, self._layout, columns, squares).K

    def _truncated(
        self, variances: Variances, working: Working
    ) -> tuple[Columns, Float[np.ndarray, " d"] | None]:
        """The columns without the squares that move the log likelihood by less than the tolerance.

        As (K + V)⁻¹ ⪯ V⁻¹, leaving out M moves log p by at most ½ tr(V⁻¹M) (1 + zᵀV⁻¹z). Norms have the
        weights of the design, so that tr(V⁻¹M) is at most their sum over the noise below.

        Returns
        -------
        tuple
            The columns, and the weights of their squares where they were computed.
        """
        if not self._tolerance or self._X.shape[1] <= 2 * FEWEST_LEADING:
            return self._columns, None
        if working.variance == 0:
            return self._columns, None
        noise = working.variance / float(np.max(working.weights / self._row_weights, initial=0.0))
        z = working.response
        slack = 2.0 * self._tolerance * noise / (1.0 + float(z @ (working.weights * z)) / working.variance)
        squares = square_weights(variances, self._layout)
        return self._columns.truncated(squares, slack), squares

    @cached_property
    def _lower_triangle(self) -> Float[np.ndarray, "n n"]:
        """1 below the diagonal, ½ on it and 0 above: from 2G to its triangle, doubled off the diagonal."""
        n = len(self._X)
        mask = np.asfortranarray(np.tril(np.ones((n, n), dtype=self._columns.values.dtype)))
        np.fill_diagonal(mask, 0.5)
        return mask

    @cached_property
    def _leading_count(self) -> int:
        """How many columns lead.

        Enough that forming K costs as much as factorising it; grows with √d, since single shares shrink
        while their sum does not.
        """
        n, d = self._X.shape
        wanted = max(FEWEST_LEADING, 5 * n // 8, math.isqrt(32 * d))
        return wanted if 2 * wanted < d else d

    def _leading(self, variances: Variances, working: Working) -> Columns | None:
        """The columns with the largest shares of the trace of K; None where the others' share matters."""
        rows = float(working.weights.sum())
        shares = trace_shares(variances, self._layout, self._columns.norms, rows)
        index = np.argpartition(-shares, self._leading_count)[: self._leading_count]
        left_out = float(shares.sum() - shares[index].sum())
        return self._columns.taken(index) if left_out < LEFT_OUT * working.variance else None


@final
@dataclass(frozen=True, eq=False)
class KernelPosterior(ConditionalPosterior):
    """The posterior given one draw, in kernel space: the kernel interaction trick (Theorem 5.1, mended).

    Parameters
    ----------
    X, layout
        The data.
    variances, working
        The draw.
    lower, alpha
        Lower Cholesky factor of K + V, (n, n), and α = (K + V)⁻¹ z, (n,).
    """

    X: Float[np.ndarray, "n d"]
    layout: Layout
    variances: Variances
    working: Working
    lower: Float[np.ndarray, "n n"]
    alpha: Float[np.ndarray, " n"]

    @property
    def dual(self) -> Float[np.ndarray, " n"]:
        """α."""
        return self.alpha

    def effects(self, terms: Terms) -> tuple[Float[np.ndarray, " t"], Float[np.ndarray, " t"]]:
        """Mean = S_E Φ_Eᵀ α, variance = S_E − S_E Φ_Eᵀ (K + V)⁻¹ Φ_E S_E."""
        prior = marginal_prior(self.variances, self.layout, terms)
        features = term_features(self.X, self.layout, terms)
        mean = prior * (features.T @ self.alpha)
        return mean, self._variance(features * prior, prior)

    def means(self, terms: Terms) -> Float[np.ndarray, " t"]:
        """S_E Φ_Eᵀ α; of main effects without a copy of the columns."""
        prior = marginal_prior(self.variances, self.layout, terms)
        if terms.columns.shape[1] == 1 and not terms.square.any() and np.all(terms.columns >= 0):
            column = terms.columns[:, 0]
            return prior * self.layout.effect_scale[column] * (self.X.T @ self.alpha)[column]
        return prior * (term_features(self.X, self.layout, terms).T @ self.alpha)

    def combinations(
        self, terms: Terms, A: Float[np.ndarray, "q t"]
    ) -> tuple[Float[np.ndarray, " q"], Float[np.ndarray, "q q"]]:
        """A mean and A cov Aᵀ (the paper's Appendix B.5, mended)."""
        prior = joint_prior(self.variances, self.layout, terms)
        cross = term_features(self.X, self.layout, terms) * marginal_prior(self.variances, self.layout, terms)
        white = np.asfortranarray(cross @ A.T)
        mean = white.T @ self.alpha
        lapack.solve_triangle(self.lower, white)
        return mean, A @ prior @ A.T - white.T @ white

    def predict(
        self, rows: Float[np.ndarray, "m d"]
    ) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
        """Mean and variance of the linear predictor at new rows."""
        cross = gram(self.variances, self.layout, self.X, rows)
        return cross.T @ self.alpha, self._variance(cross, diagonal(self.variances, self.layout, rows))

    def fitted(self) -> Float[np.ndarray, " n"]:
        """K α = z − V α."""
        return self.working.response - self.working.noise * self.alpha

    def fitted_by(self, terms: Terms) -> Float[np.ndarray, " n"]:
        """Φ S Φᵀα, over the columns' own coefficients, which are independent."""
        features = column_products(self.X, terms)
        prior = marginal_prior(self.variances, self.layout, terms)
        return features @ (prior * (features.T @ self.alpha))

    def replicate(self, random: np.random.Generator) -> Float[np.ndarray, " n"]:
        """F = f₀ + K (K + V)⁻¹ (z − f₀ − e), f₀ ~ N(0, K), e ~ N(0, V) (Matheron's rule)."""
        K = gram(self.variances, self.layout, self.X, self.X)
        noise = self.working.noise
        prior = _normal(K, random)
        residual = self.working.response - prior - np.sqrt(noise) * random.standard_normal(noise.size)
        white = np.asfortranarray(residual[:, None])
        lapack.solve_triangle(self.lower, white)
        lapack.solve_triangle(self.lower, white, transposed=True)
        return prior + K @ white[:, 0]

    def leave_one_out(self) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """z_i − α_i / H_ii and 1 / H_ii, with H = (K + V)⁻¹ (Sundararajan and Keerthi 2001)."""
        inverse = self.lower.copy(order="F")
        lapack.inverse_from_factor(inverse)
        diagonal_of_inverse = np.diagonal(inverse)
        return self.working.response - self.alpha / diagonal_of_inverse, 1.0 / diagonal_of_inverse

    def _variance(self, cross: Float[np.ndarray, "n t"], prior: Float[np.ndarray, " t"]) -> np.ndarray:
        """Variance of quantities with the given prior variances and covariances with the data."""
        white = np.array(cross, order="F")
        lapack.solve_triangle(self.lower, white)
        return np.maximum(prior - np.einsum("ij,ij->j", white, white), 0.0)


def trace_shares(
    variances: Variances, layout: Layout, norms: Float[np.ndarray, "2 d"], rows: float
) -> Float[np.ndarray, " d"]:
    """About how much of the trace of the Gram matrix goes with each column.

    K is a polynomial in P = Σ_j w_j x_j x_jᵀ, entry by entry: to first order a column has its part of P times
    the polynomial's slope, which is taken at the average of P's diagonal.

    Parameters
    ----------
    variances, layout
        Prior variances of one draw, and which variable each column belongs to.
    norms
        ‖x_j‖² and ‖x_j²‖² of the columns, as the rows weigh.
    rows
        Number of rows, as they weigh.
    """
    p, owner = variances.p, layout.owner
    by_column, by_square = np.zeros(owner.size), np.zeros(owner.size)
    for c in variances.symmetric:
        weights = spread(c.weights, c.variables, p)[owner]
        average = weights @ norms[0] / rows
        powers = [c.orders[q] * average**q / math.factorial(q) for q in range(c.orders.size)]
        by_column += sum(powers) * weights
        by_square += c.squares * weights**2
    for cross in variances.crossed:
        left = spread(cross.left, cross.left_variables, p)[owner]
        right = spread(cross.right, cross.right_variables, p)[owner]
        by_column += cross.scale * (left * (right @ norms[0]) + right * (left @ norms[0])) / rows
    if variances.mains is not None:
        by_column += np.abs(variances.mains[owner])
    if variances.quadratics is not None:
        by_square += np.abs(variances.quadratics[owner])
    return by_column * norms[0] + layout.square * by_square * norms[1]


def _factorise(K: Float[np.ndarray, "n n"], working: Working) -> tuple[float, Float[np.ndarray, "n 1"]]:
    """Overwrite K with the factor L of K + V; log N(z | 0, K + V), −inf where undefined, and L⁻¹ z."""
    n = len(K)
    K.ravel(order="K")[:: n + 1] += working.noise
    white = np.array(working.response[:, None], order="F")
    # Without noise there is no density of copies of a row, even where K has a factor.
    if working.variance == 0 or not lapack.cholesky(K):
        return -math.inf, white
    lapack.solve_triangle(K, white)
    log_det = 2.0 * float(np.sum(np.log(np.diagonal(K))))
    value = -0.5 * (float(white[:, 0] @ white[:, 0]) + log_det + n * math.log(2.0 * math.pi))
    return (value if math.isfinite(value) else -math.inf), white


def _normal(K: Float[np.ndarray, "n n"], random: np.random.Generator) -> Float[np.ndarray, " n"]:
    """A draw from N(0, K), whose eigenvalues may be zero to rounding."""
    values, vectors = np.linalg.eigh(K)
    return vectors @ (np.sqrt(np.maximum(values, 0.0)) * random.standard_normal(values.size))
