"""What is done about chains that disagree: jumps between the sets of variables that they are in.

The draws so far become warm-up. The library of the jumps is fitted to them and to short pilot chains, which
start at the sets of a further search, longer than the first, and at the empty set. Then it is left as it is.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from interplay._support.parallel import Workers
from interplay.inference.chain import advance
from interplay.inference.moves import ChainState, ModeJump
from interplay.inference.moves.library import Library, active_variables, held_set
from interplay.inference.run import LONGER, Job, State, place
from interplay.inference.search.start import starts
from interplay.inference.trace import Trace

MOST_LIBRARIES = 3
"""How often a library is fitted: again where chains have found further sets since."""

PILOT = 100
"""Iterations of a pilot chain, of which the second half is looked at."""


def can_jump(job: Job, state: State) -> bool:
    """Whether a library may be fitted: there are local scales, in kernel space, and draws to fit it to."""
    return job.has_jumps and state.libraries < MOST_LIBRARIES and len(state.history) > 0


def with_jumps(job: Job, state: State, workers: Workers) -> State:
    """The run with jumps between sets of variables, from where it is and without the draws so far."""
    posterior = job.posterior
    recent = state.history[len(state.history) // 2 :]
    runs = list(np.moveaxis(recent, 1, 0))
    held = {held_set(active_variables(posterior, run)) for run in runs}
    pilots = _pilots(job, state, _unvisited(job, held, _found(job, state, workers)), workers)
    jump = ModeJump()
    earlier = Library.from_arrays(state.tunings[jump.name]) if state.libraries else Library.empty()
    library = Library.fitted(posterior, [*runs, *pilots], earlier)
    return replace(
        state,
        libraries=state.libraries + 1,
        iteration=0,
        tunings={**state.tunings, jump.name: library.arrays()},
        history=state.history[:0],
        trace=Trace(),
    )


def _found(job: Job, state: State, workers: Workers) -> Float[np.ndarray, "s D"]:
    """Starts at the sets of a further search, and at the empty set."""
    posterior = job.posterior

    def stream(number: int) -> np.random.Generator:
        return job.streams.at(place(state, "start"), 1, number)

    found = starts(posterior, stream, job.sampler.chains, LONGER, workers)
    empty = posterior.position_of(np.zeros(posterior.p, dtype=bool), np.ones(()), np.zeros(()))
    return np.concatenate([found, empty[None]])


def _unvisited(
    job: Job, held: set[tuple[int, ...]], positions: Float[np.ndarray, "s D"]
) -> list[Float[np.ndarray, " D"]]:
    """Of some positions, one at each set that is not held already."""
    held, rest = set(held), []
    for x in positions:
        active = tuple(np.flatnonzero(active_variables(job.posterior, x[None])[0]).tolist())
        if active not in held:
            held.add(active)
            rest.append(x)
    return rest


def _pilots(
    job: Job, state: State, positions: list[Float[np.ndarray, " D"]], workers: Workers
) -> list[Float[np.ndarray, "i D"]]:
    """The second halves of short chains that start at some positions, with the moves as they are now."""

    def run(number: int) -> Float[np.ndarray, "i D"]:
        x = positions[number]
        stretch = advance(
            job.posterior,
            job.moves(state.attempt, jumps=False),
            state.tunings,
            ChainState(x, job.posterior.log_density(x)),
            job.streams,
            chain=job.sampler.chains + number,
            phase=place(state, "start"),
            first=2,
            iterations=PILOT,
        )
        return stretch.positions[PILOT // 2 :]

    return workers(run, range(len(positions)))
