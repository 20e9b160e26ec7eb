"""What a move must be able to do."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from interplay.model.posterior import Posterior

Tuning = Mapping[str, np.ndarray]
"""What a move has learned: arrays by name, which a checkpoint keeps without knowing the move."""


@dataclass(frozen=True, eq=False)
class ChainState:
    """Where a chain is.

    Parameters
    ----------
    position
        Unconstrained hyperparameters, (D,).
    log_density
        Of the posterior there.
    auxiliary
        Further numbers that are sampled, by name: working weights of rows, coefficients.
    gradient
        The gradient that trajectories follow, where it is known; a move that changes the position drops it.
    """

    position: Float[np.ndarray, " D"]
    log_density: float
    auxiliary: Mapping[str, np.ndarray] = field(default_factory=dict)
    gradient: Float[np.ndarray, " D"] | None = None


@dataclass(frozen=True, eq=False)
class Randomness:
    """Random numbers of a move in one iteration: of its chain, and in common to all chains."""

    own: np.random.Generator
    common: np.random.Generator


@dataclass(frozen=True, eq=False)
class WarmUp:
    """What a move may learn from, after some iterations of warm-up.

    Parameters
    ----------
    history
        Positions of all chains so far, (i, c, D).
    statistics
        What the move recorded since it last learned, (c, i) each.
    remaining
        Iterations of warm-up that are left.
    """

    history: Float[np.ndarray, "i c D"]
    statistics: Mapping[str, np.ndarray]
    remaining: int


class Move(ABC):
    """A Markov kernel that leaves the posterior invariant; a subclass is a frozen record of its settings.

    What it learns in warm-up is its tuning, which stays as it is afterwards.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Short name, under which its tuning is kept."""

    @property
    @abstractmethod
    def statistics(self) -> tuple[str, ...]:
        """Names of the numbers that `step` records; no two moves share one."""

    @abstractmethod
    def begin(self, posterior: Posterior, positions: Float[np.ndarray, "c D"]) -> Tuning:
        """The tuning before anything is learned, for chains that start at these positions."""

    @abstractmethod
    def step(
        self, posterior: Posterior, tuning: Tuning, state: ChainState, random: Randomness
    ) -> tuple[ChainState, dict[str, float]]:
        """The next state of a chain, and what is recorded of the step."""

    @abstractmethod
    def adapt(self, tuning: Tuning, posterior: Posterior, warm_up: WarmUp) -> Tuning:
        """The tuning after some iterations of warm-up."""

    @abstractmethod
    def settle(self, tuning: Tuning) -> Tuning:
        """The tuning for all iterations after warm-up."""
