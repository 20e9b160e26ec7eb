"""What a move must be able to do."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from interplay.model.posterior import Evaluation, Posterior

Lesson = Mapping[str, np.ndarray]
"""What a step tells `adapt` beside its statistics, such as the force at the start of a trajectory."""

Record = dict[str, Any]
"""Statistics of a step, a number each, and its lesson."""

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
    evaluation
        The log density with its matrices, where it is known; a move that changes the position renews it or
        drops it.
    score
        ΦᵀW(z − Φθ) of the coefficients, in feature space, where it is known; in the same way.
    """

    position: Float[np.ndarray, " D"]
    log_density: float
    auxiliary: Mapping[str, np.ndarray] = field(default_factory=dict)
    evaluation: Evaluation | None = None
    score: Float[np.ndarray, " f"] | None = None


@dataclass(frozen=True, eq=False)
class Randomness:
    """Random numbers of a move in one iteration: of its chain, and in common to all chains."""

    own: np.random.Generator
    shared: Callable[[], np.random.Generator]

    @cached_property
    def common(self) -> np.random.Generator:
        """Those in common to all chains, which few moves need."""
        return self.shared()


@dataclass(frozen=True, eq=False)
class WarmUp:
    """What a move may learn from, after some iterations of warm-up.

    Parameters
    ----------
    history
        Positions of all chains so far, (i, c, D).
    statistics
        What the move recorded since it last learned, (c, i) each.
    lessons
        What else its steps recorded since then, chain by chain.
    remaining
        Iterations of warm-up that are left.
    """

    history: Float[np.ndarray, "i c D"]
    statistics: Mapping[str, np.ndarray]
    remaining: int
    lessons: Sequence[Lesson] = ()


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
        """Names of the numbers that `step` records and that are kept; no two moves share one."""

    @abstractmethod
    def begin(self, posterior: Posterior, positions: Float[np.ndarray, "c D"]) -> Tuning:
        """The tuning before anything is learned, for chains that start at these positions."""

    def start(self, posterior: Posterior, state: ChainState, random: np.random.Generator) -> ChainState:
        """The state that a chain begins with, where the move samples further numbers than the position."""
        return state

    @abstractmethod
    def step(
        self, posterior: Posterior, tuning: Tuning, state: ChainState, random: Randomness
    ) -> tuple[ChainState, Record]:
        """The next state of a chain, and what is recorded of the step.

        The record has a number for each of `statistics`; all else in it is a lesson for `adapt`.
        """

    @abstractmethod
    def adapt(self, tuning: Tuning, posterior: Posterior, warm_up: WarmUp) -> Tuning:
        """The tuning after some iterations of warm-up."""

    @abstractmethod
    def settle(self, tuning: Tuning) -> Tuning:
        """The tuning for all iterations after warm-up."""


def evaluated(posterior: Posterior, state: ChainState) -> tuple[ChainState, Evaluation]:
    """The state with its evaluation in kernel space."""
    if state.evaluation is not None:
        return state, state.evaluation
    evaluation = posterior.evaluate(state.position)
    return replace(state, log_density=evaluation.log_density, evaluation=evaluation), evaluation


def metropolis(
    posterior: Posterior,
    state: ChainState,
    proposal: Float[np.ndarray, " D"],
    log_correction: float,
    random: np.random.Generator,
) -> tuple[ChainState, float, bool]:
    """Accept a proposal or not, from a state with its evaluation; the state, the rate, and whether it was.

    log a = log π(x') − log π(x) + the log of what corrects for the proposal.
    """
    assert state.evaluation is not None
    after = posterior.evaluate(proposal, state.evaluation.factored)
    log_ratio = after.log_density - state.evaluation.log_density + log_correction
    rate = math.exp(min(log_ratio, 0.0)) if math.isfinite(log_ratio) else 0.0
    if random.random() < rate:
        accepted = replace(state, position=proposal, log_density=after.log_density, evaluation=after)
        return accepted, rate, True
    return state, rate, False
