"""What a family must be able to do, and the working response that engines see of it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from interplay.data.design import Design

Vector = Float[np.ndarray, " k"]


@dataclass(frozen=True, eq=False)
class Working:
    """Rows as a Gaussian likelihood sees them: z_i = f_i + ε_i with ε_i ~ N(0, v_i), v_i = variance / w_i.

    Every family is of this form given its auxiliaries, which make z and w (Design, *Families*). What an
    engine keeps of the rows, such as their Gram matrix, belongs to one array of weights.

    Parameters
    ----------
    response
        The working response z, (n,).
    variance
        The common factor of the noise variances.
    weights
        The working weights w of the rows, (n,).
    """

    response: Float[np.ndarray, " n"]
    variance: float
    weights: Float[np.ndarray, " n"]

    @cached_property
    def noise(self) -> Float[np.ndarray, " n"]:
        """The noise variance of each row."""
        return self.variance / self.weights


class Family(ABC):
    """A conditionally Gaussian likelihood, with nuisance parameters that are sampled with the prior's.

    A subclass is a frozen dataclass of its settings. Its parameters are an unconstrained vector u.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The short form, as in `family="gaussian"`."""

    @property
    @abstractmethod
    def parameters(self) -> tuple[str, ...]:
        """Names of the unconstrained parameters, in their order."""

    @abstractmethod
    def scale_response(
        self, y: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"] | None
    ) -> tuple[float, float]:
        """Centre and scale of the response, where it is standardised."""

    @abstractmethod
    def sample(self, random: np.random.Generator) -> Vector:
        """Draw parameters from their prior."""

    @abstractmethod
    def log_prior(self, u: Vector) -> tuple[float, Vector]:
        """Log prior density of the parameters, Jacobian included, and its gradient."""

    @abstractmethod
    def constrain(self, u: Float[np.ndarray, "*s k"]) -> dict[str, np.ndarray]:
        """The parameters by the names that files and tables have for them."""

    @abstractmethod
    def working(self, parameters: Mapping[str, np.ndarray], design: Design) -> Working:
        """The rows given one draw of the constrained parameters."""

    @abstractmethod
    def log_factor(self, u: Vector, design: Design) -> tuple[float, float]:
        """What the likelihood has beside that of the working response, and its derivative by log variance."""

    @abstractmethod
    def by_log_variance(self, derivative: float) -> Vector:
        """From a derivative by the log of the working variance to one by the parameters."""

    @abstractmethod
    def log_scale(self, u: Float[np.ndarray, "*s k"]) -> tuple[Float[np.ndarray, "*s"], Vector]:
        """Log of the noise scale σ̃ that priors measure effects in, and its gradient."""

    @abstractmethod
    def position_of(self, log_scale: Float[np.ndarray, "*s"]) -> Float[np.ndarray, "*s k"]:
        """Parameters at which the noise scale has a value."""

    @abstractmethod
    def observation_variance(self, parameters: Mapping[str, np.ndarray]) -> Float[np.ndarray, " s"]:
        """Variance of a new observation of weight one, given the linear predictor, in each draw."""
