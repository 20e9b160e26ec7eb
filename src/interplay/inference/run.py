"""A run as a chain of states: each follows from the one before, so that any of them can be resumed."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from interplay.data.design import Design
from interplay.inference.adaptation import EVERY, FIRST_STEP, SETTLE, corrected, relearned
from interplay.inference.kept import SPARSE, Kept
from interplay.inference.metric import Metric, first_metric
from interplay.inference.rivals import Rivals
from interplay.inference.sampler import CHUNK, Sampler, Stretch, advance
from interplay.inference.start import starts
from interplay.inference.target import Target, Watched, target
from interplay.inference.threads import SINGLE_THREAD, Workers, first_alone, release_memory

Phase = Literal["start", "warm-up", "sampling"]
PHASES: tuple[Phase, ...] = ("start", "warm-up", "sampling")

SINGLE_FROM = 1000
"""Number of variables from which draws of what belongs to a variable are kept in single precision."""


@dataclass(frozen=True)
class State:
    """Everything that the rest of a run depends on.

    Parameters
    ----------
    attempt
        0, or 1 after the run was begun anew with more effort.
    phase, iteration
        Where the run is.
    positions
        Of the chains, (c, D).
    log_step, log_steps
        Log step size, and its values while it settles.
    metric
        The metric.
    history
        Positions of the warm-up, (i, c, D).
    kept
        What was kept of each draw, each array (c, i, …): hyperparameters, `main_mean`, of every fifth
        `main_sd`, and `log_density`, `acceptance`, `divergent`, `steps`.
    gradients
        Gradients of the log density so far.
    seconds
        Wall time so far.
    precise
        Whether the density is computed in double precision throughout.
    rounding
        How much rounding moves the log density where the chains were when it was last looked at.
    """

    attempt: int
    phase: Phase
    iteration: int
    positions: Float[np.ndarray, "c D"]
    log_step: float
    log_steps: tuple[float, ...]
    metric: Metric
    history: Float[np.ndarray, "i c D"]
    kept: Kept
    gradients: int
    seconds: float
    precise: bool = False
    rounding: float = 0.0


@dataclass(frozen=True)
class Job:
    """What a run is about, and does not change while it goes on.

    Parameters
    ----------
    design, target, rivals
        The data, the posterior, and variables that could stand for each other.
    sampler
        How chains move.
    seed
        Of all random numbers.
    """

    design: Design
    target: Target
    rivals: Rivals
    sampler: Sampler
    seed: int

    def precisely(self) -> "Job":
        """The same in double precision throughout."""
        return replace(self, target=target(self.design, self.target.prior, precision="float64"))

    def key(self, attempt: int, phase: Phase, iteration: int) -> Array:
        """The random key of a part of the run."""
        key = jax.random.key(self.seed)
        for number in (attempt, PHASES.index(phase), iteration):
            key = jax.random.fold_in(key, number)
        return key


def begin(job: Job, attempt: int, workers: Workers) -> State:
    """Find starts for the chains; a second attempt looks three times as long."""
    chains = job.sampler.chains
    key = job.key(attempt, "start", 0)
    positions = starts(job.design, job.target, key, chains, 1 + 2 * attempt, workers)
    release_memory()
    return _before_warm_up(job, attempt, positions)


def in_double_precision(job: Job, state: State) -> tuple[Job, State]:
    """The run in double precision throughout, with a warm-up of its own from where the chains are."""
    precise = job.precisely()
    anew = _before_warm_up(precise, state.attempt, state.positions)
    return precise, replace(anew, gradients=state.gradients, precise=True)


def after_warm_up(state: State) -> State:
    """The state that sampling begins with, wherever the warm-up has got to."""
    settled = float(np.mean(state.log_steps[-3:])) if state.log_steps else state.log_step
    return replace(state, phase="sampling", iteration=0, log_step=settled, history=state.history[:0])


def _before_warm_up(job: Job, attempt: int, positions: Float[np.ndarray, "c D"]) -> State:
    return State(
        attempt=attempt,
        phase="warm-up",
        iteration=0,
        positions=positions,
        log_step=float(np.log(FIRST_STEP)),
        log_steps=(),
        metric=first_metric(positions, job.target.locals),
        history=np.zeros((0, *positions.shape)),
        kept=Kept(),
        gradients=0,
        seconds=0.0,
    )


def proceed(job: Job, state: State, workers: Workers) -> State:
    """Go on for one chunk."""
    if state.phase == "warm-up":
        return _warm_up(job, state, workers)
    stretch = _advance(job, state, CHUNK, workers)
    kept = {**_watch(job, state, stretch.positions, workers), **_statistics(stretch)}
    kept = {name: _compact(values, job.target.p) for name, values in kept.items()}
    return replace(
        state,
        iteration=state.iteration + CHUNK,
        positions=stretch.positions[-1],
        kept=state.kept.more(kept),
        gradients=state.gradients + _gradients(job, stretch),
    )


def warmup_length(job: Job, attempt: int) -> int:
    """Iterations of warm-up, in whole parts; a second attempt takes three times as many."""
    return -(-job.sampler.warmup * (1 + 2 * attempt) // EVERY) * EVERY


def _warm_up(job: Job, state: State, workers: Workers) -> State:
    length = warmup_length(job, state.attempt)
    if state.iteration >= length:
        return after_warm_up(state)
    stretch = _advance(job, state, EVERY, workers)
    history = np.concatenate([state.history, stretch.positions])
    done = state.iteration + EVERY
    wanted = job.sampler.acceptance + state.attempt * (1.0 - job.sampler.acceptance) / 2.0
    log_step = corrected(state.log_step, float(np.mean(stretch.acceptance)), wanted, length - done)
    return replace(
        state,
        iteration=done,
        positions=stretch.positions[-1],
        log_step=log_step,
        log_steps=(*state.log_steps, log_step) if length - done < SETTLE else (),
        metric=relearned(state.metric, history, job.target.locals, length),
        history=history,
        gradients=state.gradients + _gradients(job, stretch),
    )


def _advance(job: Job, state: State, iterations: int, workers: Workers) -> Stretch:
    key = job.key(state.attempt, state.phase, state.iteration)
    step_size, count = jnp.exp(state.log_step), jnp.asarray(iterations)

    def one(chain: int) -> Stretch:
        position, number = jnp.asarray(state.positions[chain]), jnp.asarray(chain)
        stretch = advance(
            job.sampler, job.target, state.metric, job.rivals, position, number, key, step_size, count
        )
        return jax.tree.map(lambda leaf: np.asarray(leaf)[:iterations], stretch)

    chains = range(job.sampler.chains)
    if state.iteration == 0 and state.phase == "warm-up":
        parts = first_alone(workers, one, chains)
        release_memory()
    else:
        parts = workers(one, chains)
    return jax.tree.map(lambda *leaves: np.stack(leaves, axis=1), *parts)


def _watch(
    job: Job, state: State, positions: Float[np.ndarray, "i c D"], workers: Workers
) -> dict[str, np.ndarray]:
    def one(chain: int) -> Watched:
        return jax.tree.map(np.asarray, watch(job.target, jnp.asarray(positions[:, chain])))

    chains = range(job.sampler.chains)
    if state.kept:
        parts = workers(one, chains)
    else:
        parts = first_alone(workers, one, chains)
        release_memory()
    watched = jax.tree.map(lambda *leaves: np.stack(leaves), *parts)
    main_sd = watched.main_sd[:, ::SPARSE]
    return {**watched.hyperparameters, "main_mean": watched.main_mean, "main_sd": main_sd}


@partial(jax.jit, compiler_options=SINGLE_THREAD)
def watch(target: Target, positions: Float[Array, "s D"]) -> Watched:
    """What is kept of each of many draws, with the standard deviations of every few."""
    spread = jnp.arange(len(positions)) % SPARSE == 0
    return jax.lax.map(lambda draw: target.watch(*draw), (positions, spread))


def _gradients(job: Job, stretch: Stretch) -> int:
    swaps = stretch.steps.size if job.rivals and job.target.prior.selects else 0
    return int(np.sum(stretch.steps)) + swaps


def _statistics(stretch: Stretch) -> dict[str, np.ndarray]:
    names = ("log_density", "acceptance", "divergent", "steps")
    return {name: getattr(stretch, name).swapaxes(0, 1) for name in names}


def _compact(values: np.ndarray, p: int) -> np.ndarray:
    wide = values.ndim == 3 and p >= SINGLE_FROM
    return values.astype(np.float32) if wide else values
