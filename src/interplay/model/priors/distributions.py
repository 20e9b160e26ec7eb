"""Log densities of log x, the Jacobian included, and draws of log x."""

import jax
import jax.numpy as jnp
from jax.nn import softplus
from jax.scipy.special import gammaln
from jaxtyping import Array, Float, Key


def half_cauchy(log_x: Float[Array, "*s"], log_scale: Float[Array, ""]) -> Float[Array, "*s"]:
    """X ~ C⁺(0, scale)."""
    ratio = log_x - log_scale
    return jnp.log(2.0 / jnp.pi) + ratio - softplus(2.0 * ratio)


def half_normal(log_x: Float[Array, "*s"], scale: float | int) -> Float[Array, "*s"]:
    """X ~ N⁺(0, scale), with `scale` the standard deviation before folding."""
    ratio = log_x - jnp.log(scale)
    return 0.5 * jnp.log(2.0 / jnp.pi) + ratio - 0.5 * jnp.exp(2.0 * ratio)


def inverse_gamma(log_x: Float[Array, "*s"], shape: float | int, scale: float | int) -> Float[Array, "*s"]:
    """X ~ InvGamma(shape, scale)."""
    return shape * (jnp.log(scale) - log_x) - gammaln(shape) - scale * jnp.exp(-log_x)


def sample_half_cauchy(
    key: Key[Array, ""], log_scale: Float[Array, ""], shape: tuple[int, ...] = ()
) -> Float[Array, "*s"]:
    """Log x for x ~ C⁺(0, scale)."""
    return log_scale + jnp.log(jnp.abs(jax.random.cauchy(key, shape)))


def sample_half_normal(key: Key[Array, ""], scale: float | int) -> Float[Array, ""]:
    """Log x for x ~ N⁺(0, scale)."""
    return jnp.log(scale) + jnp.log(jnp.abs(jax.random.normal(key)))


def sample_inverse_gamma(
    key: Key[Array, ""], shape: float | int, scale: float | int, size: tuple[int, ...] = ()
) -> Float[Array, "*s"]:
    """Log x for x ~ InvGamma(shape, scale)."""
    return jnp.log(scale) - jax.random.loggamma(key, shape, size)
