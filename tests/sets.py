"""A prior of several components, with local scales and further variance of main effects."""

from dataclasses import dataclass

import numpy as np

from interplay.model.priors.base import Hyperparameters, Prior, PriorDensity, Scale
from interplay.model.variances import Symmetric, Variances


@dataclass(frozen=True, kw_only=True)
class TwoComponents(Prior):
    """λ of each variable, in two product forms; without a density, as evidence needs none."""

    quadratic: bool = True
    degree: int = 2
    further: bool = False

    @property
    def has_local_scales(self) -> bool:
        return True

    def check(self, p: int) -> None:
        pass

    def coordinates(self, p: int) -> tuple[str, ...]:
        return ("log_size",)

    def local_coordinates(self, p: int) -> dict[str, np.ndarray]:
        return {"log_lam": np.arange(p)}

    def expected_mains_for(self, p: int) -> float:
        return 2.0

    def sample(self, random: np.random.Generator, scale: Scale) -> np.ndarray:
        return random.normal(size=1 + scale.p)

    def log_density(self, t: np.ndarray, scale: Scale) -> PriorDensity:
        raise NotImplementedError

    def pull_back(self, t: np.ndarray, variances: Variances, derivative: Variances) -> np.ndarray:
        raise NotImplementedError

    def constrain(self, t: np.ndarray, p: int) -> dict[str, np.ndarray]:
        return {"size": np.asarray(np.exp(t[..., 0])), "lam": np.exp(t[..., 1:])}

    def variances(self, hyperparameters: Hyperparameters, p: int) -> Variances:
        size, lam = np.asarray(hyperparameters["size"]), hyperparameters["lam"]
        one = np.ones(size.shape)
        orders = [[0.7, 0.2, 0.1][: self.degree], [0.1, 0.4, 0.3][: self.degree]]
        return Variances(
            intercept=4.0 * one,
            symmetric=tuple(
                Symmetric(weights, np.multiply.outer(one, order), self.quadratic * square * one)
                for weights, order, square in (
                    (size[..., None] ** 2 * lam, np.array(orders[0]), 0.3),
                    (size[..., None] * lam**2, np.array(orders[1]), 0.05),
                )
            ),
            mains=0.5 * lam * np.arange(1.0, p + 1.0) if self.further else None,
            p=p,
        )

    def position_of(self, included: np.ndarray, size: np.ndarray, scale: Scale) -> np.ndarray:
        lam = np.where(included, 0.1 * np.arange(included.shape[-1]), -3.0)
        return np.concatenate([np.log(np.asarray(size))[..., None], lam], axis=-1)
