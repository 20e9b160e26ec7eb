"""Where chains start: at sets of variables that explain the response, found anew for each of them.

The posterior has a mode for many a set of variables, and a chain that starts where nothing is active may stay
there for thousands of iterations. So walkers first go over sets, with one common size of effects, where a
step costs one gradient; the chains start at the sets where walkers arrive, unless the evidence for a set is
negligible beside another's.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Key

from interplay.data.design import Design
from interplay.inference.target import Target
from interplay.inference.threads import SINGLE_THREAD, Workers
from interplay.model.variances import Variances

WALKERS = 16
STEPS = 150
"""Walkers over sets of variables, and the steps of each."""

CANDIDATES = 10
"""A step adds one of so many variables: those whose weight the likelihood would raise most."""

BY_SCREEN = 0.3
"""Share of steps that draw the newcomer from the screen through single pairs instead."""

NEGLIGIBLE = 25.0
"""Sets are no rivals of the best where their log evidence is so much lower."""

SCREEN_VARIANCE = 0.1
"""Prior variance of an effect, in units of the noise variance, for the Bayes factors of the screen."""

SCREEN_BLOCK = 512
"""Columns at a time in the screen."""

PRIOR_DRAWS = 32
"""Draws from a prior without sets, of which each chain takes the most probable."""

ADD, DROP, SWAP, SCALE = range(4)
KINDS = (ADD, SWAP, DROP, SWAP, SCALE)
"""What a walker tries, in turn."""


class Sketch(NamedTuple):
    """A set of variables with effects of one size, and what the likelihood says of it."""

    included: Bool[Array, " p"]
    log_size: Float[Array, ""]
    log_sigma: Float[Array, ""]
    log_evidence: Float[Array, ""]
    pull: Float[Array, " p"]


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
    for_sets, for_walks, for_spread = jax.random.split(key, 3)
    if not target.prior.selects:
        return _from_prior(target, jax.random.split(for_spread, chains))
    scores = jnp.asarray(screen(design))
    # A walker's first set is a draw without replacement from a flattened version of the scores.
    ranks = scores + 2.0 * jax.random.gumbel(for_sets, (WALKERS, target.p))
    keys = jax.random.split(for_walks, WALKERS)

    def one(walker: int) -> Sketch:
        return jax.block_until_ready(walk(target, ranks[walker], keys[walker], STEPS * effort))

    # The first goes alone: two threads would compile the same function twice.
    walked = [*workers(one, range(1)), *workers(one, range(1, WALKERS))]
    sketches = jax.tree.map(lambda *parts: jnp.stack(parts), *walked)
    evidence = np.asarray(sketches.log_evidence)
    order = np.argsort(-evidence, kind="stable")
    rivals = order[evidence[order] > evidence[order[0]] - NEGLIGIBLE]
    picked = jax.tree.map(lambda leaf: leaf[np.resize(rivals, chains)], sketches)
    return np.asarray(_spread(target, picked, jax.random.split(for_spread, chains)))


@partial(jax.jit, static_argnames="steps", compiler_options=SINGLE_THREAD)
def walk(target: Target, rank: Float[Array, " p"], key: Key[Array, ""], steps: int) -> Sketch:
    """Walk over sets of variables, from the first few by rank.

    A step adds, drops or swaps a variable or changes the sizes, and is taken with the ratio of evidences as
    its chance: log p(y | set, sizes), and the log prior odds for each variable beyond the expected number.
    """
    p, prior = target.p, target.prior
    expected = prior.expected(p)
    least = max(1, int(expected))
    log_odds = jnp.log(expected / (p - expected))

    def assess(included: Array, log_size: Array, log_sigma: Array) -> Sketch:
        sigma = jnp.exp(log_sigma)
        position = prior.place(included, jnp.exp(log_size), sigma, target.n, p)
        variances = prior.variances(prior.constrain(position, target.n, p), p)
        active = jnp.max(variances.weights)

        def likelihood(share: Float[Array, " p"]) -> Float[Array, ""]:
            weights = jnp.where(included, active, 0.0)[None] + active * share
            set_alone = Variances(variances.intercept, weights, variances.orders, variances.squares)
            return target.engine.log_likelihood(set_alone, sigma)

        value, pull = jax.value_and_grad(likelihood)(jnp.zeros(p))
        beyond = jnp.maximum(jnp.sum(included) - least, 0)
        return Sketch(included, log_size, log_sigma, value + log_odds * beyond, pull)

    def step(state: Sketch, inputs: tuple[Array, Array]) -> tuple[Sketch, None]:
        keys, kind = jax.random.split(inputs[0], 6), inputs[1]
        _, best = jax.lax.top_k(jnp.where(state.included, -jnp.inf, state.pull), min(CANDIDATES, p))
        newcomer = jnp.where(
            jax.random.uniform(keys[0]) < BY_SCREEN,
            jax.random.categorical(keys[1], jnp.where(state.included, -jnp.inf, rank)),
            best[jax.random.randint(keys[1], (), 0, best.size)],
        )
        leaver = jax.random.categorical(keys[2], jnp.where(state.included, 0.0, -jnp.inf))
        add = (kind == ADD) | (kind == SWAP)
        drop = (kind == SWAP) | ((kind == DROP) & (jnp.sum(state.included) > least))
        included = state.included.at[newcomer].max(add)
        included = included.at[leaver].min(~drop)
        change = jnp.where(kind == SCALE, jax.random.normal(keys[3], (2,)), 0.0)
        proposal = assess(included, state.log_size + 0.3 * change[0], state.log_sigma + 0.2 * change[1])
        chance = jnp.nan_to_num(proposal.log_evidence - state.log_evidence, nan=-jnp.inf)
        accept = jnp.log(jax.random.uniform(keys[4])) < chance
        return jax.tree.map(lambda new, old: jnp.where(accept, new, old), proposal, state), None

    first = jnp.zeros(p, dtype=bool).at[jnp.argsort(-rank)[:least]].set(True)
    begin = assess(first, jnp.zeros(()), jnp.log(0.6))
    kinds = jnp.array(KINDS)[jnp.arange(steps) % len(KINDS)]
    return jax.lax.scan(step, begin, (jax.random.split(key, steps), kinds))[0]


@jax.jit
def _spread(target: Target, sketches: Sketch, keys: Key[Array, " c"]) -> Float[Array, "c D"]:
    """Positions around the sketches: widely for variables outside the set, whose prior is wide."""

    def one(sketch: Sketch, key: Key[Array, ""]) -> Float[Array, " D"]:
        size, sigma = jnp.exp(sketch.log_size), jnp.exp(sketch.log_sigma)
        x = ravel_pytree(target.prior.place(sketch.included, size, sigma, target.n, target.p))[0]
        outside = jnp.tile(~sketch.included, len(target.locals) // target.p)
        wide = jnp.zeros(x.size, dtype=bool).at[target.locals].set(outside)
        return x + jnp.where(wide, 1.0, 0.3) * jax.random.normal(key, x.shape)

    return jax.vmap(one)(sketches, keys)


@jax.jit
def _prior_draws(target: Target, keys: Key[Array, " c"]) -> Float[Array, "c D"]:
    def one(key: Key[Array, ""]) -> Float[Array, " D"]:
        draw = jax.vmap(lambda k: ravel_pytree(target.prior.sample(k, target.n, target.p))[0])
        draws = draw(jax.random.split(key, PRIOR_DRAWS))
        return draws[jnp.argmax(jax.lax.map(target.log_density, draws))]

    return jax.lax.map(one, keys)


def _from_prior(target: Target, keys: Key[Array, " c"]) -> Float[np.ndarray, "c D"]:
    return np.asarray(_prior_draws(target, keys))


def screen(design: Design) -> Float[np.ndarray, " p"]:
    """How much each variable has to say, alone or in a pair: the log of a sum of Bayes factors.

    For a feature φ with z² = (φᵀy)² / (‖φ‖² var y) the factor against no effect, with a prior variance of v
    noise variances, is (1 + nv)^(-½) exp(½ z² nv / (1 + nv)). O(n p²), once.
    """
    X, y = design.X.astype(np.float32), design.y.astype(np.float32)
    squares = X**2
    information = design.n * SCREEN_VARIANCE

    def log_factor(product: np.ndarray, norm: np.ndarray) -> np.ndarray:
        z_sq = product**2 / np.maximum(norm * y.var(), 1e-12)
        return 0.5 * z_sq * information / (1.0 + information) - 0.5 * np.log1p(information)

    scores = log_factor(X.T @ y, squares.sum(axis=0))
    for start in range(0, design.d, SCREEN_BLOCK):
        block = slice(start, start + SCREEN_BLOCK)
        factors = log_factor((X[:, block] * y[:, None]).T @ X, squares[:, block].T @ squares)
        factors[design.owner[block, None] == design.owner] = -np.inf
        scores[block] = np.logaddexp(scores[block], np.logaddexp.reduce(factors, axis=1))
    best = np.full(design.p, -np.inf)
    np.maximum.at(best, design.owner, scores)
    return best
