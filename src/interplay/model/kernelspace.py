"""The engine for few rows: everything through the n × n kernel matrix, O(n² p + n³)."""

from functools import partial
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float

from interplay.data.design import Design
from interplay.model.kernel import assemble, diagonal, gram, pair_features
from interplay.model.layout import Layout, layout
from interplay.model.leading import count, leading
from interplay.model.pairscreen import OverDraws, PairScreen
from interplay.model.products import Blocks, blocks, truncated_gram, weighted_gram
from interplay.model.terms import Terms, joint_prior, marginal_prior, term_features
from interplay.model.trees import Leaf, record
from interplay.model.triangle import inverse_triangle
from interplay.model.variances import Variances
from interplay.precision import double_precision

Precision = Literal["float64", "float32"]

LEFT_OUT = 10.0
"""Most prior variance of all rows together, in units of σ², that a rough likelihood leaves out."""


class KernelFactor(NamedTuple):
    """The lower Cholesky factor of K + σ²I, and α = (K + σ²I)⁻¹ y."""

    lower: Float[Array, "n n"]
    alpha: Float[Array, " n"]


@record("tolerance")
class KernelSpace:
    """A data set made ready for evaluations in kernel space.

    Parameters
    ----------
    X, y
        Design matrix, (n, d), and response, (n,), times the root weights.
    layout
        Which variable each column belongs to.
    columns
        X again, in blocks and in the precision of the products.
    tolerance
        The most that truncating the product of squares may move the log likelihood; 0 for never.
    root_weight
        Square roots r of the weights of the rows, (n,), or None. A row of weight w counts as w copies:

            Π_i N(y_i | f_i, σ²)^{w_i} = (2πσ²)^{−½ Σ(w_i − 1)} N(r∘y | r∘f, σ²I)

        so that everything holds with r∘y for y, r∘Φ for Φ and rrᵀ∘K for K, but for that power of 2πσ².
    """

    X: Leaf
    y: Leaf
    layout: Layout
    columns: Blocks
    tolerance: float
    root_weight: Leaf | None = None

    def log_likelihood(self, variances: Variances, sigma: Float[Array, ""]) -> Float[Array, ""]:
        """Log p(y | τ, σ), the paper's equation for log p(D | τ, σ²) (Section 4)."""
        r = self.root_weight
        copies = None if r is None else r @ r - r.size
        dtype = self.columns.values.dtype
        return log_normal(self._gram(variances, sigma), sigma**2, self.y, copies, dtype)

    @property
    def has_rough(self) -> bool:
        """Whether there are columns enough for a rough likelihood to be cheaper."""
        return self._leading < self.columns.d

    def rough(self, variances: Variances, sigma: Float[Array, ""]) -> "tuple[KernelSpace, Bool[Array, '']]":
        """The leading columns, for likelihoods alone, and whether they come near enough at this position."""
        r = self.root_weight
        rows = self.y.size if r is None else r @ r
        index, left_out = leading(variances, self.layout, self.columns.norms, rows, self._leading)
        columns, layout = self.columns.taken(index), self.layout.taken(index)
        return KernelSpace(self.X, self.y, layout, columns, 0.0, r), left_out < LEFT_OUT * sigma**2

    def factorise(self, variances: Variances, sigma: Float[Array, ""]) -> KernelFactor:
        """Factor K + σ²I once, for any number of questions."""
        lower = _cholesky(self._gram(variances, sigma), sigma**2)
        return KernelFactor(lower, _solve(lower, self.y))

    def effects(
        self, factor: KernelFactor, variances: Variances, terms: Terms
    ) -> tuple[Float[Array, " t"], Float[Array, " t"]]:
        """Posterior mean and variance of each term: the kernel interaction trick (Theorem 5.1, mended).

        mean = S_E Φ_Eᵀ α,  variance = S_E − S_E Φ_Eᵀ (K + σ²I)⁻¹ Φ_E S_E
        """
        prior, features = marginal_prior(variances, self.layout, terms), self._features(terms)
        _, variance = _moments(factor, features * prior, prior)
        return prior * (features.T @ factor.alpha), variance

    def joint(
        self, factor: KernelFactor, variances: Variances, terms: Terms
    ) -> tuple[Float[Array, " t"], Float[Array, "t t"]]:
        """Posterior mean and covariance of the terms together (the paper's Appendix B.5, mended)."""
        prior = joint_prior(variances, self.layout, terms)
        cross = self._features(terms) * marginal_prior(variances, self.layout, terms)
        whitened = solve_triangular(factor.lower, cross, lower=True)
        return cross.T @ factor.alpha, prior - whitened.T @ whitened

    def predict(
        self, factor: KernelFactor, variances: Variances, rows: Float[Array, "m d"]
    ) -> tuple[Float[Array, " m"], Float[Array, " m"]]:
        """Posterior mean and variance of the regression function at new rows."""
        cross = self.weighted(gram(variances, self.layout, self.X, rows))
        return _moments(factor, cross, diagonal(variances, self.layout, rows))

    def pair_screen(
        self, variances: Variances, sigma: Float[Array, " s"], over_draws: OverDraws
    ) -> PairScreen:
        """Bounds on the interactions of all pairs, over a stack of draws."""
        alpha = over_draws(lambda factors, _: factors.alpha)
        root_weight = jnp.ones_like(self.y) if self.root_weight is None else self.root_weight
        return PairScreen(self.X, root_weight, self.layout, variances, sigma, alpha)

    def weighted(self, values: Float[Array, "n k"]) -> Float[Array, "n k"]:
        """The same with each row times its root weight."""
        return values if self.root_weight is None else values * self.root_weight[:, None]

    def _features(self, terms: Terms) -> Float[Array, "n t"]:
        return self.weighted(term_features(self.X, self.layout, terms))

    @property
    def _leading(self) -> int:
        return count(self.y.size, self.columns.d)

    def _gram(self, variances: Variances, sigma: Float[Array, ""]) -> Float[Array, "n n"]:
        # As (K+σ²I)⁻¹ ⪯ I/σ², leaving out a matrix of trace t moves log p by at most ½ t/σ² (1 + yᵀy/σ²).
        noise = jax.lax.stop_gradient(sigma) ** 2
        slack = 2.0 * self.tolerance * noise / (1.0 + self.y @ self.y / noise)
        named = pair_features(self.X, self.layout)
        K = assemble(
            variances,
            self.layout,
            product=lambda v, k: weighted_gram(self.columns, v, k),
            square_product=lambda v, k: truncated_gram(self.columns, v, slack, k),
            pair_product=lambda v: (named * v) @ named.T,
        )
        return K if self.root_weight is None else K * jnp.outer(self.root_weight, self.root_weight)


