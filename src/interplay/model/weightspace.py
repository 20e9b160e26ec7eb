"""The engine for many rows: everything through the coefficients and sufficient statistics, O(dim Φ³)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Bool, Float

from interplay.data.design import Design
from interplay.model.layout import Layout, layout
from interplay.model.pairscreen import OverDraws
from interplay.model.terms import Terms, as_arrays, column_products, marginal_prior, monomials
from interplay.model.trees import Leaf, record
from interplay.model.variances import Variances
from interplay.precision import double_precision

CHUNK = 4096
"""Rows read at a time when the sufficient statistics are gathered."""


@record()
class Statistics:
    """What the likelihood needs of the data: ΦᵀΦ, Φᵀy, yᵀy and the number of rows.

    With weights w of the rows, which count as that many copies: ΦᵀWΦ, ΦᵀWy, yᵀWy and Σw.
    """

    gram: Leaf
    projection: Leaf
    y_square: Leaf
    rows: Leaf


class WeightFactor(NamedTuple):
    """Posterior of the coefficients: mean, and M with covariance M Mᵀ."""

    mean: Float[Array, " D"]
    root: Float[Array, "D D"]


@record("degree")
class WeightSpace:
    """A data set made ready for evaluations in weight space; the rows are no longer needed.

    Parameters
    ----------
    statistics
        Sufficient statistics of the explicit features.
    monomials
        The features: products of columns.
    layout
        Which variable each column belongs to.
    degree
        Highest order of interaction among the features.
    """

    statistics: Statistics
    monomials: Terms
    layout: Layout
    degree: int

    def log_likelihood(self, variances: Variances, sigma: Float[Array, ""]) -> Float[Array, ""]:
        """Log p(y | τ, σ), from the sufficient statistics."""
        return log_normal(self._prior(variances), sigma**2, self.statistics)

    @property
    def has_rough(self) -> bool:
        """There is nothing cheaper than the likelihood itself."""
        return False

    def rough(self, variances: Variances, sigma: Float[Array, ""]) -> "tuple[WeightSpace, Bool[Array, '']]":
        """The same, as there is nothing cheaper."""
        return self, jnp.asarray(True)

    def factorise(self, variances: Variances, sigma: Float[Array, ""]) -> WeightFactor:
        """Find the posterior of all coefficients, for any number of questions."""
        s = jnp.sqrt(self._prior(variances))
        lower = _cholesky(s, sigma**2, self.statistics)
        root = solve_triangular(lower, jnp.diag(s), lower=True).T
        return WeightFactor(root @ (root.T @ self.statistics.projection) / sigma**2, root)

    def effects(
        self, factor: WeightFactor, variances: Variances, terms: Terms
    ) -> tuple[Float[Array, " t"], Float[Array, " t"]]:
        """Posterior mean and variance of each term."""
        return _moments(factor, self._directions(terms))

    def joint(
        self, factor: WeightFactor, variances: Variances, terms: Terms
    ) -> tuple[Float[Array, " t"], Float[Array, "t t"]]:
        """Posterior mean and covariance of the terms together."""
        directions = self._directions(terms)
        spread = directions @ factor.root
        return directions @ factor.mean, spread @ spread.T

    def predict(
        self, factor: WeightFactor, variances: Variances, rows: Float[Array, "m d"]
    ) -> tuple[Float[Array, " m"], Float[Array, " m"]]:
        """Posterior mean and variance of the regression function at new rows."""
        return _moments(factor, column_products(rows, self.monomials))

    def pair_screen(self, variances: Variances, sigma: Float[Array, " s"], over_draws: OverDraws) -> None:
        """None: with few coefficients all pairs can be asked for."""

    def _prior(self, variances: Variances) -> Float[Array, " D"]:
        if variances.degree != self.degree:
            raise ValueError(
                f"The prior has interactions up to order {variances.degree}, the data were made ready for"
                f" {self.degree}. Make them ready with the same prior."
            )
        return marginal_prior(variances, self.layout, self.monomials)

    def _directions(self, terms: Terms) -> Float[Array, "t D"]:
        """The effects as combinations of coefficients: ⟨u_l, ·⟩ in each factor, the identity elsewhere."""
        order = max(terms.columns.shape[1], self.monomials.columns.shape[1])
        left = _padded(terms.columns, order)[:, None, :]
        right = _padded(self.monomials.columns, order)[None, :, :]
        levels = self.layout.levels[left]
        same_variable = (left >= 0) & (right >= 0) & (self.layout.owner[left] == self.layout.owner[right])
        component = jnp.where(left == right, 1.0, 0.0) - jnp.where(levels > 1, 1.0 / levels, 0.0)
        along = jnp.where(same_variable, self.layout.effect_scale[left] * component, 0.0)
        along = jnp.where((left < 0) & (right < 0), 1.0, along)
        return jnp.prod(along, axis=2) * (terms.square[:, None] == self.monomials.square[None, :])


@double_precision
def weight_space(
    design: Design, pairs: tuple[tuple[int, int], ...] = (), *, degree: int = 2, quadratic: bool = True
) -> WeightSpace:
    """Gather the sufficient statistics of a design, reading its rows once."""
    features = as_arrays(monomials(design, degree, quadratic=quadratic))
    parts = [slice(start, start + CHUNK) for start in range(0, design.n, CHUNK)]
    weights = design.weights
    chunks = [
        _statistics(design.X[part], design.y[part], None if weights is None else weights[part], features)
        for part in parts
    ]
    return WeightSpace(
        statistics=jax.tree.map(lambda *parts: sum(parts[1:], parts[0]), *chunks),
        monomials=features,
        layout=layout(design, pairs),
        degree=degree,
    )


def _statistics(
    X: Float[np.ndarray, "m d"],
    y: Float[np.ndarray, " m"],
    weights: Float[np.ndarray, " m"] | None,
    features: Terms,
) -> Statistics:
    Phi, response, rows = column_products(jnp.asarray(X), features), jnp.asarray(y), float(len(y))
    if weights is not None:
        root = jnp.sqrt(jnp.asarray(weights))
        Phi, response, rows = Phi * root[:, None], response * root, weights.sum()
    return Statistics(Phi.T @ Phi, Phi.T @ response, response @ response, jnp.asarray(rows))


def _padded(columns: Array, order: int) -> Array:
    return jnp.pad(columns, ((0, 0), (0, order - columns.shape[1])), constant_values=-1)


def _moments(
    factor: WeightFactor, directions: Float[Array, "t D"]
) -> tuple[Float[Array, " t"], Float[Array, " t"]]:
    return directions @ factor.mean, jnp.sum((directions @ factor.root) ** 2, axis=1)


def _cholesky(s: Float[Array, " D"], noise: Float[Array, ""], statistics: Statistics) -> Float[Array, "D D"]:
    """The lower factor of B = I + S^½ ΦᵀΦ S^½ / σ²."""
    B = jnp.eye(s.size) + s[:, None] * statistics.gram * s / noise
    return jnp.linalg.cholesky(B, symmetrize_input=False)


@jax.custom_vjp
def log_normal(S: Float[Array, " D"], noise: Float[Array, ""], statistics: Statistics) -> Float[Array, ""]:
    """Log N(y | 0, Φ diag(S) Φᵀ + noise I) from sufficient statistics; −inf where undefined.

    With B = I + S^½ ΦᵀΦ S^½ / σ², u = B⁻¹ S^½ Φᵀy / σ² and m = S^½ u, in closed form

        ∂/∂S_j = ½ [(φ_jᵀα)² − φ_jᵀ H φ_j] = ½ [u_j² + (B⁻¹)_jj − 1] / S_j
        ∂/∂σ²  = ½ [‖y − Φm‖² / σ⁴ − (n − D + tr B⁻¹) / σ²]
    """
    return _forward(S, noise, statistics)[0]


def _forward(
    S: Float[Array, " D"], noise: Float[Array, ""], statistics: Statistics
) -> tuple[Float[Array, ""], tuple]:
    s = jnp.sqrt(S)
    lower = _cholesky(s, noise, statistics)
    whitened = solve_triangular(lower, s * statistics.projection, lower=True)
    quadratic = (statistics.y_square - whitened @ whitened / noise) / noise
    log_det = statistics.rows * jnp.log(noise) + 2.0 * jnp.sum(jnp.log(jnp.diag(lower)))
    value = -0.5 * (quadratic + log_det + statistics.rows * jnp.log(2.0 * jnp.pi))
    finite = jnp.isfinite(value)
    return jnp.where(finite, value, -jnp.inf), (S, noise, statistics, lower, whitened, finite)


def _backward(saved: tuple, cotangent: Float[Array, ""]) -> tuple:
    S, noise, statistics, lower, whitened, finite = saved
    s = jnp.sqrt(S)
    u = solve_triangular(lower, whitened, lower=True, trans=1) / noise
    inverse_root = solve_triangular(lower, jnp.eye(s.size), lower=True)
    inverse_diagonal = jnp.sum(inverse_root**2, axis=0)
    fitted = statistics.gram @ (s * u)
    # Two forms of ∂/∂S_j: each cancels where the other does not.
    alpha = (statistics.projection - fitted) / noise
    explained = solve_triangular(lower, s[:, None] * statistics.gram, lower=True)
    H = (jnp.diag(statistics.gram) - jnp.sum(explained**2, axis=0) / noise) / noise
    informed = S * jnp.diag(statistics.gram) > noise
    by_prior = (u**2 + inverse_diagonal - 1.0) / jnp.where(informed, S, 1.0)
    dS = 0.5 * jnp.where(informed, by_prior, alpha**2 - H)
    residual = statistics.y_square - 2.0 * (s * u) @ statistics.projection + (s * u) @ fitted
    trace = statistics.rows - s.size + jnp.sum(inverse_diagonal)
    dnoise = 0.5 * (residual / noise**2 - trace / noise)
    gradients = (jnp.where(finite, cotangent * dS, 0.0), jnp.where(finite, cotangent * dnoise, 0.0))
    return (*gradients, jax.tree.map(jnp.zeros_like, statistics))


log_normal.defvjp(_forward, _backward)
