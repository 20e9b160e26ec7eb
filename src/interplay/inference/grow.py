"""Sets of variables grown from the best pairs, one variable at a time: what walks over sets begin with.

A variable that acts in pairs alone adds nothing to a set without its partners, so a walk from a random set
may take for ever to find the first two or three that act together. Among many pairs some are right, and the
more of a set is right, the more do the next right variables stand out.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from interplay.inference.target import Target
from interplay.inference.threads import SINGLE_THREAD, Workers, first_alone
from interplay.inference.walk import Rows, appeal, assess, least, slots

FEWEST, MOST, ROWS = 128, 2048, 64
"""Sets that are grown side by side: the most up to so many rows, and fewer for more, as a set takes m³."""

NEWCOMERS = 32
"""Variables that a set may take in, the most appealing ones."""

CANDIDATES = 8
"""How many sets have their evidence worked out for each that goes on."""

PART = 64
"""Sets at a time, in one thread."""

LOG_SIZE, LOG_SIGMA = 0.5, (-0.1, -0.2, -0.35, -0.7)
"""Common size of effects, by which pairs have a third of the response's standard deviation; noise for sets of
two, three, four and more members."""

SIZES = (LOG_SIZE, LOG_SIGMA[-1])
"""Those of the sets as they are in the end."""


def width(rows: Rows) -> int:
    """How many sets are grown side by side."""
    return int(np.clip(MOST * (ROWS / rows.y.size) ** 3, FEWEST, MOST))


def grow(
    target: Target, rows: Rows, pairs: Int[np.ndarray, "b 2"], workers: Workers
) -> Int[np.ndarray, "b k"]:
    """Sets of as many variables as are expected, or of two, the best first; padded with p.

    In each round every set proposes to take in its most appealing variables. Of all sets that would come of
    it the most promising have their evidence worked out, as the appeal is only nearly what they would gain.
    Those with the largest evidence go on, as many as there are pairs.

    Parameters
    ----------
    target, rows
        The posterior, and the rows to look at.
    pairs
        Variables to begin with.
    workers
        Threads to use.
    """
    sets = np.full((len(pairs), slots(target)), target.p)
    if not len(pairs):
        return sets
    sets[:, :2] = pairs
    sets = _best(target, rows, sets, 2, workers)
    for size in range(2, least(target)):
        candidates = _candidates(target, rows, sets, size, workers)[: CANDIDATES * len(pairs)]
        sets = _best(target, rows, candidates, size + 1, workers)[: len(pairs)]
    return sets


def _best(
    target: Target, rows: Rows, sets: Int[np.ndarray, "b k"], size: int, workers: Workers
) -> Int[np.ndarray, "b k"]:
    """Sets of some size in the order of their evidence, the best first."""
    (evidence,) = _in_parts(partial(_evidence, target, rows, log_sigma=_noise(size)), sets, workers)
    return sets[np.argsort(-np.nan_to_num(evidence, nan=-np.inf), kind="stable")]


def _candidates(
    target: Target, rows: Rows, sets: Int[np.ndarray, "b k"], size: int, workers: Workers
) -> Int[np.ndarray, "c k"]:
    """What comes of sets of some size with one more variable, each once, the most promising first."""
    propose = partial(_propose, target, rows, log_sigma=_noise(size))
    promise, newcomers = _in_parts(propose, sets, workers)
    parent, rank = np.nonzero(np.isfinite(promise))
    grown = sets[parent]
    grown[:, size] = newcomers[parent, rank]
    grown = grown[np.argsort(-promise[parent, rank], kind="stable")]
    # The same set comes of several; it is kept where it comes first.
    _, first = np.unique(np.sort(grown, axis=1), axis=0, return_index=True)
    return grown[np.sort(first)]


def _noise(size: int) -> Float[Array, ""]:
    """Log σ for sets of some size."""
    return jnp.asarray(LOG_SIGMA[min(size - 2, len(LOG_SIGMA) - 1)])


def _in_parts(
    function: Callable[[Int[Array, "b k"]], tuple[Array, ...]],
    sets: Int[np.ndarray, "b k"],
    workers: Workers,
) -> list[np.ndarray]:
    """What a function gives for each of many sets."""
    # Every part is of the same size, or it would be compiled again: the last set is repeated.
    places = np.minimum(np.arange(PART * -(-len(sets) // PART)), len(sets) - 1).reshape(-1, PART)

    def one(part: int) -> tuple[np.ndarray, ...]:
        return tuple(np.asarray(leaf) for leaf in function(jnp.asarray(sets[places[part]])))

    parts = first_alone(workers, one, range(len(places)))
    return [np.concatenate(leaves)[: len(sets)] for leaves in zip(*parts, strict=True)]


@partial(jax.jit, compiler_options=SINGLE_THREAD)
def _evidence(
    target: Target, rows: Rows, sets: Int[Array, "b k"], log_sigma: Float[Array, ""]
) -> tuple[Float[Array, " b"]]:
    """Log evidence of each set."""

    def one(members: Int[Array, " k"]) -> Array:
        return assess(target, rows, members, jnp.asarray(LOG_SIZE), log_sigma).log_evidence

    return (jax.lax.map(one, sets),)


@partial(jax.jit, compiler_options=SINGLE_THREAD)
def _propose(
    target: Target, rows: Rows, sets: Int[Array, "b k"], log_sigma: Float[Array, ""]
) -> tuple[Float[Array, "b c"], Int[Array, "b c"]]:
    """Evidence that each set would have with its most appealing newcomers, as their appeal tells it."""

    def one(members: Int[Array, " k"]) -> tuple[Array, Array]:
        sketch = assess(target, rows, members, jnp.asarray(LOG_SIZE), log_sigma)
        gains, newcomers = jax.lax.top_k(appeal(target, rows, sketch), min(NEWCOMERS, target.p))
        return sketch.log_evidence + gains, newcomers

    return jax.lax.map(one, sets)
