"""A continuous response with normal noise."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from interplay.data.checks import moments
from interplay.data.design import Design
from interplay.model import distributions
from interplay.model.families.base import Family, Vector, Working
from interplay.model.settings import Number, check_positive


@final
@dataclass(frozen=True, kw_only=True)
class Gaussian(Family):
    """y_i ~ N(f_i, σ²), σ ~ N⁺(0, noise_scale); a row of weight w counts as w copies.

        Π_i N(y_i | f_i, σ²)^{w_i} = (2πσ²)^{−½ Σ(w_i − 1)} Π_i w_i^{−½} N(y_i | f_i, σ²/w_i)

    so that the working response is y with noise variances σ²/w_i.

    Parameters
    ----------
    noise_scale
        Scale of the half-normal prior of the noise σ, in units of the response's standard deviation.
    """

    noise_scale: Number = 2.0

    def __post_init__(self) -> None:
        check_positive("Gaussian", noise_scale=self.noise_scale)

    @property
    def name(self) -> str:
        """The short form."""
        return "gaussian"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The log of the noise."""
        return ("log_sigma",)

    def scale_response(
        self, y: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"] | None
    ) -> tuple[float, float]:
        """Mean and standard deviation."""
        centre, scale = moments(y[:, None], weights)
        return float(centre[0]), float(scale[0])

    def sample(self, random: np.random.Generator) -> Vector:
        """Draw log σ."""
        return np.log(self.noise_scale) + np.log(np.abs(random.standard_normal(1)))

    def log_prior(self, u: Vector) -> tuple[float, Vector]:
        """Log density of log σ."""
        value, derivative = distributions.half_normal(float(u[0]), self.noise_scale)
        return float(value), np.array([derivative])

    def constrain(self, u: Float[np.ndarray, "*s k"]) -> dict[str, np.ndarray]:
        """The noise, `sigma`."""
        return {"sigma": np.asarray(np.exp(u[..., 0]))}

    def working(self, parameters: Mapping[str, np.ndarray], design: Design) -> Working:
        """The response itself, with noise variances σ²/w."""
        return Working(design.y, float(np.square(parameters["sigma"])), design.row_weights)

    def log_factor(self, u: Vector, design: Design) -> tuple[float, float]:
        """−½ Σ(w − 1) log 2πσ² − ½ Σ log w."""
        if design.weights is None:
            return 0.0, 0.0
        copies = design.total_weight - design.n
        value = -0.5 * copies * (np.log(2.0 * np.pi) + 2.0 * u[0]) - 0.5 * np.sum(np.log(design.weights))
        return float(value), -0.5 * copies

    def by_log_variance(self, derivative: float) -> Vector:
        """The variance is σ²: twice that."""
        return np.array([2.0 * derivative])

    def log_scale(self, u: Float[np.ndarray, "*s k"]) -> tuple[Float[np.ndarray, "*s"], Vector]:
        """Log σ."""
        return u[..., 0], np.ones(1)

    def position_of(self, log_scale: Float[np.ndarray, "*s"]) -> Float[np.ndarray, "*s k"]:
        """Log σ as it is."""
        return np.asarray(log_scale)[..., None]

    def observation_variance(self, parameters: Mapping[str, np.ndarray]) -> Float[np.ndarray, " s"]:
        """σ²."""
        return parameters["sigma"] ** 2
