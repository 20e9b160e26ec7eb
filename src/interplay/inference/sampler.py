"""How chains move: trajectories of a common random length, or NUTS as the reference."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, final

import blackjax
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from interplay.inference.metric import Metric
from interplay.inference.rivals import Rivals, propose_swap
from interplay.inference.target import Target
from interplay.inference.threads import SINGLE_THREAD
from interplay.model.trees import Leaf

CHUNK = 25
"""Most iterations of one call: draws are checked, and kept, after so many."""

Density = Callable[[Float[Array, " D"]], Float[Array, ""]]
HMCState = Any
"""BlackJAX's state of a chain."""


class Moved(NamedTuple):
    """What one iteration did.

    Parameters
    ----------
    acceptance
        The chance that where the trajectory ends was accepted, by all that is asked of it.
    by_energy
        The same by the change of energy along the trajectory alone, which the step size is tuned by.
    divergent, steps
        Whether it diverged; its number of steps.
    """

    acceptance: Float[Array, ""]
    by_energy: Float[Array, ""]
    divergent: Bool[Array, ""]
    steps: Int[Array, ""]


class Chain(NamedTuple):
    """Where a chain is: BlackJAX's state, which may follow a rough density, and the log density."""

    state: HMCState
    log_density: Float[Array, ""]


class Stretch(NamedTuple):
    """Iterations of a chain; what lies past the number asked for is not to be used."""

    positions: Leaf
    log_density: Leaf
    acceptance: Leaf
    by_energy: Leaf
    divergent: Leaf
    steps: Leaf


@final
@dataclass(frozen=True, kw_only=True)
class Lockstep:
    """Hamiltonian Monte Carlo with trajectories of a common, random length for all chains.

    Step size and metric are learned from all chains together, and no trajectory is cut short or wasted as in
    a tree of doublings. A trajectory follows the target's rough density where that is cheaper, and its end is
    then accepted by the density.

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

    reversible: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check(self)

    def move(
        self, density: Density, state: HMCState, common: Key[Array, ""], own: Key[Array, ""], step_size: Array
    ) -> tuple[HMCState, Moved]:
        """One iteration of a chain, with a random key common to all chains and one of its own."""
        steps = jnp.ceil(2.0 * jax.random.uniform(common) * self.length / step_size)
        steps = jnp.clip(steps, 1, self.max_steps).astype(int)
        mass = jnp.ones(state.position.size)
        state, info = _hmc(own, state, density, step_size, mass, steps)
        return state, _moved(info, steps)


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

    reversible: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check(self)

    def move(
        self, density: Density, state: HMCState, common: Key[Array, ""], own: Key[Array, ""], step_size: Array
    ) -> tuple[HMCState, Moved]:
        """One iteration of a chain, with a random key common to all chains and one of its own."""
        mass = jnp.ones(state.position.size)
        state, info = _nuts(own, state, density, step_size, mass, self.max_doublings)
        steps = jnp.asarray(info.num_integration_steps, dtype=int)
        return state, _moved(info, steps)


Sampler = Lockstep | NUTS


@partial(jax.jit, static_argnames="sampler", compiler_options=SINGLE_THREAD)
def advance(
    sampler: Sampler,
    target: Target,
    metric: Metric,
    rivals: Rivals,
    position: Float[Array, " D"],
    number: Int[Array, ""],
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
    position, number
        Where the chain is, and its number, which makes its random numbers its own.
    key
        Random key, the same for all chains.
    step_size
        Step of the integrator.
    iterations
        How many.
    """
    # A move that is reversible for one density can be corrected for another; NUTS follows the density.
    rough = sampler.reversible and target.has_rough

    def density(z: Float[Array, " D"]) -> Float[Array, ""]:
        return target.log_density(metric.forward(z))

    def followed(z: Float[Array, " D"]) -> Float[Array, ""]:
        return target.log_density(metric.forward(z), rough=rough)

    def at(z: Float[Array, " D"]) -> Chain:
        state = blackjax.hmc.init(z, followed)
        return Chain(state, density(z) if rough else state.logdensity)

    def iterate(i: Array, carry: tuple[Chain, Stretch]) -> tuple[Chain, Stretch]:
        chain, stretch = carry
        both = jax.random.fold_in(key, i)
        common = jax.random.fold_in(both, 0)
        for_move, for_swap, for_choice = jax.random.split(jax.random.fold_in(both, number + 1), 3)
        state, moved = sampler.move(followed, chain.state, common, for_move, step_size)
        if rough:
            chain, moved = _correct(density, chain, state, moved, for_choice)
        else:
            chain = Chain(state, state.logdensity)
        if rivals and target.prior.selects:
            chain = _swap(target, metric, rivals, at, chain, for_swap)
        row = Stretch(metric.forward(chain.state.position), chain.log_density, *moved)
        return chain, jax.tree.map(lambda rows, one: rows.at[i].set(one), stretch, row)

    empty = Stretch(
        positions=jnp.zeros((CHUNK, position.size)),
        log_density=jnp.zeros(CHUNK),
        acceptance=jnp.zeros(CHUNK),
        by_energy=jnp.zeros(CHUNK),
        divergent=jnp.zeros(CHUNK, dtype=bool),
        steps=jnp.zeros(CHUNK, dtype=int),
    )
    return jax.lax.fori_loop(0, iterations, iterate, (at(metric.inverse(position)), empty))[1]


def _correct(
    density: Density, old: Chain, new: HMCState, moved: Moved, key: Key[Array, ""]
) -> tuple[Chain, Moved]:
    """Accept the end of a trajectory that followed a rough density ρ by the density π.

    The move is reversible for ρ, so the rule of Metropolis and Hastings asks for π(x')/π(x) · ρ(x)/ρ(x').
    """
    stayed = jnp.all(new.position == old.state.position)
    log_density = jax.lax.cond(stayed, lambda: old.log_density, lambda: density(new.position))
    gain = log_density - old.log_density - (new.logdensity - old.state.logdensity)
    gain = jnp.where(jnp.isnan(gain), -jnp.inf, gain)
    chain = _chosen(gain, key, Chain(new, log_density), old)
    return chain, moved._replace(acceptance=moved.by_energy * jnp.exp(jnp.minimum(gain, 0.0)))


def _swap(
    target: Target,
    metric: Metric,
    rivals: Rivals,
    at: Callable[[Float[Array, " D"]], Chain],
    chain: Chain,
    key: Key[Array, ""],
) -> Chain:
    """One proposal to swap two rivals, accepted by the rule of Metropolis and Hastings."""
    for_pair, for_choice = jax.random.split(key)
    swapped, log_ratio = propose_swap(rivals, target, metric.forward(chain.state.position), for_pair)
    proposal = at(metric.inverse(swapped))
    gain = proposal.log_density - chain.log_density + log_ratio
    return _chosen(jnp.where(jnp.isnan(gain), -jnp.inf, gain), for_choice, proposal, chain)


def _chosen(gain: Float[Array, ""], key: Key[Array, ""], proposal: Chain, chain: Chain) -> Chain:
    accept = jnp.log(jax.random.uniform(key)) < gain
    return jax.tree.map(lambda new, old: jnp.where(accept, new, old), proposal, chain)


def _moved(info: Any, steps: Int[Array, ""]) -> Moved:
    acceptance = jnp.nan_to_num(info.acceptance_rate)
    return Moved(acceptance, acceptance, info.is_divergent, steps)


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
