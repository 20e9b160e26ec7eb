"""All scales given the coefficients, and of weak variables given standardised ones, in turn."""

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from jaxtyping import Float

from interplay.inference.moves.base import ChainState, Move, Randomness, Record, Tuning, WarmUp
from interplay.inference.moves.centred import ByVariable, CentredTarget
from interplay.inference.moves.explicit import COEFFICIENTS, Explicit, score_of, with_coefficients
from interplay.inference.moves.noncentred import move_weak
from interplay.model.posterior import Posterior

WEAK = 3.0
"""Signal-to-noise ratio below which a feature counts as faint, and of its main effect, a variable as weak."""

FIRST_STEP, LEAST_STEP, LARGEST_STEP = 0.3, 1e-3, 1.2

MOST_POSITIONS = 32
"""Positions that the average of a ratio is taken over."""

LONGEST = 1.6
"""Length of a trajectory, in conditional standard deviations."""

MOST_STEPS = 12
"""Most steps of a trajectory."""

GUESSED = 20.0
"""Weight of the first guess of the metric, in forces."""

GLOBAL_SCALE = 0.2
"""First guess of the conditional standard deviation of a global coordinate."""

LARGEST_FORCE = 20.0
"""Components of a force are cut here, in units of the guess: a start far out must not decide the metric."""

FORGET = (10, 25, 50)
"""Iterations of warm-up after which the forces so far are forgotten: chains were on their way then."""

SETTLE = 25
"""Last iterations of warm-up, in which the step size settles, and the metric is not learned."""

DIVERGENT = 1000.0
"""Change of the energy from which a trajectory counts as divergent."""


