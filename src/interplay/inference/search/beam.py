"""A beam search for sets of variables, from the best pairs, one variable at a time.

A variable that acts in pairs alone adds nothing to a set without its partners, so a search from a random set
may take for ever to find the first two or three that act together. Among many pairs some are right, and the
more of a set is right, the more do the next right variables stand out.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from interplay._support.parallel import Workers
from interplay.inference.search.sets import fewest_members, most_members, score
from interplay.model.variable_sets import SetEvidence, VariableSets

FEWEST_SETS, MOST_SETS = 128, 2048
"""Width of the beam: the most sets up to `ROWS` rows, and fewer for more, as assessing a set takes m³."""

ROWS = 64
"""Rows up to which the beam has its full width."""

NEWCOMERS = 32
"""Variables that each set proposes to take in, those with the largest approximate Bayes factors."""

CANDIDATES = 12
"""Sets that have their evidence worked out for each that stays in the beam."""

SETS_AT_ONCE = 64
"""Sets that are worked on at a time."""

LOG_SIZE = 0.5
"""Log size of effects: pairs have a third of the response's standard deviation."""

LOG_NOISE = (-0.1, -0.2, -0.35, -0.7)
"""Log noise for sets of two, three, four and more members."""

SIZES = (LOG_SIZE, LOG_NOISE[-1])
"""Log size and log noise of the sets as they are in the end."""


def beam_width(rows: int) -> int:
    """How many sets are in the beam."""
    return int(np.clip(MOST_SETS * (ROWS / rows) ** 3, FEWEST_SETS, MOST_SETS))


def beam_search(
    assessor: SetEvidence, pairs: Int[np.ndarray, "b 2"], workers: Workers
) -> Int[np.ndarray, "b k"]:
    """Sets of as many variables as are expected, or of two, the best first; padded with p.

    In each round every set proposes to take in the variables with the largest approximate Bayes factors. Of
    all sets that would come of it the most promising have their evidence worked out. Those with the largest
    evidence stay in the beam, as many as there are pairs.

    Parameters
    ----------
    assessor
        Gives the evidence of sets.
    pairs
        Variables to begin with.
    workers
        What works on several parts at a time.
    """
    posterior = assessor.posterior
    sets = np.full((len(pairs), most_members(posterior)), posterior.p)
    if not len(pairs):
        return sets
    sets[:, :2] = pairs
    sets = _ranked(assessor, sets, 2, workers)
    for size in range(2, fewest_members(posterior)):
        candidates = _candidates(assessor, sets, size, workers)[: CANDIDATES * len(pairs)]
        sets = _ranked(assessor, candidates, size + 1, workers)[: len(pairs)]
    return sets


def _ranked(
    assessor: SetEvidence, sets: Int[np.ndarray, "b k"], size: int, workers: Workers
) -> Int[np.ndarray, "b k"]:
    """Sets of some size in the order of their evidence, the best first."""

    def evidence(part: Int[np.ndarray, "b k"]) -> tuple[np.ndarray, ...]:
        # The empty places behind the members cost time and change nothing.
        return (score(assessor, _with_sizes(part[:, :size], size)).log_evidence,)

    (values,) = _in_parts(evidence, sets, workers)
    return sets[np.argsort(-values, kind="stable")]


def _candidates(
    assessor: SetEvidence, sets: Int[np.ndarray, "b k"], size: int, workers: Workers
) -> Int[np.ndarray, "c k"]:
    """What comes of sets of some size with one more variable, each once, the most promising first."""
    count = min(NEWCOMERS, assessor.posterior.p)

    def propose(part: Int[np.ndarray, "b k"]) -> tuple[np.ndarray, ...]:
        scored = score(assessor, _with_sizes(part[:, :size], size))
        gains = assessor.log_bayes_factors(scored.sets, scored.evidence)
        newcomers = np.argsort(-gains, axis=1, kind="stable")[:, :count]
        best = np.take_along_axis(gains, newcomers, axis=1)
        return scored.log_evidence[:, None] + best, newcomers

    promise, newcomers = _in_parts(propose, sets, workers)
    parent, rank = np.nonzero(np.isfinite(promise))
    grown = sets[parent]
    grown[:, size] = newcomers[parent, rank]
    grown = grown[np.argsort(-promise[parent, rank], kind="stable")]
    # The same set comes of several; it stays where it comes first.
    _, first = np.unique(np.sort(grown, axis=1), axis=0, return_index=True)
    return grown[np.sort(first)]


def _with_sizes(members: Int[np.ndarray, "b k"], size: int) -> VariableSets:
    log_noise = LOG_NOISE[min(size - 2, len(LOG_NOISE) - 1)]
    return VariableSets(members, np.full(len(members), LOG_SIZE), np.full(len(members), log_noise))


def _in_parts(
    function: Callable[[Int[np.ndarray, "b k"]], tuple[Float[np.ndarray, "b *c"], ...]],
    sets: Int[np.ndarray, "b k"],
    workers: Workers,
) -> list[np.ndarray]:
    """What a function gives for each of many sets."""
    parts = [sets[start : start + SETS_AT_ONCE] for start in range(0, len(sets), SETS_AT_ONCE)]
    return [np.concatenate(leaves) for leaves in zip(*workers(function, parts), strict=True)]
