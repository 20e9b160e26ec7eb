"""What trajectories move on: some coordinates of a posterior, with other variables' weights held."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from jaxtyping import Float, Int

from interplay.inference.moves.base import ChainState
from interplay.model.engines.kernel_space import HeldGram
from interplay.model.posterior import Evaluation, Posterior

LEAST_CHANCE, SPREAD = 0.005, 0.99
"""A variable moves with probability LEAST_CHANCE + SPREAD v²/(1 + v²), with v its signal-to-noise ratio."""

LARGEST_COORDINATE = 60.0
"""Beyond this, the log of anything is out of bounds, and a trajectory ends."""


class End(NamedTuple):
    """The end of a trajectory: its log density, all terms of the acceptance included, and the state there."""

    log_density: float
    state: dict[str, Any]


@final
@dataclass(frozen=True, eq=False)
class WholePosterior:
    """All coordinates of a posterior."""

    posterior: Posterior

    @property
    def coordinates(self) -> Int[np.ndarray, " h"]:
        """All of them."""
        return np.arange(self.posterior.dimension)

    def gradient(self, z: Float[np.ndarray, " h"]) -> Float[np.ndarray, " h"]:
        """The force; zero where the density is not defined."""
        return self.posterior.gradient(z).gradient

    def start(self, state: ChainState) -> float:
        """Log density at the start."""
        return state.log_density

    def end(self, z: Float[np.ndarray, " h"]) -> End:
        """Log density at the end."""
        value = self.posterior.log_density(z)
        return End(value, {"position": z, "log_density": value})


@final
@dataclass(frozen=True, eq=False)
class HeldPosterior:
    """The global coordinates and those of the variables in a set H, with κ² of all others held.

    κ² = u e^{−2ρ} / limit is a variable's weight relative to the global scale, ρ the log ratio of the local
    scales. Held variables keep their prior while the global scale moves; with s their share of the limit,

        l = log κ − ½ log(1 − s),    s = κ² e^{2ρ},    dl / d log κ = 1 / (1 − s)

    so that the density of the coordinates that move is π(x) p(H | x) Π_{i ∉ H} 1 / (1 − s_i).

    Parameters
    ----------
    posterior
        The model.
    position, evaluation
        Where the trajectory starts.
    moving
        Which local coordinates move, (k,).
    gram
        The likelihood with the others held.
    log_kappa
        Log κ² of those that are held.
    """

    posterior: Posterior
    position: Float[np.ndarray, " D"]
    evaluation: Evaluation
    moving: np.ndarray
    gram: HeldGram
    log_kappa: Float[np.ndarray, " f"]

    @classmethod
    def drawn(cls, posterior: Posterior, state: ChainState, random: np.random.Generator) -> "HeldPosterior":
        """With a set H drawn at a state."""
        assert state.evaluation is not None
        x = state.position
        scales = posterior.local_scales(x)
        local = x[posterior.local]
        chance = _chances(scales.log_weight(local) + posterior.log_gain(x))
        moving = random.random(local.size) < chance
        variables = np.zeros(posterior.p, dtype=bool)
        variables[posterior.local_variable[moving]] = True
        columns = np.flatnonzero(posterior.engine.layout.columns_of(variables))
        gram = posterior.kernel.hold(state.evaluation.factored, columns)
        log_kappa = scales.log_share(local[~moving]) - 2.0 * scales.log_ratio
        return cls(posterior, x, state.evaluation, moving, gram, log_kappa)

    @cached_property
    def coordinates(self) -> Int[np.ndarray, " h"]:
        """Coordinates that move: all global ones, then those of H."""
        posterior = self.posterior
        return np.concatenate(
            [np.arange(posterior.dimension - posterior.local.size), posterior.local[self.moving]]
        )

    @cached_property
    def _held(self) -> Int[np.ndarray, " f"]:
        """Local coordinates of the variables that are held."""
        return self.posterior.local[~self.moving]

    def position_of(self, z: Float[np.ndarray, " h"]) -> Float[np.ndarray, " D"] | None:
        """The whole position; None where a held weight would be past the limit."""
        if np.max(np.abs(z)) > LARGEST_COORDINATE:
            return None
        x = self.position.copy()
        x[self.coordinates] = z
        log_share = self.log_kappa + 2.0 * self.posterior.local_scales(x).log_ratio
        if np.any(log_share > -1e-9):
            return None
        x[self._held] = 0.5 * (self.log_kappa - np.log(-np.expm1(log_share)))
        return x

    def gradient(self, z: Float[np.ndarray, " h"]) -> Float[np.ndarray, " h"]:
        """The force; zero where the density is not defined."""
        posterior, x = self.posterior, self.position_of(z)
        if x is None:
            return np.zeros(z.size)
        density = posterior.gradient_of(x, self.gram.gradient)
        if not math.isfinite(density.value):
            return np.zeros(z.size)
        gradient = density.gradient
        scales, local = posterior.local_scales(x), x[posterior.local]
        count = posterior.dimension - local.size
        share = np.exp(scales.log_share(local))
        log_signal = scales.log_weight(local) + posterior.log_gain(x)
        # The prior of a held coordinate moves with ρ alone: dl/dρ = s/(1 − s), d −log(1 − s)/dρ = 2s/(1 − s).
        held = ~self.moving
        pulled = share[held] / (1.0 - share[held])
        by_ratio = float(pulled @ (2.0 - np.tanh(local[held])))
        # p(H | x): by log v of each variable, which goes with log u and against the log of the noise.
        by_signal = _chance_slopes(log_signal, self.moving)
        inside = by_signal[self.moving] * 2.0 * (1.0 - share[self.moving])
        by_ratio += float(inside.sum()) + 2.0 * float(by_signal[held].sum())
        total = float(by_signal.sum())
        force = gradient[self.coordinates]
        family = posterior.family_count
        force[:family] -= total * posterior.noise(x).gradient
        force[family:count] += by_ratio * scales.ratio_gradient + total * scales.limit_gradient
        force[count:] += inside
        return force

    def start(self, state: ChainState) -> float:
        """Log density at the start, with all terms of the acceptance."""
        return state.log_density + self._correction(self.position)

    def end(self, z: Float[np.ndarray, " h"]) -> End | None:
        """Log density at the end, with all terms of the acceptance."""
        x = self.position_of(z)
        if x is None:
            return None
        evaluation = self.posterior.evaluate(x, self.evaluation.factored)
        value = evaluation.log_density
        state = {"position": x, "log_density": value, "evaluation": evaluation}
        return End(value + self._correction(x), state)

    def _correction(self, x: Float[np.ndarray, " D"]) -> float:
        """Log p(H | x) − Σ log(1 − s) of the held variables."""
        scales, local = self.posterior.local_scales(x), x[self.posterior.local]
        chance = _chances(scales.log_weight(local) + self.posterior.log_gain(x))
        log_chance = np.where(self.moving, np.log(chance), np.log1p(-chance)).sum()
        return float(log_chance - np.sum(np.log1p(-np.exp(scales.log_share(local[~self.moving])))))


def _chances(log_signal: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
    """The probability that each local coordinate moves."""
    return LEAST_CHANCE + SPREAD / (1.0 + np.exp(-2.0 * log_signal))


def _chance_slopes(log_signal: Float[np.ndarray, " k"], moving: np.ndarray) -> Float[np.ndarray, " k"]:
    """The derivative of log p(H | x) by the log signal of each variable."""
    share = 1.0 / (1.0 + np.exp(-2.0 * log_signal))
    slope = SPREAD * 2.0 * share * (1.0 - share)
    chance = LEAST_CHANCE + SPREAD * share
    return np.where(moving, slope / chance, -slope / (1.0 - chance))
