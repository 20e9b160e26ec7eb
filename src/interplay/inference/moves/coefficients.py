"""Draws of the coefficients given the scales: active ones from their law, negligible ones by a slice."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from interplay.inference.moves.base import ChainState, Move, Randomness, Record, Tuning, WarmUp
from interplay.inference.moves.elimination import Elimination
from interplay.inference.moves.explicit import COEFFICIENTS, Explicit, score_of, with_coefficients
from interplay.model.posterior import Posterior

ACTIVE = 0.3
"""Signal-to-noise ratio from which the coefficient of a feature is drawn together with the others."""

NEGLIGIBLE = 0.01
"""Signal-to-noise ratio below which coefficients are drawn together by a slice."""

MOST_SHRINKS = 50
"""Times that the bracket of a slice shrinks before the move gives up."""


@final
@dataclass(frozen=True)
class CoefficientDraw(Move):
    """Draw coefficients given the scales, in two groups that depend on the scales only.

    Negligible ones, S φᵀWφ/v < 0.01, by elliptical slice sampling (Murray, Adams and MacKay 2010). Then the
    intercept, the main effects and all features F with S φᵀWφ/v > 0.3 from their conditional law (Gibbs):

        θ_F = T (B⁻¹ T c_F/v + L⁻ᵀ ε),   T = S_F^½,  B = 1 + T P_FF T/v = L Lᵀ,  c = ΦᵀW(z − Φ_¬F θ_¬F)

    The others are drawn with their variables' scales. The law of the main effects given the scales and the
    coefficients outside F is what is recorded of an iteration: its means average to the posterior means.
    """

    @property
    def name(self) -> str:
        """Short name."""
        return "coefficients"

    @property
    def statistics(self) -> tuple[str, ...]:
        """Number of coefficients in F."""
        return ("active_coefficients",)

    def begin(self, posterior: Posterior, positions: Float[np.ndarray, "c D"]) -> Tuning:
        """There is nothing to learn."""
        return {}

    def start(self, posterior: Posterior, state: ChainState, random: np.random.Generator) -> ChainState:
        """All coefficients from their law given the scales."""
        explicit = Explicit.at(posterior, state.position)
        coefficients = explicit.coefficients
        statistics, noise = coefficients.statistics, explicit.noise
        root = np.exp(0.5 * explicit.log_variances)
        elimination = Elimination.of(statistics.gram, root, noise)
        theta = np.zeros(root.size)
        if elimination is not None:
            white = elimination.whitened((root * statistics.projection / noise)[None])
            theta = elimination.draw(white[0], random)
        return with_coefficients(posterior, explicit, state, theta, coefficients.score(theta))

    def step(
        self, posterior: Posterior, tuning: Tuning, state: ChainState, random: Randomness
    ) -> tuple[ChainState, Record]:
        """A slice, and a draw."""
        explicit = Explicit.at(posterior, state.position)
        coefficients, incidence, noise = explicit.coefficients, explicit.incidence, explicit.noise
        log_variances = explicit.log_variances
        signals = explicit.signals(log_variances)
        theta, score = state.auxiliary[COEFFICIENTS].copy(), score_of(explicit, state)
        drawn = signals > ACTIVE
        drawn[incidence.kind <= 1] = True
        theta, score = _slice(
            explicit, theta, score, log_variances, ~drawn & (signals < NEGLIGIBLE), random.own
        )
        members = np.flatnonzero(drawn)
        root = np.exp(0.5 * log_variances[members])
        gram = coefficients.gram(members)
        elimination = Elimination.of(gram, root, noise)
        d = incidence.mains.size
        if elimination is None:
            nothing = np.full(d, np.nan)
            return state, {"active_coefficients": 0.0, "main_mean": nothing, "main_sd": nothing}
        projection = score[members] + gram @ theta[members]
        white = elimination.whitened((root * projection / noise)[None])[0]
        mean = elimination.mean(white)
        theta[members] = elimination.draw(white, random.own)
        state = with_coefficients(posterior, explicit, state, theta, coefficients.score(theta))
        # The intercept comes first and the main effects after it, as the first members.
        directions = np.zeros((d, members.size))
        directions[:, 1 : d + 1] = posterior.features.main_directions
        record: Record = {
            "active_coefficients": float(members.size),
            "main_mean": directions @ mean,
            "main_sd": np.sqrt(elimination.variances(directions)),
        }
        return state, record

    def adapt(self, tuning: Tuning, posterior: Posterior, warm_up: WarmUp) -> Tuning:
        """There is nothing to learn."""
        return tuning

    def settle(self, tuning: Tuning) -> Tuning:
        """There is nothing to learn."""
        return tuning


def _slice(
    explicit: Explicit,
    theta: Float[np.ndarray, " D"],
    score: Float[np.ndarray, " D"],
    log_variances: Float[np.ndarray, " D"],
    some: np.ndarray,
    random: np.random.Generator,
) -> tuple[Float[np.ndarray, " D"], Float[np.ndarray, " D"]]:
    """Elliptical slice sampling of some coefficients: θ cos a + ν sin a with ν from the prior.

    The sum of squares is a quadratic form in cos a and sin a, so that the bracket shrinks at no cost.
    """
    members = np.flatnonzero(some)
    if not members.size:
        return theta, score
    both = np.zeros((theta.size, 2))
    both[members, 0] = theta[members]
    both[members, 1] = np.exp(0.5 * log_variances[members]) * random.standard_normal(members.size)
    products = explicit.coefficients.products(both)
    without = score + products[:, 0]
    linear, quadratic = both.T @ without, both.T @ products

    def log_likelihood(angle: float) -> float:
        at = np.array([math.cos(angle), math.sin(angle)])
        return float(at @ linear - 0.5 * at @ quadratic @ at) / explicit.noise

    level = log_likelihood(0.0) + math.log(random.random())
    angle = 2.0 * math.pi * random.random()
    low, high = angle - 2.0 * math.pi, angle
    for _ in range(MOST_SHRINKS):
        if log_likelihood(angle) > level:
            at = np.array([math.cos(angle), math.sin(angle)])
            moved = theta.copy()
            moved[members] = both[members] @ at
            return moved, without - products @ at
        low, high = (angle, high) if angle < 0 else (low, angle)
        angle = low + (high - low) * random.random()
    return theta, score
