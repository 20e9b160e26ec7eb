"""A run as a sequence of states: each follows from the one before, so that any of them can be resumed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Float

from interplay._support.parallel import Workers
from interplay._support.streams import Streams
from interplay.data.design import Design
from interplay.inference.chain import Recorded, Stretch, advance, record
from interplay.inference.moves import HMC, ChainState, Lesson, Move, Tuning, WarmUp
from interplay.inference.moves.add_delete_swap import Windows
from interplay.inference.moves.choice import choose_moves
from interplay.inference.search.start import starts
from interplay.inference.trace import Draw, Trace
from interplay.model.engines.kernel_space import Precision
from interplay.model.families.base import Family
from interplay.model.posterior import Posterior
from interplay.model.priors.base import Prior
from interplay.model.terms import Terms, as_arrays, mains

Phase = Literal["start", "warm-up", "sampling"]
PHASES: tuple[Phase, ...] = ("start", "warm-up", "sampling")

ATTEMPTS = 2
"""Attempts of a run, at most."""

CHUNK = 25
"""Iterations after which draws are checked, and kept."""

ADAPT_EVERY = 5
"""Iterations of warm-up between two lessons of the moves."""

LONGER = 3
"""Factor of the length of the search and of the warm-up in a second attempt."""

RECENT = 200
"""Iterations of sampling whose positions are kept, for the library of jumps that may become necessary."""

SINGLE_FROM = 1000
"""Number of variables from which draws of what belongs to a variable are kept in single precision."""


@dataclass(frozen=True, eq=False)
class State:
    """Everything that the rest of a run depends on.

    Parameters
    ----------
    attempt
        0, or 1 after the run was restarted with more effort.
    libraries
        How often a library of jumps between sets of variables was fitted; without one there are no jumps.
    phase, iteration
        Where the run is.
    chains
        Where the chains are.
    tunings
        What each move has learned, by its name.
    history
        Positions of the warm-up, or recent ones of sampling where jumps may become necessary, (i, c, D).
    trace
        What was kept of each draw.
    gradients
        Gradients of the log density so far.
    seconds
        Wall time so far.
    double_precision
        Whether the density is computed in double precision throughout.
    rounding
        How much rounding moves the log density where the chains were when it was last looked at.
    """

    attempt: int
    phase: Phase
    iteration: int
    chains: tuple[ChainState, ...]
    tunings: Mapping[str, Tuning]
    history: Float[np.ndarray, "i c D"]
    trace: Trace = field(default_factory=Trace)
    libraries: int = 0
    gradients: int = 0
    seconds: float = 0.0
    double_precision: bool = False
    rounding: float = 0.0

    @property
    def positions(self) -> Float[np.ndarray, "c D"]:
        """Where the chains are."""
        return np.stack([chain.position for chain in self.chains])


@dataclass(frozen=True, eq=False)
class Job:
    """What a run is about, and does not change while it goes on.

    Parameters
    ----------
    posterior
        The model.
    sampler
        Settings of the sampler.
    seed
        Of all random numbers.
    """

    posterior: Posterior
    sampler: HMC
    seed: int

    @classmethod
    def of(
        cls,
        design: Design,
        prior: Prior,
        family: Family,
        sampler: HMC,
        seed: int,
        *,
        double_precision: bool = False,
    ) -> "Job":
        """A run about a model, in double precision if so asked."""
        precision: Precision = "float64" if double_precision else "float32"
        return cls(Posterior.of(design, prior, family, precision=precision), sampler, seed)

    def in_double_precision(self) -> "Job":
        """The same run in double precision throughout."""
        model = self.posterior
        return Job.of(model.design, model.prior, model.family, self.sampler, self.seed, double_precision=True)

    @property
    def has_jumps(self) -> bool:
        """Whether there can be jumps between sets: in kernel space, for priors with local scales."""
        return self.posterior.prior.has_local_scales and not self.posterior.engine.has_coefficients

    def moves(self, attempt: int, *, jumps: bool = False) -> tuple[Move, ...]:
        """How chains move, with jumps between sets or without; a second attempt takes smaller steps."""
        wanted = self.sampler.acceptance + attempt * (1.0 - self.sampler.acceptance) / 2.0
        hmc = replace(self.sampler, acceptance=wanted)
        return choose_moves(self.posterior, hmc, lambda: self._windows, jumps=jumps)

    def warmup_length(self, attempt: int) -> int:
        """Iterations of warm-up, in whole lessons; a second attempt takes three times as many."""
        return -(-self.sampler.warmup * (1 + (LONGER - 1) * attempt) // ADAPT_EVERY) * ADAPT_EVERY

    @cached_property
    def streams(self) -> Streams:
        """Random numbers of the run."""
        return Streams(self.seed)

    @cached_property
    def mains(self) -> Terms:
        """The main effect of every column."""
        return as_arrays(mains(self.posterior.design))

    @cached_property
    def _windows(self) -> Windows:
        return Windows.of(self.posterior.design)


Begin = Callable[[Job, int, Workers], State]
"""From a run and its attempt to the state that warm-up begins with."""


def begin(job: Job, attempt: int, workers: Workers) -> State:
    """Find starts for the chains; a second attempt searches three times as long."""

    def stream(number: int) -> np.random.Generator:
        return job.streams.at(_place(attempt, 0, "start"), 0, number)

    positions = starts(job.posterior, stream, job.sampler.chains, 1 + (LONGER - 1) * attempt, workers)
    return before_warm_up(job, attempt, positions)


def before_warm_up(job: Job, attempt: int, positions: Float[np.ndarray, "c D"]) -> State:
    """The state that warm-up begins with, for chains that start at these positions."""
    moves, chains = job.moves(attempt), []
    for number, x in enumerate(positions):
        state = ChainState(x, job.posterior.log_density(x))
        for move in moves:
            random = job.streams.at(_place(attempt, 0, "start"), 1, number)
            state = move.start(job.posterior, state, random)
        chains.append(state)
    tunings = {move.name: move.begin(job.posterior, positions) for move in moves}
    return State(attempt, "warm-up", 0, tuple(chains), tunings, np.zeros((0, *positions.shape)))


def in_double_precision(job: Job, state: State) -> tuple[Job, State]:
    """The run in double precision throughout, with a warm-up of its own from where the chains are."""
    precise = job.in_double_precision()
    restarted = before_warm_up(precise, state.attempt, state.positions)
    return precise, replace(restarted, gradients=state.gradients, double_precision=True)


def after_warm_up(job: Job, state: State) -> State:
    """The state that sampling begins with, wherever the warm-up has got to."""
    tunings = {move.name: move.settle(state.tunings[move.name]) for move in job.moves(state.attempt)}
    return replace(state, phase="sampling", iteration=0, tunings=tunings, history=state.history[:0])


def proceed(job: Job, state: State, workers: Workers) -> State:
    """Go on for one chunk."""
    return _warm_up(job, state, workers) if state.phase == "warm-up" else _sample(job, state, workers)


def _sample(job: Job, state: State, workers: Workers) -> State:
    stretches = _advance(job, state, CHUNK, workers)

    def of_chain(chain: int) -> Recorded:
        return record(job.posterior, job.mains, stretches[chain])

    recorded = workers(of_chain, range(job.sampler.chains))
    history = state.history
    if job.has_jumps:
        positions = np.stack([stretch.positions for stretch in stretches], axis=1)
        history = np.concatenate([history, positions])[-RECENT:]
    wide = np.float32 if job.posterior.p >= SINGLE_FROM else np.float64
    names = recorded[0].hyperparameters
    hyperparameters = {name: np.stack([part.hyperparameters[name] for part in recorded]) for name in names}
    draw = Draw(
        hyperparameters={
            name: values.astype(wide) if values.ndim == 3 else values
            for name, values in hyperparameters.items()
        },
        main_mean=np.stack([part.main_mean for part in recorded]).astype(wide),
        main_sd=np.stack([part.main_sd for part in recorded]).astype(wide),
        log_density=np.stack([stretch.log_density for stretch in stretches]),
        statistics=_statistics(stretches),
    )
    return replace(
        state,
        iteration=state.iteration + CHUNK,
        chains=tuple(stretch.state for stretch in stretches),
        history=history,
        trace=state.trace.extended(draw),
        gradients=state.gradients + _gradients(draw.statistics),
    )


def _warm_up(job: Job, state: State, workers: Workers) -> State:
    length = job.warmup_length(state.attempt)
    if state.iteration >= length:
        return after_warm_up(job, state)
    stretches = _advance(job, state, ADAPT_EVERY, workers)
    positions = np.stack([stretch.positions for stretch in stretches], axis=1)
    history = np.concatenate([state.history, positions])
    done = state.iteration + ADAPT_EVERY
    statistics = _statistics(stretches)
    moves = job.moves(state.attempt)
    return replace(
        state,
        iteration=done,
        chains=tuple(stretch.state for stretch in stretches),
        tunings={
            move.name: move.adapt(
                state.tunings[move.name],
                job.posterior,
                WarmUp(history, statistics, length - done, _lessons(stretches, move)),
            )
            for move in moves
        },
        history=history,
        gradients=state.gradients + _gradients(statistics),
    )


def _advance(job: Job, state: State, iterations: int, workers: Workers) -> list[Stretch]:
    moves = job.moves(state.attempt, jumps=state.libraries > 0)

    def of_chain(chain: int) -> Stretch:
        return advance(
            job.posterior,
            moves,
            state.tunings,
            state.chains[chain],
            job.streams,
            chain=chain,
            phase=place(state, state.phase),
            first=state.iteration,
            iterations=iterations,
        )

    return workers(of_chain, range(job.sampler.chains))


def place(state: State, phase: Phase) -> int:
    """Where the random numbers of a phase are found."""
    return _place(state.attempt, state.libraries, phase)


def _place(attempt: int, libraries: int, phase: Phase) -> int:
    """A number for each phase of each attempt, and of each library."""
    return len(PHASES) * (attempt + ATTEMPTS * libraries) + PHASES.index(phase)


def _statistics(stretches: list[Stretch]) -> dict[str, Float[np.ndarray, "c i"]]:
    return {
        name: np.stack([stretch.statistics[name] for stretch in stretches])
        for name in stretches[0].statistics
    }


def _lessons(stretches: list[Stretch], move: Move) -> list[Lesson]:
    return [lesson for stretch in stretches for lesson in stretch.lessons[move.name]]


def _gradients(statistics: Mapping[str, np.ndarray]) -> int:
    return int(np.sum(statistics["steps"]))
