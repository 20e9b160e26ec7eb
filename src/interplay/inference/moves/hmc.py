"""Hamiltonian Monte Carlo with a jittered trajectory length and pooled adaptation.

Duane et al. (1987); Neal (2011), MCMC using Hamiltonian dynamics. Step size and metric are learned from all
chains together, and all chains take the same random number of steps, so that none waits for another.
"""

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from jaxtyping import Float, Int

from interplay.inference.moves.base import ChainState, Move, Randomness, Tuning, WarmUp
from interplay.inference.moves.metric import Metric, first_metric, learned_metric
from interplay.model.posterior import Posterior

FIRST_STEP = 0.1
LARGEST_STEP = 1.0

RELEARN = 10
"""Iterations of warm-up between two estimates of the metric."""

SETTLE = 25
"""Last iterations of warm-up, in which the step size settles; the metric is not learned in the last 15."""

DIVERGENT = 1000.0
"""Change of the energy from which a trajectory counts as divergent."""


@final
@dataclass(frozen=True, kw_only=True)
class HMC(Move):
    """Trajectories of a random length that is common to all chains.

    A leapfrog step is reversible and keeps volume whatever function of the position pushes it, so a
    trajectory may follow the gradient of a surrogate that is cheaper. The change of the exact energy decides:

        log a = log π(x') − log π(x) − ½ |p'|² + ½ |p|²

    Parameters
    ----------
    chains
        Number of chains.
    length
        Average length of a trajectory, in units of posterior standard deviations.
    acceptance
        Acceptance rate that the step size is tuned to.
    warmup
        Iterations in which step size and metric are learned.
    max_steps
        Most steps of a trajectory.
    """

    chains: int = 4
    length: float | int = 1.5
    acceptance: float = 0.8
    warmup: int = 100
    max_steps: int = 64

    def __post_init__(self) -> None:
        if self.chains < 2:
            raise ValueError(
                f"HMC(chains={self.chains}): expected 2 or more; convergence is judged by comparing chains."
            )
        if not 0.0 < self.acceptance < 1.0:
            raise ValueError(f"HMC(acceptance={self.acceptance}): expected a rate between 0 and 1.")
        if self.warmup < 0:
            raise ValueError(f"HMC(warmup={self.warmup}): expected 0 or more.")

    @property
    def name(self) -> str:
        """Short name."""
        return "hmc"

    @property
    def statistics(self) -> tuple[str, ...]:
        """Acceptance rate, whether the trajectory diverged, and its number of steps."""
        return "acceptance", "divergent", "steps"

    def begin(self, posterior: Posterior, positions: Float[np.ndarray, "c D"]) -> Tuning:
        """A small step, and a guess of the metric."""
        metric = first_metric(positions, posterior.local)
        return {"log_step": np.array(math.log(FIRST_STEP)), "log_steps": np.zeros(0), **metric.arrays()}

    def step(
        self, posterior: Posterior, tuning: Tuning, state: ChainState, random: Randomness
    ) -> tuple[ChainState, dict[str, float]]:
        """One trajectory, and its acceptance."""
        metric, size = Metric.from_arrays(tuning), math.exp(float(tuning["log_step"]))
        steps = math.ceil(2.0 * random.common.random() * self.length / size)
        steps = min(max(steps, 1), self.max_steps)
        surrogate = posterior.engine.has_surrogate and posterior.prior.has_local_scales
        gradient = state.gradient
        if gradient is None:
            gradient = posterior.gradient(state.position, surrogate=surrogate).gradient
        momentum = random.own.standard_normal(state.position.size)
        before = state.log_density - 0.5 * float(momentum @ momentum)

        x, p, force, value = state.position, momentum, metric.pull(gradient), state.log_density
        end = gradient
        for _ in range(steps):
            p = p + 0.5 * size * force
            x = x + size * metric.push(p)
            value, end = posterior.gradient(x, surrogate=surrogate)
            force = metric.pull(end)
            p = p + 0.5 * size * force
        if surrogate:
            value = posterior.log_density(x)
        # Far out a momentum may be too large to square; such an end is not accepted.
        with np.errstate(over="ignore", invalid="ignore"):
            log_ratio = value - 0.5 * float(p @ p) - before
        if math.isnan(log_ratio):
            log_ratio = -math.inf
        acceptance = math.exp(min(log_ratio, 0.0))
        record = {
            "acceptance": acceptance,
            "divergent": float(-log_ratio > DIVERGENT),
            "steps": float(steps),
        }
        if random.own.random() < acceptance:
            return replace(state, position=x, log_density=value, gradient=end), record
        return replace(state, gradient=gradient), record

    def adapt(self, tuning: Tuning, posterior: Posterior, warm_up: WarmUp) -> Tuning:
        """Correct the step size by the acceptance, and learn the metric again every few iterations.

        The gain falls to a third in the iterations after the metric was fixed, so that the step settles.
        """
        remaining = warm_up.remaining
        gain = 1.0 if remaining > SETTLE else 1.0 / 3.0 + 2.0 / 3.0 * remaining / SETTLE
        rate = float(np.mean(warm_up.statistics["acceptance"]))
        log_step = min(float(tuning["log_step"]) + gain * (rate - self.acceptance), math.log(LARGEST_STEP))
        settling = np.append(tuning["log_steps"], log_step) if remaining < SETTLE else np.zeros(0)
        metric = _relearned(Metric.from_arrays(tuning), posterior.local, warm_up)
        return {"log_step": np.array(log_step), "log_steps": settling, **metric.arrays()}

    def settle(self, tuning: Tuning) -> Tuning:
        """The mean of the last step sizes of warm-up."""
        last = tuning["log_steps"][-3:]
        log_step = np.array(np.mean(last)) if last.size else tuning["log_step"]
        return {**tuning, "log_step": log_step}


def _relearned(metric: Metric, local: Int[np.ndarray, " k"], warm_up: WarmUp) -> Metric:
    """The metric from the second half of the warm-up so far, or the one that there was."""
    done = len(warm_up.history)
    if done < 2 * RELEARN or done % RELEARN or warm_up.remaining < SETTLE - RELEARN:
        return metric
    late = warm_up.history[done // 2 :]
    return learned_metric(late.reshape(-1, late.shape[2]), local)
