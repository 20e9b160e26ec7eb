"""Independence Metropolis of the inactive variables: many at once, each from its conditional law."""

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float, Int

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
from interplay.inference.moves.informed import signs, strongest, trace_evidence
from interplay.inference.moves.local import Locals, Tables, with_background
from interplay.model.posterior import Posterior

FIRST_BLOCKS = 2
MOST_BLOCKS = 64
"""Blocks that the variables are divided into, at first and at most."""

LOW, HIGH = 0.4, 0.65
"""Acceptance below which blocks become twice as many, and above which half as many."""


@final
@dataclass(frozen=True)
class Inactive(Move):
    """Draw all inactive variables of a random block anew, given that they stay inactive.

    Independence Metropolis (Tierney 1994). With all variables of the block at a background weight and all
    others as they are, tables q give about the conditional law of each. They do not depend on where the
    block is, so that they serve both directions:

        log a = log π(x') − log π(x) + Σ_i [log q_i(l_i) − log q_i(l_i')]

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
        """Twice as many blocks where few are accepted, half as many where most are."""
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
        locals_ = Locals.at(posterior, state.position)
        members = block[~locals_.active[block]]
        if not members.size:
            return state, 1.0
        partners = strongest(posterior, locals_.weights, np.flatnonzero(locals_.active))
        variances, working = posterior.model(with_background(posterior, state.position, members))
        resolvent = posterior.kernel.resolvent(variances, working, state.evaluation.factored)
        if resolvent is None:
            return state, 0.0
        evidence = trace_evidence(posterior, variances, resolvent, members, partners, probes)
        tables = Tables.of(evidence, locals_.scales, locals_.edges[members], inactive_only=True)
        drawn = tables.draw(np.zeros(members.size, dtype=bool), random)
        if not np.all(np.isfinite(drawn)):
            return state, 0.0
        proposal = state.position.copy()
        proposal[posterior.local[members]] = drawn
        log_proposal = float(np.sum(tables.log_density(locals_.values[members]) - tables.log_density(drawn)))
        state, rate, _ = metropolis(posterior, state, proposal, log_proposal, random)
        return state, rate
