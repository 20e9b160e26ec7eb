"""The metric: a linear map that makes the posterior round, learned from draws of all chains together."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from interplay.inference.moves.base import Tuning

DENSE_LOCAL = 12
"""Local coordinates in the dense block, beside the global ones."""

PRIOR_DRAWS = 10
"""Weight of the guess, in draws, when a covariance is estimated."""


@dataclass(frozen=True, eq=False)
class Metric:
    """The map x = A z to the coordinates of the posterior, where A is diagonal but for one dense block.

    Parameters
    ----------
    scale
        Standard deviation of each coordinate, (D,).
    block
        Coordinates of the dense block, (b,).
    root
        Lower Cholesky factor of their covariance, (b, b).
    """

    scale: Float[np.ndarray, " D"]
    block: Int[np.ndarray, " b"]
    root: Float[np.ndarray, "b b"]

    @classmethod
    def from_arrays(cls, tuning: Tuning) -> "Metric":
        """The metric in a tuning."""
        return cls(tuning["scale"], tuning["block"], tuning["root"])

    def arrays(self) -> dict[str, np.ndarray]:
        """The metric as a part of a tuning."""
        return {"scale": self.scale, "block": self.block, "root": self.root}

    def push(self, z: Float[np.ndarray, " D"]) -> Float[np.ndarray, " D"]:
        """A z, from round coordinates to those of the posterior."""
        x = self.scale * z
        x[self.block] = self.root @ z[self.block]
        return x

    def pull(self, gradient: Float[np.ndarray, " D"]) -> Float[np.ndarray, " D"]:
        """Aᵀ g, the gradient in round coordinates."""
        force = self.scale * gradient
        force[self.block] = gradient[self.block] @ self.root
        return force


def first_metric(starts: Float[np.ndarray, "c D"], local: Int[np.ndarray, " k"]) -> Metric:
    """A guess before anything is known: half a unit for the coordinates of the block, which are logarithms.

    The others nearly follow their prior: the log of a half-Cauchy variable has a standard deviation of π/2.
    """
    block = _block(starts, local)
    scale = np.full(starts.shape[1], np.pi / 2)
    scale[block] = 0.5
    return Metric(scale, block, np.diag(scale[block]))


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
    return Metric(np.sqrt(variance), block, np.linalg.cholesky(covariance))


def _block(draws: Float[np.ndarray, "s D"], local: Int[np.ndarray, " k"]) -> Int[np.ndarray, " b"]:
    rest = np.setdiff1d(np.arange(draws.shape[1]), local)
    largest = local[np.argsort(-draws.mean(axis=0)[local], kind="stable")[:DENSE_LOCAL]]
    return np.concatenate([rest, largest])
