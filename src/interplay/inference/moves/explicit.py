"""A position with its explicit coefficients: what all moves in feature space begin with."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np
from jaxtyping import Float

from interplay.inference.moves.base import ChainState
from interplay.inference.moves.local import log_prior
from interplay.model.engines.coefficients import Coefficients, Incidence
from interplay.model.posterior import Posterior
from interplay.model.priors.base import LocalScales

COEFFICIENTS = "coefficients"
"""Name of the coefficients among what is sampled beside the position."""


@final
@dataclass(frozen=True, eq=False)
class Explicit:
    """The scales at a position, in terms of which the coefficients are independent and normal.

    Each variable has a log odds 2w of its share, s = 1/(1 + e^{−2w}), with w = log λ + log ratio.

    Parameters
    ----------
    coefficients
        What the rows say of the coefficients.
    scales
        How the local coordinates act.
    half_odds
        w of each variable, (p,).
    noise
        The common factor of the noise variances.
    """

    coefficients: Coefficients
    scales: LocalScales
    half_odds: Float[np.ndarray, " p"]
    noise: float

    @classmethod
    def at(cls, posterior: Posterior, x: Float[np.ndarray, " D"]) -> "Explicit":
        """The scales of a position."""
        u = x[: posterior.family_count]
        working = posterior.family.working(posterior.family.constrain(u), posterior.design)
        scales = posterior.local_scales(x)
        return cls(
            posterior.features.coefficients(working),
            scales,
            x[posterior.local] + scales.log_ratio,
            working.variance,
        )

    @property
    def incidence(self) -> Incidence:
        """Which variables each feature is made of."""
        return self.coefficients.incidence

    @cached_property
    def log_share(self) -> Float[np.ndarray, " p"]:
        """Log s of each variable."""
        return log_share(self.half_odds)

    @cached_property
    def log_variances(self) -> Float[np.ndarray, " D"]:
        """Log prior variance of each coefficient."""
        return self.incidence.log_variances(self.scales, self.log_share)

    def signals(self, log_variances: Float[np.ndarray, " D"]) -> Float[np.ndarray, " D"]:
        """S φᵀWφ / v of each feature: the signal-to-noise ratio that the prior expects of it."""
        return np.exp(log_variances) * (self.coefficients.norms / self.noise)


def log_share(half_odds: Float[np.ndarray, "*s"]) -> Float[np.ndarray, "*s"]:
    """Log of 1/(1 + e^{−2w})."""
    return -np.logaddexp(0.0, -2.0 * half_odds)


def with_coefficients(
    posterior: Posterior,
    explicit: Explicit,
    state: ChainState,
    theta: Float[np.ndarray, " D"],
    score: Float[np.ndarray, " D"],
) -> ChainState:
    """The state with other coefficients, and the joint log density of scales and coefficients.

    log p(x) + Σ_f log N(θ_f | 0, S_f) + log N(z | Φθ, v W⁻¹)
    """
    x, coefficients = state.position, explicit.coefficients
    statistics, log_variances = coefficients.statistics, explicit.log_variances
    value, _ = posterior.log_prior_and_factor(x[: posterior.family_count], x[posterior.family_count :])
    value -= 0.5 * (statistics.rows + theta.size) * math.log(2.0 * math.pi)
    value -= 0.5 * float(np.sum(log_variances) + theta**2 @ np.exp(-log_variances))
    value -= 0.5 * (statistics.rows * math.log(explicit.noise) - statistics.log_weights)
    value -= 0.5 * coefficients.squares(theta, score) / explicit.noise
    auxiliary = {**state.auxiliary, COEFFICIENTS: theta}
    return replace(state, log_density=value, auxiliary=auxiliary, score=score)


def log_prior_of_odds(half_odds: Float[np.ndarray, "*s"], log_ratio: float) -> Float[np.ndarray, "*s"]:
    """Log prior density of w, which is that of log λ = w − log ratio."""
    return log_prior(half_odds - log_ratio)


def score_of(explicit: Explicit, state: ChainState) -> Float[np.ndarray, " f"]:
    """ΦᵀW(z − Φθ) of a state, computed where it is not known."""
    if state.score is not None:
        return state.score
    return explicit.coefficients.score(state.auxiliary[COEFFICIENTS])
