"""Independence Metropolis of the inactive variables: many at once, each from its conditional law."""

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from jaxtyping import Float, Int

from interplay.inference.moves.base import ChainState, Move, Randomness, Record, Tuning, WarmUp, evaluated
from interplay.inference.moves.informed import signs, strongest, trace_evidence
from interplay.inference.moves.local import Locals, Tables
from interplay.model.posterior import Evaluation, Posterior

FIRST_BLOCKS = 2
MOST_BLOCKS = 64
"""Blocks that the variables are divided into, at first and at most."""

LOW, HIGH = 0.4, 0.85
"""Acceptance below which blocks become twice as many, and above which half as many."""


@final
@dataclass(frozen=True)
class Inactive(Move):
    """Draw all inactive variables of a random block anew, given that they stay inactive.

    Each comes from a table q of its conditional law given all others as they are at x (Tierney 1994, an
    independence proposal but for that). Tables at the proposal x' give the way back:

        log a = log π(x') − log π(x) + Σ_i [log q_i(l_i | x') − log q_i(l_i' | x)]

    The number of blocks is learned in warm-up.
    """

    @property
    def name(self) -> str:
        """Short name."""
        return "inactive"

    @property
    def statistics(self) -> tuple[str, ...]:
        """Acceptance rate over the blocks."""
        return ("inactive_acceptance",)

    def begin(self, posterior: Posterior, positions: Float[np.ndarray, "c D"]) -> Tuning:
        """A few blocks."""
        return {"blocks": np.array(float(min(FIRST_BLOCKS, posterior.local.size)))}

    def step(
        self, posterior: Posterior, tuning: Tuning, state: ChainState, random: Randomness
    ) -> tuple[ChainState, Record]:
        """One proposal for each block."""
        state, _ = evaluated(posterior, state)
        probes = signs(posterior.design.n, random.own)
        order = random.own.permutation(posterior.local.size)
        rates = []
        for block in np.array_split(order, int(tuning["blocks"])):
            state, rate = self._refresh(posterior, state, np.sort(block), probes, random.own)
            rates.append(rate)
        return state, {"inactive_acceptance": float(np.mean(rates))}

    def adapt(self, tuning: Tuning, posterior: Posterior, warm_up: WarmUp) -> Tuning:
        """Twice as many blocks where few are accepted, half as many where nearly all are."""
        rate, blocks = float(np.mean(warm_up.statistics["inactive_acceptance"])), float(tuning["blocks"])
        if rate < LOW:
            blocks = min(2.0 * blocks, MOST_BLOCKS, float(posterior.local.size))
        elif rate > HIGH:
            blocks = max(blocks // 2.0, 1.0)
        return {"blocks": np.array(blocks)}

    def settle(self, tuning: Tuning) -> Tuning:
        """As learned."""
        return tuning

    def _refresh(
        self,
        posterior: Posterior,
        state: ChainState,
        block: Int[np.ndarray, " b"],
        probes: Float[np.ndarray, "n s"],
        random: np.random.Generator,
    ) -> tuple[ChainState, float]:
        assert state.evaluation is not None
        x, locals_ = state.position, Locals.at(posterior, state.position)
        members = block[~locals_.active[block]]
        if not members.size:
            return state, 1.0
        partners = strongest(posterior, locals_.weights, np.flatnonzero(locals_.active))
        here = _tables(posterior, x, state.evaluation, members, partners, probes)
        drawn = here.draw(np.zeros(members.size, dtype=bool), random)
        proposal = x.copy()
        proposal[posterior.local[members]] = drawn
        if not np.all(np.isfinite(drawn)):
            return state, 0.0
        evaluation = posterior.evaluate(proposal, state.evaluation.factored)
        if not math.isfinite(evaluation.log_density):
            return state, 0.0
        there = _tables(posterior, proposal, evaluation, members, partners, probes)
        log_ratio = evaluation.log_density - state.evaluation.log_density
        log_ratio += float(np.sum(there.log_density(locals_.values[members]) - here.log_density(drawn)))
        rate = math.exp(min(log_ratio, 0.0))
        if random.random() < rate:
            state = replace(
                state, position=proposal, log_density=evaluation.log_density, evaluation=evaluation
            )
        return state, rate


def _tables(
    posterior: Posterior,
    x: Float[np.ndarray, " D"],
    evaluation: Evaluation,
    members: Int[np.ndarray, " b"],
    partners: Int[np.ndarray, " a"],
    probes: Float[np.ndarray, "n s"],
) -> Tables:
    """The laws of members given that they are inactive, at a position."""
    locals_, (variances, _) = Locals.at(posterior, x), posterior.model(x)
    evidence = trace_evidence(posterior, variances, evaluation.factored, members, partners, probes)
    return Tables.of(evidence, locals_.scales, locals_.edges[members], inactive_only=True)