@final
@dataclass(frozen=True)
class InterwovenScales(Move):
    """Move all scales given the coefficients by HMC, and weak scales with their coefficients, in turn.

    Yu and Meng (2011), To center or not to center: strong effects determine their scales at given
    coefficients, weak ones at given standardised coefficients. The first costs O(D) a gradient whatever the
    number of rows, the second one product with ΦᵀWΦ. A trajectory (Duane et al. 1987) is accepted with

        log a = log π(x', θ) − log π(x, θ) − ½ |p'|² + ½ |p|²

    and its metric is the mean outer product of forces, the precision of the scales given the coefficients.

    Parameters
    ----------
    acceptance
        Acceptance rate that the step size is tuned to.
    rounds
        Number of moves of weak scales, each between trajectories.
    trajectories
        Trajectories in a row.
    """

    acceptance: float = 0.75
    rounds: int = 1
    trajectories: int = 2

    @property
    def name(self) -> str:
        """Short name."""
        return "hmc"

    @property
    def statistics(self) -> tuple[str, ...]:
        """Acceptance rate, share of trajectories that diverged, gradients, how often weak scales moved."""
        return "acceptance", "divergent", "steps", "weak_acceptance"

    def begin(self, posterior: Posterior, positions: Float[np.ndarray, "c D"]) -> Tuning:
        """A small step, a guess of the metric, and the variables that are weak at the start."""
        dimension = posterior.dimension
        guess = np.full(dimension, GLOBAL_SCALE)
        guess[: posterior.family_count] = (2.0 * posterior.design.n) ** -0.5
        _, working = posterior.model(positions[0])
        incidence = posterior.features.coefficients(working).incidence
        guess[posterior.local] = (2.0 * incidence.memberships) ** -0.5
        tuning = {
            "log_step": np.array(math.log(FIRST_STEP)),
            "log_steps": np.zeros(0),
            "guess": guess,
            "sums": np.zeros((dimension, dimension)),
            "count": np.array(0.0),
            **_faint(posterior, positions),
        }
        return {**tuning, "root": _root(tuning)}

    def step(
        self, posterior: Posterior, tuning: Tuning, state: ChainState, random: Randomness
    ) -> tuple[ChainState, Record]:
        """Trajectories, and moves of weak scales between them."""
        explicit = Explicit.at(posterior, state.position)
        x, theta, score = state.position, state.auxiliary[COEFFICIENTS], score_of(explicit, state)
        weak, faint = tuning["weak"] > 0, tuning["faint"] > 0
        rates, forces, steps, diverged, weak_rates = [], [], 0, [], []
        for number in range(self.rounds + 1):
            if number and np.any(faint):
                x, theta, score, rate = move_weak(posterior, x, theta, score, weak, faint, random.own)
                weak_rates.append(rate)
            target = CentredTarget(
                posterior,
                explicit.incidence,
                ByVariable.of(explicit.incidence, theta),
                explicit.coefficients.squares(theta, score),
                explicit.coefficients.statistics.rows,
            )
            walk = _walk(target, x, tuning, self.trajectories, random.own)
            x = walk.position
            rates.append(walk.rate)
            forces.append(walk.force)
            steps += walk.steps
            diverged.append(walk.diverged)
        moved = replace(state, position=x)
        state = with_coefficients(posterior, Explicit.at(posterior, x), moved, theta, score)
        return state, {
            "acceptance": float(np.mean(rates)),
            "divergent": float(np.mean(diverged)),
            "steps": float(steps),
            "weak_acceptance": float(np.mean(weak_rates)) if weak_rates else math.nan,
            "forces": np.stack(forces),
        }

    def adapt(self, tuning: Tuning, posterior: Posterior, warm_up: WarmUp) -> Tuning:
        """Correct the step by the acceptance; learn the metric, and which variables are weak."""
        remaining, done = warm_up.remaining, len(warm_up.history)
        gain = 1.0 if remaining > SETTLE else 1.0 / 3.0 + 2.0 / 3.0 * remaining / SETTLE
        rate = float(np.mean(warm_up.statistics["acceptance"]))
        log_step = float(tuning["log_step"]) + gain * (rate - self.acceptance)
        log_step = float(np.clip(log_step, math.log(LEAST_STEP), math.log(LARGEST_STEP)))
        settling = np.append(tuning["log_steps"], log_step) if remaining < SETTLE else np.zeros(0)
        changed: dict[str, np.ndarray] = {"log_step": np.array(log_step), "log_steps": settling}
        if remaining >= SETTLE:
            keep = 0.0 if done in FORGET else 1.0
            forces = np.concatenate([lesson["forces"] for lesson in warm_up.lessons])
            limit = LARGEST_FORCE / tuning["guess"]
            forces = np.clip(forces, -limit, limit)
            changed["sums"] = keep * tuning["sums"] + forces.T @ forces
            changed["count"] = keep * tuning["count"] + len(forces)
            recent = warm_up.history[-max(done // 2, 1) :]
            changed |= _faint(posterior, recent.reshape(-1, recent.shape[-1]))
            changed["root"] = _root({**tuning, **changed})
        return {**tuning, **changed}

    def settle(self, tuning: Tuning) -> Tuning:
        """The mean of the last step sizes of warm-up."""
        last = tuning["log_steps"][-3:]
        return {**tuning, "log_step": np.array(np.mean(last)) if last.size else tuning["log_step"]}


@dataclass(frozen=True, eq=False)
class _Walk:
    position: Float[np.ndarray, " D"]
    force: Float[np.ndarray, " D"]
    rate: float
    steps: int
    diverged: float


def _walk(
    target: CentredTarget,
    x: Float[np.ndarray, " D"],
    tuning: Tuning,
    trajectories: int,
    random: np.random.Generator,
) -> _Walk:
    """Some trajectories, of random lengths and with steps that vary a little."""
    root, size = tuning["root"], math.exp(float(tuning["log_step"]))
    z = target.place(x)
    density = target.density(z)
    first, rates, taken, diverged = density.gradient, 0.0, 0, 0.0
    for _ in range(trajectories):
        h = size * random.uniform(0.7, 1.2)
        steps = min(max(math.ceil(2.0 * LONGEST * random.random() / h), 1), MOST_STEPS)
        p = random.standard_normal(z.size)
        energy = density.value - 0.5 * float(p @ p)
        end, y = density, z
        for _ in range(steps):
            p = p + 0.5 * h * (end.gradient @ root)
            y = y + h * (root @ p)
            end = target.density(y)
            taken += 1
            if not math.isfinite(end.value):
                break
            p = p + 0.5 * h * (end.gradient @ root)
        log_ratio = end.value - 0.5 * float(p @ p) - energy if math.isfinite(end.value) else -math.inf
        rate = math.exp(min(log_ratio, 0.0)) if not math.isnan(log_ratio) else 0.0
        rates += rate / trajectories
        diverged += (not -log_ratio < DIVERGENT) / trajectories
        if random.random() < rate:
            z, density = y, end
    return _Walk(target.position(z), first, rates, taken, diverged)


def _faint(posterior: Posterior, positions: Float[np.ndarray, "s D"]) -> dict[str, np.ndarray]:
    """Features, and variables by their main effects, with a small average signal-to-noise ratio."""
    total, thinned = np.zeros(1), positions[:: max(len(positions) // MOST_POSITIONS, 1)]
    for x in thinned:
        explicit = Explicit.at(posterior, x)
        incidence = explicit.incidence
        total = total + explicit.log_variances + np.log(explicit.coefficients.norms / explicit.noise)
    faint = total / len(thinned) < math.log(WEAK)
    # Of a factor the columns share the weight: it is weak where all of them are.
    strong = np.bincount(
        incidence.places[incidence.mains, 0], weights=~faint[incidence.mains], minlength=posterior.p
    )
    return {"weak": (strong == 0).astype(float), "faint": faint.astype(float)}


def _root(tuning: Tuning) -> Float[np.ndarray, "D D"]:
    """A with A Aᵀ the inverse of the mean outer product of forces."""
    precision = (tuning["sums"] + GUESSED * np.diag(tuning["guess"] ** -2.0)) / (tuning["count"] + GUESSED)
    values, vectors = np.linalg.eigh(precision)
    return vectors / np.sqrt(values)
