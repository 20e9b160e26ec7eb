"""Where chains start: at sets of variables that explain the response.

The posterior has a mode for many a set of variables, and a chain that starts where nothing is active may stay
there for thousands of iterations. So sets come from a beam search, and a search over sets goes on from the
best of them and from others. The chains start at the sets that it ends at, unless the evidence for a set is
negligible beside another's.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from interplay._support.parallel import Workers
from interplay.inference.search.beam import SIZES as BEAM_SIZES
from interplay.inference.search.beam import beam_search, beam_width
from interplay.inference.search.screen import screen
from interplay.inference.search.sets import (
    Scored,
    add_drop_swap,
    fewest_members,
    most_members,
    rows_to_search,
)
from interplay.model.posterior import Posterior
from interplay.model.variable_sets import VariableSets

WALKERS = 16
"""Sets that the search over sets goes on from."""

FROM_BEAM = 8
"""How many of them are the best of the beam."""

GROUPS = 2
"""Groups of walkers, each of which is worked on by itself."""

SIZES = (0.0, -0.5)
"""Log size of effects and log noise that the other walkers begin with."""

STEPS, STEPS_PER_VARIABLE, MOST_STEPS = 40, 5, 300
"""Steps of a walker: some, further ones for each variable, and at most so many."""

NEGLIGIBLE = 25.0
"""Sets whose log evidence is lower than the best by this much are not started from."""

PRIOR_DRAWS = 32
"""Draws from a prior without sets, of which each chain takes the most probable."""


def starts(
    posterior: Posterior,
    stream: Callable[[int], np.random.Generator],
    chains: int,
    effort: int,
    workers: Workers,
) -> Float[np.ndarray, "c D"]:
    """One start for each chain, spread over all sets that the evidence does not rule out.

    Parameters
    ----------
    posterior
        The model.
    stream
        Gives an independent generator for each number from 0 on.
    chains
        Number of chains.
    effort
        Multiple of the usual number of steps.
    workers
        What works on several sets at a time.
    """
    random = stream(0)
    if not posterior.prior.has_local_scales:
        return np.stack([_from_prior(posterior, random) for _ in range(chains)])
    assessor = posterior.set_evidence(rows_to_search(posterior, random), random)
    screened = screen(posterior.design, effort * beam_width(assessor.rows.size))
    beam = beam_search(assessor, screened.pairs, workers)[:FROM_BEAM]
    first = _beginnings(posterior, screened.scores, beam, random)
    steps = effort * search_length(posterior.p)
    groups = [slice(k, None, GROUPS) for k in range(GROUPS)]

    def search(group: int) -> Scored:
        return add_drop_swap(assessor, first[groups[group]], steps, stream(1 + group))

    found = workers(search, range(GROUPS))
    evidence = np.concatenate([scored.log_evidence for scored in found])
    order = np.argsort(-evidence, kind="stable")
    plausible = order[evidence[order] > evidence[order[0]] - NEGLIGIBLE]
    picked = np.resize(plausible, chains)
    members = np.concatenate([scored.sets.members for scored in found])[picked]
    log_size = np.concatenate([scored.sets.log_size for scored in found])[picked]
    log_noise = np.concatenate([scored.sets.log_noise for scored in found])[picked]
    return _spread(posterior, VariableSets(members, log_size, log_noise), random)


def search_length(p: int) -> int:
    """Steps of a walker, at the usual effort."""
    return min(STEPS + STEPS_PER_VARIABLE * p, MOST_STEPS)


def _beginnings(
    posterior: Posterior,
    scores: Float[np.ndarray, " p"],
    beam: Int[np.ndarray, "b k"],
    random: np.random.Generator,
) -> VariableSets:
    """Where walkers begin: the first at the best sets of the beam, the others at random ones."""
    p = posterior.p
    # A draw without replacement from a flattened version of the scores.
    ranks = scores + 2.0 * random.gumbel(size=(WALKERS, p))
    members = np.full((WALKERS, most_members(posterior)), p)
    members[:, : fewest_members(posterior)] = np.argsort(-ranks, axis=1)[:, : fewest_members(posterior)]
    sizes = np.tile(SIZES, (WALKERS, 1))
    members[: len(beam)], sizes[: len(beam)] = beam, BEAM_SIZES
    return VariableSets(members, sizes[:, 0], sizes[:, 1])


def _spread(
    posterior: Posterior, sets: VariableSets, random: np.random.Generator
) -> Float[np.ndarray, "c D"]:
    """Positions around the sets: widely for variables outside the set, whose prior is wide."""
    included = np.zeros((len(sets), posterior.p + 1), dtype=bool)
    np.put_along_axis(included, sets.members, True, axis=1)
    included = included[:, : posterior.p]
    x = posterior.position_of(included, np.exp(sets.log_size), sets.log_noise)
    width = np.full(x.shape, 0.3)
    width[:, posterior.local] = np.where(included[:, posterior.local_variable], 0.3, 1.0)
    return x + width * random.standard_normal(x.shape)


def _from_prior(posterior: Posterior, random: np.random.Generator) -> Float[np.ndarray, " D"]:
    draws = [posterior.sample_prior(random) for _ in range(PRIOR_DRAWS)]
    return draws[int(np.argmax([posterior.log_density(x) for x in draws]))]
