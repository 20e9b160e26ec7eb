"""The metric: a linear map that makes the posterior round, learned from draws of all chains together."""

import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float, Int

from interplay.model.trees import Leaf, record

BLOCK = 12
"""Coordinates of single variables in the dense block, beside the global ones."""

PRIOR_DRAWS = 10
"""Weight of the guess, in draws, when a covariance is estimated."""


@record()
class Metric:
    """The map x = centre + A z, where A is diagonal but for one dense block.

    Parameters
    ----------
    centre, scale
        Mean and standard deviation of each coordinate, (D,).
    block
        Coordinates of the dense block, (b,).
    root
        Lower Cholesky factor of their covariance, (b, b).
    """

    centre: Leaf
    scale: Leaf
    block: Leaf
    root: Leaf

    def forward(self, z: Float[Array, " D"]) -> Float[Array, " D"]:
        """From round coordinates to those of the target."""
        return self.centre + (self.scale * z).at[self.block].set(self.root @ z[self.block])

    def inverse(self, x: Float[Array, " D"]) -> Float[Array, " D"]:
        """From the coordinates of the target to round ones."""
        centred = x - self.centre
        return (
            (centred / self.scale)
            .at[self.block]
            .set(solve_triangular(self.root, centred[self.block], lower=True))
        )


def first_metric(starts: Float[np.ndarray, "c D"], local: Int[np.ndarray, " k"]) -> Metric:
    """A guess before anything is known: half a unit for the coordinates of the block, which are logarithms.

    The others nearly follow their prior: the log of a half-Cauchy variable has a standard deviation of π/2.
    """
    block = _block(starts, local)
    scale = np.full(starts.shape[1], np.pi / 2)
    scale[block] = 0.5
    return Metric(
        jnp.asarray(starts.mean(axis=0)), jnp.asarray(scale), jnp.asarray(block), jnp.diag(scale[block])
    )


def learned_metric(draws: Float[np.ndarray, "s D"], local: Int[np.ndarray, " k"]) -> Metric:
    """Diagonal from all coordinates, dense over the global ones and the largest local ones.

    The largest log λ belong to the variables that matter, and only those are informed by the data: the
    others are nearly independent and follow their prior.
    """
    s = len(draws)
    variance = (s * draws.var(axis=0) + PRIOR_DRAWS * 1.0) / (s + PRIOR_DRAWS)
    block = _block(draws, local)
    within = np.cov(draws[:, block], rowvar=False, bias=True).reshape(block.size, block.size)
    guess = 2 * PRIOR_DRAWS
    covariance = (s * within + guess * np.diag(variance[block])) / (s + guess)
    return Metric(
        jnp.asarray(draws.mean(axis=0)),
        jnp.asarray(np.sqrt(variance)),
        jnp.asarray(block),
        jnp.asarray(np.linalg.cholesky(covariance)),
    )


def _block(draws: Float[np.ndarray, "s D"], local: Int[np.ndarray, " k"]) -> Int[np.ndarray, " b"]:
    rest = np.setdiff1d(np.arange(draws.shape[1]), local)
    largest = local[np.argsort(-draws.mean(axis=0)[local], kind="stable")[:BLOCK]]
    return np.concatenate([rest, largest])
