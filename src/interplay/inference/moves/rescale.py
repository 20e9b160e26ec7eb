"""Joint rescaling of the global scale and all local ones."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

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
from interplay.inference.moves.local import Locals, log_prior
from interplay.model.posterior import Posterior

FIRST_STEP, LEAST_STEP, LARGEST_STEP = 0.3, 0.01, 2.0
WANTED = 0.35
"""Acceptance rate that the step is tuned to."""


@final
@dataclass(frozen=True)
class Rescale(Move):
    """Move the log of the global scale, and what hangs on it with it.

    Active variables keep their weight u; inactive ones keep their quantile among the inactive of the prior,
    that is arctan λ / arctan λ_edge. So the global scale is not tied to hundreds of local ones, in the spirit
    of interweaving (Yu and Meng 2011). With c the ratio of arctan λ_edge after and before,

        log a = log π(x') − log π(x) + Σ_{inactive} [log c + log p(l) − log p(l')]

    where p is the prior of l = log λ: the bracket is the log Jacobian of l'.

    Parameters
    ----------
    proposals
        Proposals in an iteration.
    """

    proposals: int = 2

    @property
    def name(self) -> str:
        """Short name."""
        return "rescale"

    @property
    def statistics(self) -> tuple[str, ...]:
        """Acceptance rate."""
        return ("rescale_acceptance",)

    def begin(self, posterior: Posterior, positions: Float[np.ndarray, "c D"]) -> Tuning:
        """A step of moderate size."""
        return {"log_step": np.array(math.log(FIRST_STEP))}

    def step(
        self, posterior: Posterior, tuning: Tuning, state: ChainState, random: Randomness
    ) -> tuple[ChainState, Record]:
        """Some proposals."""
        size, rates = math.exp(float(tuning["log_step"])), []
        for _ in range(self.proposals):
            state, rate = self._rescale(posterior, state, size * random.own.standard_normal(), random.own)
            rates.append(rate)
        return state, {"rescale_acceptance": float(np.mean(rates))}

    def adapt(self, tuning: Tuning, posterior: Posterior, warm_up: WarmUp) -> Tuning:
        """Correct the step by the acceptance."""
        rate = float(np.mean(warm_up.statistics["rescale_acceptance"]))
        log_step = float(tuning["log_step"]) + 0.6 * (rate - WANTED)
        return {"log_step": np.array(np.clip(log_step, math.log(LEAST_STEP), math.log(LARGEST_STEP)))}

    def settle(self, tuning: Tuning) -> Tuning:
        """As learned."""
        return tuning

    def _rescale(
        self, posterior: Posterior, state: ChainState, change: float, random: np.random.Generator
    ) -> tuple[ChainState, float]:
        state, _ = evaluated(posterior, state)
        proposal, log_jacobian = rescaled(posterior, state.position, change)
        if not np.all(np.isfinite(proposal)):
            return state, 0.0
        state, rate, _ = metropolis(posterior, state, proposal, log_jacobian, random)
        return state, rate


def rescaled(
    posterior: Posterior, x: Float[np.ndarray, " D"], change: float
) -> tuple[Float[np.ndarray, " D"], float]:
    """The position with the log of the global scale changed, and the log Jacobian."""
    before = Locals.at(posterior, x)
    proposal = x.copy()
    coordinate = posterior.family_count + int(np.argmax(before.scales.ratio_gradient))
    proposal[coordinate] += change
    active, local = before.active, before.values
    middle = Locals.at(posterior, proposal)
    shift = middle.scales.log_ratio - before.scales.log_ratio
    edge, new_edge = np.arctan(np.exp(before.edges)), np.arctan(np.exp(middle.edges))
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = np.log(np.tan(np.arctan(np.exp(local)) / edge * new_edge))
        # Where λ is tiny, arctan λ = λ, and the quantile of the smallest numbers is not lost.
        kept = np.where(local < -12.0, local + np.log(new_edge / edge), kept)
    new = np.where(active, local - shift, kept)
    proposal[posterior.local] = new
    out = ~active
    log_jacobian = np.log(new_edge / edge)[out] + log_prior(local[out]) - log_prior(new[out])
    return proposal, float(np.sum(log_jacobian))
