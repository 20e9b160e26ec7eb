"""Informed moves between sets of variables: add, delete, swap and resize in one."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float, Int
from scipy.special import log_softmax

from interplay.data.design import Design
from interplay.inference.moves.base import (
    ChainState,
    Move,
    Randomness,
    Record,
    Tuning,
    WarmUp,
    evaluated,
    metropolis,
)
from interplay.inference.moves.informed import joint_evidence, strongest
from interplay.inference.moves.local import Locals, Tables, with_background
from interplay.model.posterior import Posterior

NOTHING = 0.3
"""Chance that the place to be filled is empty: a proposal to add a variable, where it is not left empty."""

CORRELATIONS = (0.3, 0.6)
"""Candidates are the variables that are correlated with a random one by at least one of these."""

EVERY, MOST_EVERY = 0.2, 256
"""Chance that all variables are candidates, where they are at most so many."""

FEWEST, MOST = 12, 64
"""Candidates are filled up with random ones to the first, and cut to the second."""


@dataclass(frozen=True, eq=False)
class Windows:
    """Sets of candidates, drawn without a look at the chain.

    Parameters
    ----------
    columns
        Centred columns of length one, (n, d).
    owner
        Variable of each column, (d,).
    p
        Number of variables.
    """

    columns: Float[np.ndarray, "n d"]
    owner: Int[np.ndarray, " d"]
    p: int

    @classmethod
    def of(cls, design: Design) -> "Windows":
        """The columns of a design."""
        centred = (design.X - design.X.mean(axis=0)).astype(np.float32)
        norms = np.linalg.norm(centred, axis=0)
        return cls(centred / np.where(norms > 0, norms, 1.0), design.owner, design.p)

    def draw(self, random: np.random.Generator) -> Int[np.ndarray, " c"]:
        """Candidates, sorted: all variables, or those correlated with a random one and some others."""
        if self.p <= FEWEST or (self.p <= MOST_EVERY and random.random() < EVERY):
            return np.arange(self.p)
        centre = int(random.integers(self.p))
        least = CORRELATIONS[int(random.integers(2))]
        correlation = np.abs(self.columns.T @ self.columns[:, self.owner == centre]).max(axis=1)
        by_variable = np.zeros(self.p)
        np.maximum.at(by_variable, self.owner, correlation)
        near = np.flatnonzero(by_variable >= least)
        near = near[np.argsort(-by_variable[near], kind="stable")[:MOST]]
        if near.size < FEWEST:
            near = np.union1d(near, random.choice(self.p, FEWEST, replace=False))
        return np.union1d(near, [centre])


@final
@dataclass(frozen=True, eq=False)
class AddDeleteSwap(Move):
    """Fill a place among the active variables anew, by the evidence of each candidate for it.

    Zanella (2020), Informed proposals for local MCMC in discrete spaces. Among candidates C, drawn without a
    look at the state, a place i is drawn: nothing, or one of the active candidates, with probability
    s(i | x). With all candidates but the other active ones at a background weight, tables give the odds of
    each to be active, and its conditional laws q given that it is or is not; they are the same from either
    side. The new occupant j, or nothing, is drawn by the odds, P(j); i goes out and j comes in:

        log a = log π(x') − log π(x) + log P(i) − log P(j) + log s(j | x') − log s(i | x)
                + [log q_i(l_i) − log q_i(l_i')] + [log q_j(l_j) − log q_j(l_j')]

    A bracket of nothing is left out; for j = i there is one.

    Parameters
    ----------
    windows
        Gives candidates.
    places, tries
        Places in an iteration, and proposals for each.
    """

    windows: Windows
    places: int = 2
    tries: int = 2

    @property
    def name(self) -> str:
        """Short name."""
        return "add_delete_swap"

    @property
    def statistics(self) -> tuple[str, ...]:
        """Acceptance rates of additions, deletions, swaps and changes of size; NaN where there were none."""
        return "add_acceptance", "delete_acceptance", "exchange_acceptance", "resize_acceptance"

    def begin(self, posterior: Posterior, positions: Float[np.ndarray, "c D"]) -> Tuning:
        """There is nothing to learn."""
        return {}

    def step(
        self, posterior: Posterior, tuning: Tuning, state: ChainState, random: Randomness
    ) -> tuple[ChainState, Record]:
        """Some places, each with some tries."""
        rates: dict[str, list[float]] = {name: [] for name in self.statistics}
        for _ in range(self.places):
            state = self._fill(posterior, state, self.windows.draw(random.own), random.own, rates)
        return state, {name: float(np.mean(r)) if r else math.nan for name, r in rates.items()}

    def adapt(self, tuning: Tuning, posterior: Posterior, warm_up: WarmUp) -> Tuning:
        """There is nothing to learn."""
        return tuning

    def settle(self, tuning: Tuning) -> Tuning:
        """There is nothing to learn."""
        return tuning

    def _fill(
        self,
        posterior: Posterior,
        state: ChainState,
        candidates: Int[np.ndarray, " c"],
        random: np.random.Generator,
        rates: dict[str, list[float]],
    ) -> ChainState:
        state, evaluation = evaluated(posterior, state)
        x, locals_ = state.position, Locals.at(posterior, state.position)
        inside = candidates[locals_.active[candidates]]
        place = int(random.choice(inside)) if inside.size and random.random() >= NOTHING else -1
        stay = inside[inside != place]
        free = np.setdiff1d(candidates, stay)
        active = np.flatnonzero(locals_.active)
        others = active[active != place]
        variances, working = posterior.model(with_background(posterior, x, free))
        resolvent = posterior.kernel.resolvent(variances, working, evaluation.factored)
        if resolvent is None:
            return state
        partners = strongest(posterior, locals_.weights, others)
        evidence = joint_evidence(posterior, variances, resolvent, free, partners)
        tables = Tables.of(evidence, locals_.scales, locals_.edges[free])
        log_chance = log_softmax(np.append(tables.log_active - tables.log_inactive, 0.0))
        at = {int(variable): row for row, variable in enumerate(free)} | {-1: free.size}
        for _ in range(self.tries):
            row = int(np.argmax(log_chance + random.gumbel(size=log_chance.size)))
            new = -1 if row == free.size else int(free[row])
            if new == place == -1:
                continue
            changed = np.array(sorted({place, new} - {-1}))
            rows = tables.taken(np.array([at[int(v)] for v in changed]))
            drawn = rows.draw(changed == new, random)
            old = state.position[posterior.local[changed]]
            log_ratio = float(np.sum(rows.log_density(old) - rows.log_density(drawn)))
            log_ratio += float(log_chance[at[place]] - log_chance[at[new]])
            log_ratio += _log_choice(new, stay.size) - _log_choice(place, stay.size)
            state, rate = _tried(posterior, state, changed, drawn, log_ratio, random)
            rates[_kind(place, new)].append(rate[1])
            if rate[0]:
                place = new
        return state


def _tried(
    posterior: Posterior,
    state: ChainState,
    changed: Int[np.ndarray, " k"],
    drawn: Float[np.ndarray, " k"],
    log_proposal: float,
    random: np.random.Generator,
) -> tuple[ChainState, tuple[bool, float]]:
    """Accept other local coordinates of some variables, or not."""
    if not np.all(np.isfinite(drawn)):
        return state, (False, 0.0)
    proposal = state.position.copy()
    proposal[posterior.local[changed]] = drawn
    state, rate, accepted = metropolis(posterior, state, proposal, log_proposal, random)
    return state, (accepted, rate)


def _log_choice(place: int, others: int) -> float:
    """Log probability that this place is drawn, with so many other active candidates."""
    if place < 0:
        return 0.0 if others == 0 else math.log(NOTHING)
    return math.log((1.0 - NOTHING) / (others + 1))


def _kind(old: int, new: int) -> str:
    if old < 0:
        return "add_acceptance"
    if new < 0:
        return "delete_acceptance"
    return "resize_acceptance" if old == new else "exchange_acceptance"
