"""What an engine must be able to do."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from interplay.model.families.base import Working
from interplay.model.layout import Layout
from interplay.model.terms import Terms
from interplay.model.variances import Variances


class Likelihood(NamedTuple):
    """Log N(z | 0, K + diag v), and its derivatives; −inf with none where it is not defined."""

    value: float
    by_variances: Variances | None = None
    by_log_variance: float = 0.0


class ConditionalPosterior(ABC):
    """The Gaussian posterior of the coefficients given one draw, from a factor that is made once."""

    @abstractmethod
    def effects(self, terms: Terms) -> tuple[Float[np.ndarray, " t"], Float[np.ndarray, " t"]]:
        """Mean and variance of each term."""

    @abstractmethod
    def means(self, terms: Terms) -> Float[np.ndarray, " t"]:
        """Mean of each term alone, which costs far less than its variance."""

    @abstractmethod
    def combinations(
        self, terms: Terms, A: Float[np.ndarray, "q t"]
    ) -> tuple[Float[np.ndarray, " q"], Float[np.ndarray, "q q"]]:
        """Mean and covariance of linear combinations A θ_E of terms."""

    @abstractmethod
    def predict(
        self, rows: Float[np.ndarray, "m d"]
    ) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
        """Mean and variance of the linear predictor at new rows."""

    @abstractmethod
    def fitted(self) -> Float[np.ndarray, " n"]:
        """Mean of the linear predictor at the data."""

    @abstractmethod
    def fitted_by(self, terms: Terms) -> Float[np.ndarray, " n"]:
        """What the means of some terms together contribute to `fitted`."""

    @abstractmethod
    def replicate(self, random: np.random.Generator) -> Float[np.ndarray, " n"]:
        """A joint draw of the linear predictor at the data."""

    @abstractmethod
    def leave_one_out(self) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """Mean and variance of each row's working response given all other rows, its noise included."""

    @property
    @abstractmethod
    def dual(self) -> Float[np.ndarray, " n"]:
        """α = (K + diag v)⁻¹ z: a term's mean is S φᵀα."""


class Engine(ABC):
    """A data set, and a way to compute the marginal likelihood and the posterior given a draw."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """Which variable each column belongs to."""

    @property
    @abstractmethod
    def single_precision(self) -> bool:
        """Whether a part of the likelihood is computed in single precision."""

    @property
    @abstractmethod
    def has_coefficients(self) -> bool:
        """Whether all features are written out, so that every coefficient is at hand."""

    @abstractmethod
    def log_likelihood(self, variances: Variances, working: Working) -> Likelihood:
        """The value alone."""

    @abstractmethod
    def gradient(self, variances: Variances, working: Working) -> Likelihood:
        """The value and its derivatives."""

    @abstractmethod
    def condition(self, variances: Variances, working: Working) -> ConditionalPosterior:
        """The posterior of the coefficients given a draw.

        Raises
        ------
        numpy.linalg.LinAlgError
            Where K + diag v is not positive definite to working precision.
        """
