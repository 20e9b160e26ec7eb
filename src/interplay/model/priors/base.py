"""What a prior must be able to do."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from interplay.model.settings import Number
from interplay.model.variances import Variances

Vector = Float[np.ndarray, " k"]

Hyperparameters = Mapping[str, np.ndarray]
"""A position in the paper's symbols, `eta1`, `kappa`, …; arrays have the draws as leading axes."""


@dataclass(frozen=True)
class Scale:
    """What a prior measures effects by.

    Parameters
    ----------
    n
        Rows, the sum of their weights if they have any.
    p
        Variables.
    log_noise
        Log of the family's noise scale σ̃.
    """

    n: Number
    p: int
    log_noise: float | Float[np.ndarray, "*s"] = 0.0


@dataclass(frozen=True, eq=False)
class LocalScales:
    """How local coordinates l = log λ act, given the global ones: each is the size of a variable's effects.

    `λ ~ C⁺(0, 1)` and the weight of a variable, the prior variance of its main effect, is a regularised
    horseshoe scale (Piironen and Vehtari 2017):

        u = limit t² / (1 + t²),    t = ratio λ

    The prior variance of every term is linear in the weight of each variable in it, but for squares.

    Parameters
    ----------
    log_limit, log_ratio
        Logs of the largest weight, m² of SKIM, and of the ratio, η1/m of SKIM.
    limit_gradient, ratio_gradient
        Their derivatives by the global coordinates of the prior, which are constant.
    log_multipliers
        Log of the prior variance of the intercept, of a main effect, of an interaction of 2, 3, … variables
        and, last, of a quadratic effect where there are any, for shares s = u / limit of one: the variance
        is the multiplier times the share of each variable, that of a square counted twice.
    multiplier_gradients
        Derivatives of the multipliers by the global coordinates, which are constant, (k, g).
    """

    log_limit: float
    log_ratio: float
    limit_gradient: Vector
    ratio_gradient: Vector
    log_multipliers: Float[np.ndarray, " k"]
    multiplier_gradients: Float[np.ndarray, "k g"]

    def log_weight(self, local: Float[np.ndarray, "*s"]) -> Float[np.ndarray, "*s"]:
        """Log u of local coordinates."""
        return self.log_limit + self.log_share(local)

    def local(self, log_weight: Float[np.ndarray, "*s"]) -> Float[np.ndarray, "*s"]:
        """The local coordinates of weights below the limit."""
        share = log_weight - self.log_limit
        return 0.5 * (share - np.log(-np.expm1(share))) - self.log_ratio

    def log_share(self, local: Float[np.ndarray, "*s"]) -> Float[np.ndarray, "*s"]:
        """Log s = log u − log limit, the share of the largest weight."""
        return -np.logaddexp(0.0, -2.0 * (local + self.log_ratio))


class PriorDensity(NamedTuple):
    """A log density, its gradient, and its derivative by the log of the noise scale."""

    value: float
    gradient: Vector
    by_log_noise: float


class Prior(ABC):
    """A prior over hyperparameters τ; given τ the coefficients are N(0, S).

    A subclass is a frozen dataclass of its settings. τ is an unconstrained vector t; the noise is the
    family's. Arrays t may have leading axes in `constrain` and in `position_of`.
    """

    @property
    @abstractmethod
    def degree(self) -> int:
        """The highest order of interaction."""

    @property
    @abstractmethod
    def quadratic(self) -> bool:
        """Whether there are quadratic effects."""

    @property
    def has_local_scales(self) -> bool:
        """Whether variables have coordinates of their own, so that each may matter or not."""
        return False

    @abstractmethod
    def check(self, p: int) -> None:
        """Refuse, in words, a number of variables that the settings do not fit."""

    @abstractmethod
    def coordinates(self, p: int) -> tuple[str, ...]:
        """Names of the global coordinates of t, which come first."""

    def local_coordinates(self, p: int) -> dict[str, Int[np.ndarray, " k"]]:
        """Names of the blocks of local coordinates, after the global ones, and the variable of each."""
        return {}

    def local_scales(self, t: Vector) -> LocalScales:
        """How the local coordinates act, given the global ones in t, where there are local scales."""
        raise TypeError(f"{type(self).__name__} has no local scales.")

    @abstractmethod
    def sample(self, random: np.random.Generator, scale: Scale) -> Vector:
        """Draw t from the prior."""

    @abstractmethod
    def log_density(self, t: Vector, scale: Scale) -> PriorDensity:
        """Log density of t, the Jacobian included, normalised."""

    def log_density_of_globals(self, t: Float[np.ndarray, "*s g"], scale: Scale) -> Float[np.ndarray, "*s"]:
        """Log density of the global coordinates alone, up to a constant, where there are local scales."""
        # Local coordinates are independent of the global ones: at any place of theirs it is the same.
        local = np.zeros(sum(block.size for block in self.local_coordinates(scale.p).values()))
        rows = t.reshape(-1, t.shape[-1])
        values = [self.log_density(np.concatenate([row, local]), scale).value for row in rows]
        return np.array(values).reshape(t.shape[:-1])

    @abstractmethod
    def constrain(self, t: Float[np.ndarray, "*s k"], p: int) -> dict[str, np.ndarray]:
        """The hyperparameters of t."""

    @abstractmethod
    def variances(self, hyperparameters: Hyperparameters, p: int) -> Variances:
        """The prior variances S of all coefficients, given the hyperparameters."""

    @abstractmethod
    def pull_back(self, t: Vector, variances: Variances, derivative: Variances) -> Vector:
        """From a derivative by the prior variances at t to one by t: the chain rule."""

    def expected_mains_for(self, p: int) -> float:
        """Number of variables expected to matter, where there are local scales."""
        return float(p)

    def position_of(
        self, included: Bool[np.ndarray, "*s p"], size: Float[np.ndarray, "*s"], scale: Scale
    ) -> Float[np.ndarray, "*s k"]:
        """A position at which just the given variables matter, where there are local scales.

        Parameters
        ----------
        included
            The variables that matter.
        size
            Prior standard deviation of their main effects.
        scale
            Rows, variables and noise.
        """
        raise TypeError(f"{type(self).__name__} has no local scales: all of its variables matter.")
