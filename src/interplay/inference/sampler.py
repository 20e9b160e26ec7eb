"""How chains move: trajectories of a common random length, or NUTS as the reference."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple, final

import blackjax
import jax
import jax.numpy as jnp
from blackjax.mcmc.hmc import HMCState
from blackjax.mcmc.integrators import IntegratorState, velocity_verlet
from jaxtyping import Array, Bool, Float, Int, Key

from interplay.inference.metric import Metric
from interplay.inference.rivals import Rivals, propose_swap
from interplay.inference.target import Target
from interplay.inference.threads import SINGLE_THREAD
from interplay.model.trees import Leaf

CHUNK = 25
"""Most iterations of one call: draws are checked, and kept, after so many."""

SWAPS = 8
"""Proposals to swap two rivals in an iteration; one where the density takes far longer than the rough one."""

Density = Callable[[Float[Array, " D"]], Float[Array, ""]]
Integrator = Callable[[IntegratorState, Array], IntegratorState]
"""From a state of a trajectory and a step size to the next."""


class Moved(NamedTuple):
    """What one iteration did."""

    acceptance: Float[Array, ""]
    divergent: Bool[Array, ""]
    steps: Int[Array, ""]


class Densities(NamedTuple):
    """The log density, and the one whose gradient a trajectory follows: the same, or a rough one."""

    exact: Density
    followed: Density


class Stretch(NamedTuple):
    """Iterations of a chain; what lies past the number asked for is not to be used."""

    positions: Leaf
    log_density: Leaf
    acceptance: Leaf
    divergent: Leaf
    steps: Leaf


@final
@dataclass(frozen=True, kw_only=True)
class Lockstep:
    """Hamiltonian Monte Carlo with trajectories of a common, random length for all chains.

    Step size and metric are learned from all chains together, and no trajectory is cut short or wasted as in
    a tree of doublings. A trajectory follows the target's rough density where that is cheaper, and its end is
    accepted by the density.

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

    may_be_rough: ClassVar[bool] = True
    lead: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check(self)

    def move(
        self,
        densities: Densities,
        state: HMCState,
        common: Key[Array, ""],
        own: Key[Array, ""],
        step_size: Array,
    ) -> tuple[HMCState, Moved]:
        """One iteration of a chain, with a random key common to all chains and one of its own.

        A step size of 0 finds the density and its gradient where the chain is, and does nothing else.
        """
        steps = jnp.ceil(2.0 * jax.random.uniform(common) * self.length / step_size)
        steps = jnp.where(step_size > 0, jnp.clip(steps, 1, self.max_steps), 1).astype(int)
        mass = jnp.ones(state.position.size)
        if densities.followed is densities.exact:
            state, info = _hmc(own, state, densities.exact, step_size, mass, steps)
        else:
            # To BlackJAX the whole trajectory is one step.
            kernel = blackjax.hmc.build_kernel(_rough_trajectory(densities, steps))
            state, info = kernel(own, state, densities.exact, step_size, mass, 1)
        return state, Moved(jnp.nan_to_num(info.acceptance_rate), info.is_divergent, steps)


@final
@dataclass(frozen=True, kw_only=True)
class NUTS:
    """The No-U-Turn sampler, as a reference: each chain chooses the length of each trajectory.

    Parameters
    ----------
    chains
        Number of chains.
    acceptance
        Acceptance rate that the step size is tuned to.
    warmup
        Iterations in which step size and metric are learned.
    max_doublings
        Most doublings of a trajectory.
    """

    chains: int = 4
    acceptance: float = 0.8
    warmup: int = 100
    max_doublings: int = 8

    may_be_rough: ClassVar[bool] = False
    lead: ClassVar[int] = 0

    def __post_init__(self) -> None:
        _check(self)

    def move(
        self,
        densities: Densities,
        state: HMCState,
        common: Key[Array, ""],
        own: Key[Array, ""],
        step_size: Array,
    ) -> tuple[HMCState, Moved]:
        """One iteration of a chain, with a random key common to all chains and one of its own."""
        mass = jnp.ones(state.position.size)
        state, info = _nuts(own, state, densities.exact, step_size, mass, self.max_doublings)
        steps = jnp.asarray(info.num_integration_steps, dtype=int)
        return state, Moved(jnp.nan_to_num(info.acceptance_rate), info.is_divergent, steps)


Sampler = Lockstep | NUTS


