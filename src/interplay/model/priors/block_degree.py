"""The block-degree prior: one variance for each degree (Appendix C.1 of the paper)."""

from dataclasses import dataclass
from typing import final

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from interplay.model.priors import distributions as dist
from interplay.model.priors.base import (
    Hyperparameters,
    Number,
    Position,
    Prior,
    check_degree,
    check_positive,
    product_form,
)
from interplay.model.variances import Variances


@final
@dataclass(frozen=True, kw_only=True)
class BlockDegree(Prior):
    """No variable is singled out: all coefficients of one degree have one variance.

        η1 ~ N⁺(0, main_scale)    η2, η_q ~ N⁺(0, interaction_scale)    η3 ~ N⁺(0, quadratic_scale)
        σ ~ N⁺(0, noise_scale)    S_(i) = η1²,  S_(ij) = η2²,  S_(ii) = η3²

    The Bayesian form of ridge regression on all pairs; for few variables or for prediction.

    Parameters
    ----------
    quadratic
        Whether there are quadratic effects.
    degree
        Highest order of interaction: 2 for pairs.
    main_scale, interaction_scale, quadratic_scale, noise_scale
        Scales of the half-normal priors.
    intercept_scale
        Prior standard deviation of the intercept.
    """

    quadratic: bool = True
    degree: int = 2
    main_scale: Number = 1.0
    interaction_scale: Number = 1.0
    quadratic_scale: Number = 1.0
    noise_scale: Number = 2.0
    intercept_scale: Number = 3.0

    def __post_init__(self) -> None:
        check_degree("BlockDegree", self.degree)
        check_positive(
            "BlockDegree",
            main_scale=self.main_scale,
            interaction_scale=self.interaction_scale,
            quadratic_scale=self.quadratic_scale,
            noise_scale=self.noise_scale,
            intercept_scale=self.intercept_scale,
        )

    def check(self, p: int) -> None:
        """Any number of variables will do."""

    def sample(self, key: Key[Array, ""], n: Number, p: int) -> Position:
        """Draw an unconstrained position from the prior."""
        scales = self._scales()
        keys = jax.random.split(key, len(scales))
        return {
            name: dist.sample_half_normal(k, scale)
            for k, (name, scale) in zip(keys, scales.items(), strict=True)
        }

    def log_density(self, position: Position, n: Number, p: int) -> Float[Array, ""]:
        """Log density of an unconstrained position."""
        densities = [dist.half_normal(position[name], scale) for name, scale in self._scales().items()]
        return jnp.sum(jnp.stack(densities))

    def constrain(self, position: Position, n: Number, p: int) -> Hyperparameters:
        """The paper's symbols: `eta1 eta2 eta3 intercept_scale sigma`, and `eta_higher` past pairs."""
        values = {name.removeprefix("log_"): jnp.exp(value) for name, value in position.items()}
        hyperparameters = {
            "eta1": values["eta1"],
            "eta2": values["eta_order2"],
            "eta3": values["eta3"] if self.quadratic else jnp.zeros(()),
            "intercept_scale": jnp.asarray(self.intercept_scale),
            "sigma": values["sigma"],
        }
        if self.degree > 2:
            higher = [values[f"eta_order{q}"] for q in range(3, self.degree + 1)]
            hyperparameters["eta_higher"] = jnp.stack(higher)
        return hyperparameters

    def variances(self, hyperparameters: Hyperparameters, p: int) -> Variances:
        """One component with equal weights."""
        return product_form(hyperparameters, jnp.ones(p))

    def _scales(self) -> dict[str, float]:
        scales = {"log_eta1": self.main_scale, "log_sigma": self.noise_scale}
        scales |= {f"log_eta_order{q}": self.interaction_scale for q in range(2, self.degree + 1)}
        return scales | ({"log_eta3": self.quadratic_scale} if self.quadratic else {})
