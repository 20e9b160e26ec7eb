"""Hamiltonian Monte Carlo on the global coordinates and a random set of variables.

Duane et al. (1987); Neal (2011), MCMC using Hamiltonian dynamics. Which local coordinates move is drawn
anew for each trajectory, mostly those of active variables; the others enter by a matrix that is made once
for a trajectory, so that a gradient costs the same for any number of variables. Step size and metric are
learned from all chains together.
"""

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from jaxtyping import Float

from interplay.inference.moves.base import ChainState, Move, Randomness, Record, Tuning, WarmUp, evaluated
from interplay.inference.moves.held import HeldPosterior, WholePosterior
from interplay.inference.moves.metric import Metric
from interplay.model.posterior import Posterior

FIRST_STEP = 0.2
LARGEST_STEP = 1.2

SETTLE = 25
"""Last iterations of warm-up, in which the step size settles, and the metric is not learned."""

FORGET = (20, 50)
"""Iterations of warm-up after which the forces so far count for a fifth: chains were on their way then."""

DIVERGENT = 1000.0
"""Change of the energy from which a trajectory counts as divergent."""

LEAST_NOISE_SCALE = 0.15
"""First guess of the standard deviation of log σ, where n^−½ is not less."""


@final
@dataclass(frozen=True, kw_only=True)
class HMC(Move):
    """Trajectories of a random length, on the density of the coordinates that move, given all others.

    A leapfrog step is reversible and keeps volume whatever function of the position pushes it, so that
    forces may be in single precision. The change of the exact energy decides:

        log a = log π(x') − log π(x) + log p(H | x') − log p(H | x) + log |J'| − log |J| − ½ |p'|² + ½ |p|²

    with H the set of local coordinates that move, drawn with probability p(H | x), and J the Jacobian from
    the held weights κ² of the other variables to their local coordinates. Where a prior has no local scales,
    all coordinates move, and the terms of H and J are not there.

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
    acceptance: float = 0.75
    warmup: int = 100
    max_steps: int = 32

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
        scale = min(LEAST_NOISE_SCALE, posterior.design.n**-0.5)
        metric = Metric.first(posterior.dimension, posterior.local, scale)
        return {"log_step": np.array(math.log(FIRST_STEP)), "log_steps": np.zeros(0), **metric.arrays()}

    def step(
        self, posterior: Posterior, tuning: Tuning, state: ChainState, random: Randomness
    ) -> tuple[ChainState, Record]:
        """One trajectory, and its acceptance."""
        target: HeldPosterior | WholePosterior
        if posterior.prior.has_local_scales:
            state, _ = evaluated(posterior, state)
            target = HeldPosterior.drawn(posterior, state, random.own)
        else:
            target = WholePosterior(posterior)
        coordinates = target.coordinates
        root, size = Metric.from_arrays(tuning).root(coordinates), math.exp(float(tuning["log_step"]))
        steps = min(max(math.ceil(2.0 * random.common.random() * self.length / size), 1), self.max_steps)

        z, momentum = state.position[coordinates], random.own.standard_normal(coordinates.size)
        energy = 0.5 * float(momentum @ momentum)
        first = target.gradient(z)
        force, taken, p = first, 0, momentum
        while taken < steps:
            taken += 1
            p = p + 0.5 * size * (force @ root)
            z = z + size * (root @ p)
            force = target.gradient(z)
            if not np.any(force):
                break
            p = p + 0.5 * size * (force @ root)
        end = target.end(z) if np.any(force) else None
        # Far out a momentum may be too large to square; such an end is not accepted.
        with np.errstate(over="ignore", invalid="ignore"):
            log_ratio = -math.inf
            if end is not None:
                log_ratio = end.log_density - target.start(state) - 0.5 * float(p @ p) + energy
        if math.isnan(log_ratio):
            log_ratio = -math.inf
        acceptance = math.exp(min(log_ratio, 0.0))
        record: Record = {
            "acceptance": acceptance,
            "divergent": float(-log_ratio > DIVERGENT),
            "steps": float(taken),
            "coordinates": coordinates,
            "force": first,
        }
        if end is not None and random.own.random() < acceptance:
            return replace(state, **end.state), record
        return state, record

    def adapt(self, tuning: Tuning, posterior: Posterior, warm_up: WarmUp) -> Tuning:
        """Correct the step size by the acceptance, and learn the metric.

        The gain falls to a third in the iterations after the metric was fixed, so that the step settles.
        """
        remaining, done = warm_up.remaining, len(warm_up.history)
        gain = 1.0 if remaining > SETTLE else 1.0 / 3.0 + 2.0 / 3.0 * remaining / SETTLE
        rate = float(np.mean(warm_up.statistics["acceptance"]))
        log_step = min(float(tuning["log_step"]) + gain * (rate - self.acceptance), math.log(LARGEST_STEP))
        settling = np.append(tuning["log_steps"], log_step) if remaining < SETTLE else np.zeros(0)
        metric = Metric.from_arrays(tuning)
        if remaining >= SETTLE:
            metric = metric.learned(warm_up.lessons, posterior.local, 0.2 if done in FORGET else 1.0)
        return {"log_step": np.array(log_step), "log_steps": settling, **metric.arrays()}

    def settle(self, tuning: Tuning) -> Tuning:
        """The mean of the last step sizes of warm-up."""
        last = tuning["log_steps"][-3:]
        log_step = np.array(np.mean(last)) if last.size else tuning["log_step"]
        return {**tuning, "log_step": log_step}