@partial(jax.jit, static_argnames="sampler", compiler_options=SINGLE_THREAD)
def advance(
    sampler: Sampler,
    target: Target,
    metric: Metric,
    rivals: Rivals,
    position: Float[Array, " D"],
    chain: Int[Array, ""],
    key: Key[Array, ""],
    step_size: Float[Array, ""],
    iterations: Int[Array, ""],
) -> Stretch:
    """Move a chain for some iterations, at most `CHUNK`.

    Parameters
    ----------
    sampler
        How to move.
    target, metric, rivals
        The posterior, the map that makes it round, and the variables to swap.
    position, chain
        Where the chain is, and its number, which makes its random numbers its own.
    key
        Random key, the same for all chains.
    step_size
        Step of the integrator.
    iterations
        How many.
    """
    rough = sampler.may_be_rough and target.has_rough

    def exact(z: Float[Array, " D"]) -> Float[Array, ""]:
        return target.log_density(metric.forward(z))

    def near(z: Float[Array, " D"]) -> Float[Array, ""]:
        return target.log_density(metric.forward(z), rough=True)

    densities = Densities(exact, near if rough else exact)

    # A gradient of its own where a chain begins would be compiled beside the one of its trajectories, and
    # take as long again: so an iteration of step size 0 leads, which accepts where it is.
    lead = sampler.lead
    z = metric.inverse(position)
    first = HMCState(z, -jnp.asarray(jnp.inf), jnp.zeros_like(z)) if lead else blackjax.hmc.init(z, exact)

    def iterate(i: Array, carry: tuple[HMCState, Stretch]) -> tuple[HMCState, Stretch]:
        state, stretch = carry
        both = jax.random.fold_in(key, i - lead)
        common = jax.random.fold_in(both, 0)
        for_move, for_swap = jax.random.split(jax.random.fold_in(both, chain + 1))
        state, moved = sampler.move(densities, state, common, for_move, jnp.where(i < lead, 0.0, step_size))
        if rivals and target.prior.selects:
            state = _swaps(target, metric, rivals, densities, state, for_swap, 1 if rough else SWAPS)
        row = Stretch(metric.forward(state.position), state.logdensity, *moved)
        return state, jax.tree.map(lambda rows, one: rows.at[i].set(one), stretch, row)

    rows = CHUNK + lead
    empty = Stretch(
        positions=jnp.zeros((rows, position.size)),
        log_density=jnp.zeros(rows),
        acceptance=jnp.zeros(rows),
        divergent=jnp.zeros(rows, dtype=bool),
        steps=jnp.zeros(rows, dtype=int),
    )
    stretch = jax.lax.fori_loop(0, iterations + lead, iterate, (first, empty))[1]
    return jax.tree.map(lambda leaf: leaf[lead:], stretch)


def _rough_trajectory(densities: Densities, steps: Int[Array, ""]) -> Callable[..., Integrator]:
    """All steps of a trajectory as one, along the followed density, with the exact one at its end.

    A leapfrog step is reversible and keeps volume whatever function of the position pushes it, so the change
    of the exact energy decides whether the end is accepted (Metropolis and Hastings).
    """

    def build(_: Density, kinetic_energy: Callable[..., Array]) -> Integrator:
        step = velocity_verlet(densities.followed, kinetic_energy)

        def trajectory(begin: IntegratorState, step_size: Array) -> IntegratorState:
            end = jax.lax.fori_loop(0, steps, lambda _, state: step(state, step_size), begin)
            return end._replace(logdensity=densities.exact(end.position))

        return trajectory

    return build


def _swaps(
    target: Target,
    metric: Metric,
    rivals: Rivals,
    densities: Densities,
    state: HMCState,
    key: Key[Array, ""],
    count: int,
) -> HMCState:
    """Proposals to swap two rivals, each accepted by the rule of Metropolis and Hastings.

    They need densities alone, and only what comes of them all needs a gradient.
    """

    def one(k: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        z, value = carry
        for_pair, for_choice = jax.random.split(jax.random.fold_in(key, k))
        swapped, log_ratio = propose_swap(rivals, target, metric.forward(z), for_pair)
        proposal = metric.inverse(swapped)
        found = densities.exact(proposal)
        gain = found - value + log_ratio
        accept = jnp.log(jax.random.uniform(for_choice)) < jnp.where(jnp.isnan(gain), -jnp.inf, gain)
        return jnp.where(accept, proposal, z), jnp.where(accept, found, value)

    z, value = jax.lax.fori_loop(0, count, one, (state.position, state.logdensity))
    return jax.lax.cond(
        jnp.any(z != state.position),
        lambda: blackjax.hmc.init(z, densities.followed)._replace(logdensity=value),
        lambda: state,
    )


def _check(sampler: Sampler) -> None:
    name = type(sampler).__name__
    if sampler.chains < 2:
        raise ValueError(
            f"{name}(chains={sampler.chains}): expected 2 or more; convergence is judged by comparing chains."
        )
    if not 0.0 < sampler.acceptance < 1.0:
        raise ValueError(f"{name}(acceptance={sampler.acceptance}): expected a rate between 0 and 1.")
    if sampler.warmup < 0:
        raise ValueError(f"{name}(warmup={sampler.warmup}): expected 0 or more.")


_hmc = blackjax.hmc.build_kernel()
_nuts = blackjax.nuts.build_kernel()
