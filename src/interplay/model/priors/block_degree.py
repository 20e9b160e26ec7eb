"""The block-degree prior: one variance for each degree (Appendix C.1 of the paper)."""

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from interplay.model import distributions as dist
from interplay.model.priors.base import Hyperparameters, Prior, PriorDensity, Scale, Vector
from interplay.model.priors.skim import product_form
from interplay.model.settings import Number, check_degree, check_positive
from interplay.model.variances import Variances


@final
@dataclass(frozen=True, kw_only=True)
class BlockDegree(Prior):
    """No variable is singled out: all coefficients of one degree have one variance.

        η1 ~ N⁺(0, main_scale)    η2, η_q ~ N⁺(0, interaction_scale)    η3 ~ N⁺(0, quadratic_scale)
        S_(i) = η1²,  S_(ij) = η2²,  S_(ii) = η3²

    The Bayesian form of ridge regression on all pairs; for few variables or for prediction.

    Parameters
    ----------
    quadratic
        Whether there are quadratic effects.
    degree
        Highest order of interaction: 2 for pairs.
    main_scale, interaction_scale, quadratic_scale
        Scales of the half-normal priors.
    intercept_scale
        Prior standard deviation of the intercept.
    """

    quadratic: bool = True
    degree: int = 2
    main_scale: Number = 1.0
    interaction_scale: Number = 1.0
    quadratic_scale: Number = 1.0
    intercept_scale: Number = 3.0

    def __post_init__(self) -> None:
        check_degree("BlockDegree", self.degree)
        check_positive(
            "BlockDegree",
            main_scale=self.main_scale,
            interaction_scale=self.interaction_scale,
            quadratic_scale=self.quadratic_scale,
            intercept_scale=self.intercept_scale,
        )

    def check(self, p: int) -> None:
        """Any number of variables will do."""

    def coordinates(self, p: int) -> tuple[str, ...]:
        """Log η1, log η2, …, and log η3 where there are quadratic effects."""
        return tuple(self._scales)

    def sample(self, random: np.random.Generator, scale: Scale) -> Vector:
        """Draw t from the prior."""
        draws = [dist.sample_half_normal(random, s, 1) for s in self._scales.values()]
        return np.concatenate(draws)

    def log_density(self, t: Vector, scale: Scale) -> PriorDensity:
        """Log density of t, which does not depend on the noise."""
        parts = [dist.half_normal(x, s) for x, s in zip(t, self._scales.values(), strict=True)]
        values, gradient = zip(*parts, strict=True)
        return PriorDensity(float(sum(values)), np.array(gradient), 0.0)

    def constrain(self, t: Float[np.ndarray, "*s k"], p: int) -> dict[str, np.ndarray]:
        """The paper's symbols: `eta1 eta2 eta3 intercept_scale`, and `eta_higher` past pairs."""
        eta = np.exp(t)
        hyperparameters = {
            "eta1": eta[..., 0],
            "eta2": eta[..., 1],
            "eta3": eta[..., self.degree] if self.quadratic else np.zeros(eta.shape[:-1]),
            "intercept_scale": np.full(eta.shape[:-1], float(self.intercept_scale)),
        }
        if self.degree > 2:
            hyperparameters["eta_higher"] = eta[..., 2 : self.degree]
        return {name: np.asarray(value) for name, value in hyperparameters.items()}

    def variances(self, hyperparameters: Hyperparameters, p: int) -> Variances:
        """One component with equal weights."""
        return product_form(hyperparameters, np.ones((*np.shape(hyperparameters["eta1"]), p)))

    def pull_back(self, t: Vector, variances: Variances, derivative: Variances) -> Vector:
        """By log η1, log η2, … and log η3, whose squares the orders and the multiplier of squares are."""
        (component,), (by,) = variances.symmetric, derivative.symmetric
        gradient = 2.0 * by.orders * component.orders
        if self.quadratic:
            gradient = np.append(gradient, 2.0 * by.squares * component.squares)
        return gradient

    @property
    def _scales(self) -> dict[str, Number]:
        scales = {"log_eta1": self.main_scale}
        scales |= {f"log_eta_order{q}": self.interaction_scale for q in range(2, self.degree + 1)}
        return scales | ({"log_eta3": self.quadratic_scale} if self.quadratic else {})
