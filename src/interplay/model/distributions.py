"""Log densities of log x, the Jacobian included, with their derivatives, and draws of log x."""

import math

import numpy as np
from jaxtyping import Float

from interplay.model.settings import Number

Values = float | Float[np.ndarray, "*s"]


def half_cauchy(log_x: Values, log_scale: Number) -> tuple[Values, Values]:
    """`x ~ C⁺(0, scale)`; the derivative by the log of the scale is the negative of that by log x."""
    ratio = log_x - log_scale
    # softplus(2r) = log(1 + e^{2r}), which does not overflow in this form.
    return math.log(2.0 / math.pi) + ratio - np.logaddexp(0.0, 2.0 * ratio), -np.tanh(ratio)


def half_normal(log_x: Values, scale: Number) -> tuple[Values, Values]:
    """`x ~ N⁺(0, scale)`, with `scale` the standard deviation before folding."""
    ratio = log_x - math.log(scale)
    square = np.exp(2.0 * ratio)
    return 0.5 * math.log(2.0 / math.pi) + ratio - 0.5 * square, 1.0 - square


def inverse_gamma(log_x: Values, shape: Number, scale: Number) -> tuple[Values, Values]:
    """`x ~ InvGamma(shape, scale)`."""
    rate = scale * np.exp(-log_x)
    return shape * (math.log(scale) - log_x) - math.lgamma(shape) - rate, rate - shape


def sample_half_cauchy(random: np.random.Generator, log_scale: Number, size: int) -> Float[np.ndarray, " k"]:
    """Log x for `x ~ C⁺(0, scale)`."""
    return log_scale + np.log(np.abs(random.standard_cauchy(size)))


def sample_half_normal(random: np.random.Generator, scale: Number, size: int) -> Float[np.ndarray, " k"]:
    """Log x for `x ~ N⁺(0, scale)`."""
    return np.log(scale) + np.log(np.abs(random.standard_normal(size)))


def sample_inverse_gamma(
    random: np.random.Generator, shape: Number, scale: Number, size: int
) -> Float[np.ndarray, " k"]:
    """Log x for `x ~ InvGamma(shape, scale)`."""
    return np.log(scale) - np.log(random.standard_gamma(shape, size))
