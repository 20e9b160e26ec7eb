"""The one abstract class: what a prior must be able to do."""

from abc import ABC, abstractmethod
from numbers import Real

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from interplay.model.variances import Variances

Number = float | int

Position = dict[str, Array]
"""An unconstrained point: what a sampler moves."""

Hyperparameters = dict[str, Array]
"""The same point in the paper's symbols: `eta1`, `kappa`, `sigma`, …"""


class Prior(ABC):
    """A prior over hyperparameters τ and the noise σ; given τ the coefficients are N(0, S).

    A subclass is a frozen dataclass of its settings. `n` is the number of rows, the sum of their
    weights if they have any, and `p` the number of variables.
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
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Pairs of variables with a variance of their own."""
        return ()

    @property
    def selects(self) -> bool:
        """Whether each variable may matter or not, so that `expected` and `place` have a meaning."""
        return False

    @abstractmethod
    def check(self, p: int) -> None:
        """Refuse, in words, a number of variables that the settings do not fit."""

    @abstractmethod
    def sample(self, key: Key[Array, ""], n: Number, p: int) -> Position:
        """Draw an unconstrained position from the prior."""

    @abstractmethod
    def log_density(self, position: Position, n: Number, p: int) -> Float[Array, ""]:
        """Log density of an unconstrained position, the Jacobian included, normalised."""

    @abstractmethod
    def constrain(self, position: Position, n: Number, p: int) -> Hyperparameters:
        """The hyperparameters of a position; `sigma` is always among them."""

    def expected(self, p: int) -> float:
        """Number of variables expected to matter, where the prior selects."""
        return float(p)

    def place(
        self, included: Bool[Array, " p"], size: Float[Array, ""], sigma: Float[Array, ""], n: Number, p: int
    ) -> Position:
        """A position at which just the given variables matter, where the prior selects.

        Parameters
        ----------
        included
            The variables that matter.
        size
            Prior standard deviation of their main effects.
        sigma
            Noise.
        n, p
            Rows and variables.
        """
        raise NotImplementedError(f"{type(self).__name__} selects no variables: it has no such position.")

    @abstractmethod
    def variances(self, hyperparameters: Hyperparameters, p: int) -> Variances:
        """The prior variances S of all coefficients, given the hyperparameters."""


def product_form(hyperparameters: Hyperparameters, weights: Float[Array, " p"]) -> Variances:
    """One component with weights w, orders η1², η2², … and squares η3² (Proposition 6.1)."""
    eta = jnp.stack([hyperparameters["eta1"], hyperparameters["eta2"]])
    if "eta_higher" in hyperparameters:
        eta = jnp.concatenate([eta, hyperparameters["eta_higher"]])
    return Variances(
        intercept=hyperparameters["intercept_scale"] ** 2,
        weights=weights[None],
        orders=eta[None] ** 2,
        squares=hyperparameters["eta3"][None] ** 2,
    )


def check_positive(owner: str, **settings: object) -> None:
    """Refuse settings that are not positive numbers."""
    for name, value in settings.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < float("inf"):
            raise ValueError(f"{owner}({name}={value!r}): expected a positive, finite number.")


def check_degree(owner: str, degree: object) -> None:
    """Refuse a degree that is not a whole number from 2."""
    if not isinstance(degree, int) or isinstance(degree, bool) or degree < 2:
        raise ValueError(
            f"{owner}(degree={degree!r}): expected a whole number: 2 for pairs, 3 for three-way, …"
        )
