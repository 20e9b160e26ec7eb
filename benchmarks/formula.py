"""The formula of the marginal likelihood as it stands in the paper, for automatic differentiation."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from interplay.model.variances import Variances


def plain_log_likelihood(
    X: Float[Array, "n p"],
    F: Float[Array, "n p"],
    y: Float[Array, " n"],
    variances: Variances,
    sigma: Float[Array, ""],
) -> Float[Array, ""]:
    """Log p(y | τ, σ) as the formula stands, for automatic differentiation; F = X∘X."""
    w, eta_sq = variances.weights[0], variances.orders[0]
    K1 = (X * w) @ X.T
    K2 = (F * w**2) @ F.T
    K = variances.intercept + eta_sq[0] * K1 + 0.5 * eta_sq[1] * (K1 * K1 - K2) + variances.squares[0] * K2
    lower = jnp.linalg.cholesky(K + sigma**2 * jnp.eye(y.size))
    whitened = jax.scipy.linalg.solve_triangular(lower, y, lower=True)
    log_det = 2.0 * jnp.sum(jnp.log(jnp.diag(lower)))
    return -0.5 * (whitened @ whitened + log_det + y.size * jnp.log(2.0 * jnp.pi))
