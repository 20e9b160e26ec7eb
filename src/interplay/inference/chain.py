"""Chains: a list of moves, applied in turn, and what is recorded of each iteration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Float

from interplay._support.streams import Streams
from interplay.inference.moves.base import ChainState, Lesson, Move, Randomness, Tuning
from interplay.inference.trace import SPARSE
from interplay.model.posterior import Posterior
from interplay.model.terms import Terms

COMMON = 2**31
"""The place of random numbers that all chains share, where a chain's number would stand."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """Some iterations of one chain.

    Parameters
    ----------
    state
        Where the chain is after them.
    positions, log_density
        Of each iteration, (i, D) and (i,).
    statistics
        What the moves recorded, (i,) each.
    lessons
        What else each move recorded in its steps, by its name.
    """

    state: ChainState
    positions: Float[np.ndarray, "i D"]
    log_density: Float[np.ndarray, " i"]
    statistics: Mapping[str, Float[np.ndarray, " i"]]
    lessons: Mapping[str, Sequence[Lesson]]


@dataclass(frozen=True, eq=False)
class Recorded:
    """What is kept of some draws of one chain; the standard deviations are of every fifth."""

    hyperparameters: Mapping[str, np.ndarray]
    main_mean: Float[np.ndarray, "i d"]
    main_sd: Float[np.ndarray, "j d"]


def advance(
    posterior: Posterior,
    moves: Sequence[Move],
    tunings: Mapping[str, Tuning],
    state: ChainState,
    streams: Streams,
    *,
    chain: int,
    phase: int,
    first: int,
    iterations: int,
) -> Stretch:
    """Move a chain for some iterations.

    Parameters
    ----------
    posterior, moves, tunings
        The model, and how to move.
    state, chain
        Where the chain is, and its number.
    streams, phase, first
        Random numbers, and the place of the first iteration in the run.
    iterations
        How many.
    """
    positions, log_density, rows = [], [], []
    lessons: dict[str, list[Lesson]] = {move.name: [] for move in moves}
    # What is known of the position is computed afresh, so that a run that is resumed here goes the same way.
    state = replace(state, evaluation=None, score=None)
    for iteration in range(first, first + iterations):
        row: dict[str, float] = {}
        for number, move in enumerate(moves):
            own = streams.at(phase, iteration, chain, number)
            random = Randomness(own, partial(streams.at, phase, iteration, COMMON, number))
            state, record = move.step(posterior, tunings[move.name], state, random)
            row |= {name: float(record.pop(name)) for name in move.statistics}
            lessons[move.name].append(record)
        positions.append(state.position)
        log_density.append(state.log_density)
        rows.append(row)
    statistics = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    state = replace(state, evaluation=None, score=None)
    return Stretch(state, np.stack(positions), np.array(log_density), statistics, lessons)


def record(posterior: Posterior, mains: Terms, stretch: Stretch) -> Recorded:
    """What is kept of draws, with the conditional standard deviations of every fifth.

    These take most of the time: O(n² p), where the means take O(n p) beside the factor. Where a move has
    drawn the main effects, their law is taken from it: it is given the coefficients that the move held too.
    """
    positions = stretch.positions
    hyperparameters = posterior.constrain(positions)
    means, sds = [], []
    for lessons in stretch.lessons.values():
        if lessons and "main_mean" in lessons[0]:
            means = [lesson["main_mean"] for lesson in lessons]
            sds = [lesson["main_sd"] for lesson in lessons[::SPARSE]]
            return Recorded(hyperparameters, np.stack(means), np.stack(sds))
    for draw in range(len(positions)):
        of_draw = {name: np.asarray(values[draw]) for name, values in hyperparameters.items()}
        try:
            conditional = posterior.condition(of_draw)
        except np.linalg.LinAlgError:
            means.append(np.full(len(mains), np.nan))
            if draw % SPARSE == 0:
                sds.append(means[-1])
            continue
        if draw % SPARSE == 0:
            mean, variance = conditional.effects(mains)
            sds.append(np.sqrt(variance))
        else:
            mean = conditional.means(mains)
        means.append(mean)
    return Recorded(hyperparameters, np.stack(means), np.stack(sds))
