"""Collapsed draws of the local scales: one variable at a time, with what competes with it integrated out."""

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from interplay.inference.moves.base import ChainState, Move, Randomness, Record, Tuning, WarmUp
from interplay.inference.moves.sweep import Sweep
from interplay.model.posterior import Posterior


@final
@dataclass(frozen=True)
class CollapsedDraw(Move):
    """Draw the local scale of each variable together with all coefficients of its features.

    For variable i, let o be the features without i that have S φᵀWφ/v > 2.5, which does not depend on the
    scale of i. With the coefficients of o and of i's features integrated out (a partially collapsed Gibbs
    sampler, van Dyk and Park 2008), the likelihood of that scale is a sum over the eigenvalues of a small
    matrix, `ShareLaw`. The scale is proposed from a table and accepted exactly, and the coefficients follow.
    Features of i that are faint even at the largest weight keep their standardised coefficients.
    Rivals for the same signal come and go together, as none of them is held.
    """

    @property
    def name(self) -> str:
        """Short name."""
        return "collapsed"

    @property
    def statistics(self) -> tuple[str, ...]:
        """Acceptance rate of the tables."""
        return ("collapsed_acceptance",)

    def begin(self, posterior: Posterior, positions: Float[np.ndarray, "c D"]) -> Tuning:
        """There is nothing to learn."""
        return {}

    def step(
        self, posterior: Posterior, tuning: Tuning, state: ChainState, random: Randomness
    ) -> tuple[ChainState, Record]:
        """One draw for each variable, in random order."""
        sweep = Sweep.of(posterior, state)
        order = random.own.permutation(posterior.p).tolist()
        rates = [sweep.draw(variable, random.own) for variable in order]
        return sweep.state(posterior, state), {"collapsed_acceptance": float(np.mean(rates))}

    def adapt(self, tuning: Tuning, posterior: Posterior, warm_up: WarmUp) -> Tuning:
        """There is nothing to learn."""
        return tuning

    def settle(self, tuning: Tuning) -> Tuning:
        """There is nothing to learn."""
        return tuning
