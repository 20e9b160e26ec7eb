"""Where chains start: at sets of variables that explain the response, found anew for each of them.

The posterior has a mode for many a set of variables, and a chain that starts where nothing is active may stay
there for thousands of iterations. So small sets are first grown from pairs, and walkers go on from the best
of them and from others. The chains start at the sets where walkers arrive, unless the evidence for a set is
negligible beside another's.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, Key

from interplay.data.design import Design
from interplay.inference.grow import SIZES as GROWN_SIZES
from interplay.inference.grow import grow, width
from interplay.inference.screen import screen
from interplay.inference.target import Target
from interplay.inference.threads import Workers, first_alone
from interplay.inference.walk import Sketch, least, slots, some_rows, walk

WALKERS, MOST_STEPS = 16, 300
"""Walkers over sets of variables, and the most steps of each."""

GROWN = 8
"""How many of them begin at the best sets that were grown."""

SIZES = (0.0, -0.5)
"""Log size of effects and log σ that the others begin with."""

STEPS, STEPS_FOR_EACH = 40, 5
"""Steps where there are few variables, and further ones for each of them."""

NEGLIGIBLE = 25.0
"""Sets are no rivals of the best where their log evidence is so much lower."""

PRIOR_DRAWS = 32
"""Draws from a prior without sets, of which each chain takes the most probable."""


def starts(
    design: Design, target: Target, key: Key[Array, ""], chains: int, effort: int, workers: Workers
) -> Float[np.ndarray, "c D"]:
    """One start for each chain, spread over all sets that are rivals.

    Parameters
    ----------
    design, target
        The data and the posterior.
    key
        Random key.
    chains
        Number of chains.
    effort
        Multiple of the usual number of steps.
    workers
        Threads to use.
    """
    for_sets, for_walks, for_spread, for_rows = jax.random.split(key, 4)
    if not target.prior.selects:
        return np.asarray(_from_prior(target, jax.random.split(for_spread, chains)))
    rows = some_rows(design, for_rows)
    screened = screen(design, effort * width(rows))
    grown = grow(target, rows, screened.pairs, workers)[:GROWN]
    first, sizes = _beginnings(target, screened.scores, grown, for_sets)
    keys = jax.random.split(for_walks, WALKERS)
    steps = effort * walk_length(target.p)

    def one(walker: int) -> Sketch:
        return jax.tree.map(np.asarray, walk(target, rows, first[walker], sizes[walker], keys[walker], steps))

    walked = first_alone(workers, one, range(WALKERS))
    sketches = jax.tree.map(lambda *parts: np.stack(parts), *walked)
    evidence = sketches.log_evidence
    order = np.argsort(-evidence, kind="stable")
    rivals = order[evidence[order] > evidence[order[0]] - NEGLIGIBLE]
    picked = jax.tree.map(lambda leaf: leaf[np.resize(rivals, chains)], sketches)
    return np.asarray(_spread(target, picked, jax.random.split(for_spread, chains)))


def walk_length(p: int) -> int:
    """Steps of a walker, at the usual effort."""
    return min(STEPS + STEPS_FOR_EACH * p, MOST_STEPS)


def _beginnings(
    target: Target, scores: Float[np.ndarray, " p"], grown: Int[np.ndarray, "b k"], key: Key[Array, ""]
) -> tuple[Int[Array, "w k"], Float[Array, "w 2"]]:
    """Where walkers begin, sets and sizes: the first at sets that were grown, the others at random ones."""
    # A draw without replacement from a flattened version of the scores.
    ranks = jnp.asarray(scores) + 2.0 * jax.random.gumbel(key, (WALKERS, target.p))
    chosen = jnp.argsort(-ranks, axis=1)[:, : least(target)]
    first = jnp.pad(chosen, ((0, 0), (0, slots(target) - least(target))), constant_values=target.p)
    sizes = jnp.tile(jnp.array(SIZES), (WALKERS, 1))
    k = len(grown)
    return first.at[:k].set(grown), sizes.at[:k].set(jnp.array(GROWN_SIZES))


@jax.jit
def _spread(target: Target, sketches: Sketch, keys: Key[Array, " c"]) -> Float[Array, "c D"]:
    """Positions around the sketches: widely for variables outside the set, whose prior is wide."""

    def one(sketch: Sketch, key: Key[Array, ""]) -> Float[Array, " D"]:
        size, sigma = jnp.exp(sketch.log_size), jnp.exp(sketch.log_sigma)
        included = jnp.zeros(target.p + 1, dtype=bool).at[sketch.members].set(True)[: target.p]
        x = ravel_pytree(target.prior.place(included, size, sigma, target.n, target.p))[0]
        outside = jnp.tile(~included, len(target.locals) // target.p)
        wide = jnp.zeros(x.size, dtype=bool).at[target.locals].set(outside)
        return x + jnp.where(wide, 1.0, 0.3) * jax.random.normal(key, x.shape)

    return jax.vmap(one)(sketches, keys)


@jax.jit
def _from_prior(target: Target, keys: Key[Array, " c"]) -> Float[Array, "c D"]:
    def one(key: Key[Array, ""]) -> Float[Array, " D"]:
        draw = jax.vmap(lambda k: ravel_pytree(target.prior.sample(k, target.n, target.p))[0])
        draws = draw(jax.random.split(key, PRIOR_DRAWS))
        return draws[jnp.argmax(jax.lax.map(target.log_density, draws))]

    return jax.lax.map(one, keys)
