"""A search over sets of variables by adding, dropping and swapping members (MC³).

Madigan and York (1995), Bayesian graphical models for discrete data. Effects within a set have one common
size, so a step costs O(n³ + n p) and not O(n² p). It is a search and not a sampler: that newcomers are
proposed by their approximate Bayes factors is not corrected for, which favours the better of two neighbours.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from interplay.model.posterior import Posterior
from interplay.model.variable_sets import Evidence, SetEvidence, VariableSets

LARGEST_SET = 12
"""Most variables in a set; trajectories find others from there."""

FEWEST_ROWS, MOST_ROWS = 200, 400
"""Rows that the search looks at, at random where there are more: as many as variables, between these."""

KINDS = ("swap", "add", "swap", "drop", "scale")
"""What a step tries, in turn."""

SCALE_STEPS = (0.3, 0.2)
"""Standard deviations of the changes of log size and log noise."""


class Scored(NamedTuple):
    """Sets, and their log evidence with the log prior odds of each member beyond the expected number."""

    sets: VariableSets
    evidence: Evidence
    log_evidence: Float[np.ndarray, " b"]


def rows_to_search(posterior: Posterior, random: np.random.Generator) -> Int[np.ndarray, " m"]:
    """The rows for the search, all of them or a random part."""
    n = posterior.design.n
    most = min(max(posterior.p, FEWEST_ROWS), MOST_ROWS)
    return np.arange(n) if n <= most else np.sort(random.choice(n, most, replace=False))


def fewest_members(posterior: Posterior) -> int:
    """Variables of the smallest sets: as many as are expected."""
    return min(max(1, int(posterior.prior.expected_mains_for(posterior.p))), most_members(posterior))


def most_members(posterior: Posterior) -> int:
    """The most variables in a set."""
    return min(LARGEST_SET, posterior.p)


def score(assessor: SetEvidence, sets: VariableSets) -> Scored:
    """The log evidence of sets, with the prior odds of their members."""
    posterior = assessor.posterior
    evidence = assessor.assess(sets)
    expected = posterior.prior.expected_mains_for(posterior.p)
    beyond = np.maximum((sets.members < posterior.p).sum(axis=1) - fewest_members(posterior), 0)
    log_odds = np.log(expected / (posterior.p - expected))
    return Scored(sets, evidence, evidence.log_likelihood + log_odds * beyond)


def add_drop_swap(
    assessor: SetEvidence, sets: VariableSets, steps: int, random: np.random.Generator
) -> Scored:
    """Let each of several sets take some steps.

    A step adds, drops or swaps a variable or changes the sizes, and is taken with the ratio of evidences as
    its chance. Newcomers are drawn in proportion to their approximate Bayes factors.

    Parameters
    ----------
    assessor
        Gives the evidence of sets.
    sets
        Where to begin.
    steps
        Number of steps.
    random
        Random numbers.
    """
    current = score(assessor, sets)
    for step in range(steps):
        proposal = _proposal(assessor, current, KINDS[step % len(KINDS)], random)
        gain = np.nan_to_num(proposal.log_evidence - current.log_evidence, nan=-np.inf)
        accept = np.log(random.random(len(sets))) < gain
        current = _chosen(accept, proposal, current)
    return current


def _proposal(assessor: SetEvidence, current: Scored, kind: str, random: np.random.Generator) -> Scored:
    posterior, sets = assessor.posterior, current.sets
    p, (b, k) = posterior.p, sets.members.shape
    members, size, noise = sets.members.copy(), sets.log_size, sets.log_noise
    counts = (members < p).sum(axis=1)
    # Every walker draws all that it may need, so that what one does leaves the others' numbers alone.
    leaver = np.argmax(np.where(members < p, random.random((b, k)), -1.0), axis=1)
    change = random.standard_normal((2, b))
    gumbel = random.gumbel(size=(b, p))
    if kind == "scale":
        size, noise = size + SCALE_STEPS[0] * change[0], noise + SCALE_STEPS[1] * change[1]
    leave = np.full(b, kind == "swap") | ((counts > fewest_members(posterior)) & (kind == "drop"))
    members[np.flatnonzero(leave), leaver[leave]] = p
    base = VariableSets(members, size, noise)
    if kind in ("drop", "scale"):
        return score(assessor, base)
    room = np.argmax(members, axis=1)
    has_room = members[np.arange(b), room] == p
    reduced = current if kind == "add" else score(assessor, base)
    gains = assessor.log_bayes_factors(base, reduced.evidence)
    newcomer = np.argmax(gains + gumbel, axis=1)
    join = has_room & (counts < p) & np.isfinite(gains.max(axis=1))
    grown = members.copy()
    grown[np.flatnonzero(join), room[join]] = newcomer[join]
    return score(assessor, VariableSets(grown, size, noise))


def _chosen(accept: np.ndarray, new: Scored, old: Scored) -> Scored:
    def pick(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.where(accept.reshape(-1, *[1] * (a.ndim - 1)), a, b)

    return Scored(
        VariableSets(
            pick(new.sets.members, old.sets.members),
            pick(new.sets.log_size, old.sets.log_size),
            pick(new.sets.log_noise, old.sets.log_noise),
        ),
        Evidence(
            pick(new.evidence.log_likelihood, old.evidence.log_likelihood),
            pick(new.evidence.alpha, old.evidence.alpha),
            pick(new.evidence.precision, old.evidence.precision),
        ),
        pick(new.log_evidence, old.log_evidence),
    )