@double_precision
def kernel_space(
    design: Design,
    pairs: tuple[tuple[int, int], ...] = (),
    *,
    precision: Precision = "float64",
    tolerance: float = 1e-4,
) -> KernelSpace:
    """Make a design ready for kernel space.

    Parameters
    ----------
    design
        The data.
    pairs
        The prior's named pairs of variables.
    precision
        Precision of the O(n² p) products, and of the inverse in the gradient; the factor is always in
        double precision.
    tolerance
        Bound on the change of the log likelihood by truncation; 0 for no truncation.
    """
    columns = layout(design, pairs)
    y, root = jnp.asarray(design.y), None
    if design.weights is not None:
        root = jnp.sqrt(jnp.asarray(design.weights))
        y = root * y
    return KernelSpace(
        X=jnp.asarray(design.X),
        y=y,
        layout=columns,
        columns=blocks(design.X, columns, precision, design.weights),
        tolerance=tolerance,
        root_weight=root,
    )


def _moments(
    factor: KernelFactor, cross: Float[Array, "n t"], prior: Float[Array, " t"]
) -> tuple[Float[Array, " t"], Float[Array, " t"]]:
    """Mean and variance of quantities with the given prior variances and covariances with the data."""
    whitened = solve_triangular(factor.lower, cross, lower=True)
    return cross.T @ factor.alpha, jnp.maximum(prior - jnp.sum(whitened**2, axis=0), 0.0)


@partial(jax.custom_vjp, nondiff_argnums=(4,))
def log_normal(
    K: Float[Array, "n n"],
    noise: Float[Array, ""],
    y: Float[Array, " n"],
    copies: Float[Array, ""] | None = None,
    dtype: DTypeLike = "float64",
) -> Float[Array, ""]:
    """Log N(y | 0, K + noise I), −inf with a zero gradient where that is not a positive definite matrix.

    With `copies`, c rows beyond those of y, times (2π noise)^{−c/2}. Its derivative in closed form:
    ∂/∂K = G = ½ (α αᵀ − (K + noise I)⁻¹), ∂/∂noise = tr G − ½ c / noise, ∂/∂y = −α. As K is symmetric, the
    lower triangle of G stands for both. The inverse in G, and nothing else, is in precision `dtype`.
    """
    return _log_normal_forward(K, noise, y, copies, dtype)[0]


def _log_normal_forward(
    K: Float[Array, "n n"],
    noise: Float[Array, ""],
    y: Float[Array, " n"],
    copies: Float[Array, ""] | None,
    dtype: DTypeLike,
) -> tuple[Float[Array, ""], tuple]:
    lower = _cholesky(K, noise)
    whitened = solve_triangular(lower, y, lower=True)
    log_det = 2.0 * jnp.sum(jnp.log(jnp.diag(lower)))
    value = -0.5 * (whitened @ whitened + log_det + y.size * jnp.log(2.0 * jnp.pi))
    if copies is not None:
        value -= 0.5 * copies * jnp.log(2.0 * jnp.pi * noise)
    finite = jnp.isfinite(value)
    return jnp.where(finite, value, -jnp.inf), (lower, y, noise, copies, finite)


def _log_normal_backward(dtype: DTypeLike, saved: tuple, cotangent: Float[Array, ""]) -> tuple:
    lower, y, noise, copies, finite = saved
    alpha = _solve(lower, y)
    G = 0.5 * (jnp.outer(alpha, alpha) - inverse_triangle(lower, dtype))
    by_noise = jnp.trace(G) if copies is None else jnp.trace(G) - 0.5 * copies / noise
    both = jnp.tril(2.0 * G, -1) + jnp.diag(jnp.diag(G))
    gradients = (jnp.where(finite, cotangent * g, 0.0) for g in (both, by_noise, -alpha))
    return (*gradients, None)


log_normal.defvjp(_log_normal_forward, _log_normal_backward)


def _cholesky(K: Float[Array, "n n"], noise: Float[Array, ""]) -> Float[Array, "n n"]:
    return jnp.linalg.cholesky(K + noise * jnp.eye(K.shape[0]), symmetrize_input=False)


def _solve(lower: Float[Array, "n n"], y: Float[Array, " n"]) -> Float[Array, " n"]:
    return solve_triangular(lower, solve_triangular(lower, y, lower=True), lower=True, trans=1)
