"""The posterior of effects and of the regression function, given draws of the hyperparameters."""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from interplay.model.marginal import Engine
from interplay.model.terms import Term, Terms, as_arrays
from interplay.model.variances import Variances
from interplay.precision import double_precision

TERMS = 4096
"""Terms or rows at a time, which bounds the memory at O(n) for each of them."""


@dataclass(frozen=True)
class Conditional:
    """The Gaussian posterior given one draw, or a stack of them.

    Parameters
    ----------
    engine
        The data, made ready.
    variances
        Prior variances of each draw; every array has the draws as its first axis.
    sigma
        Noise of each draw, (s,).
    """

    engine: Engine
    variances: Variances
    sigma: Float[Array, " s"] | Float[np.ndarray, " s"]

    @double_precision
    def effects(self, terms: Sequence[Term]) -> tuple[Float[np.ndarray, "s t"], Float[np.ndarray, "s t"]]:
        """Mean and standard deviation of each term, in each draw."""
        parts = [
            _effects(self.engine, self.variances, self.sigma, as_arrays(terms[start : start + TERMS]))
            for start in range(0, len(terms), TERMS)
        ]
        return _side_by_side(parts, len(self.sigma))

    @double_precision
    def joint(self, terms: Sequence[Term]) -> tuple[Float[np.ndarray, "s t"], Float[np.ndarray, "s t t"]]:
        """Mean and covariance of the terms together, in each draw."""
        mean, covariance = _joint(self.engine, self.variances, self.sigma, as_arrays(terms))
        return np.asarray(mean), np.asarray(covariance)

    @double_precision
    def predict(
        self, rows: Float[np.ndarray, "m d"]
    ) -> tuple[Float[np.ndarray, "s m"], Float[np.ndarray, "s m"]]:
        """Mean and standard deviation of the regression function at new rows, in each draw."""
        parts = [
            _predict(self.engine, self.variances, self.sigma, jnp.asarray(rows[start : start + TERMS]))
            for start in range(0, len(rows), TERMS)
        ]
        return _side_by_side(parts, len(self.sigma))


def _side_by_side(
    parts: list[tuple[Array, Array]], draws: int
) -> tuple[Float[np.ndarray, "s t"], Float[np.ndarray, "s t"]]:
    if not parts:
        return np.zeros((draws, 0)), np.zeros((draws, 0))
    means, variances = zip(*parts, strict=True)
    return np.concatenate(means, axis=1), np.sqrt(np.concatenate(variances, axis=1))


@jax.jit
def _effects(engine: Engine, variances: Variances, sigma: Array, terms: Terms) -> tuple[Array, Array]:
    def one(draw: tuple[Variances, Array]) -> tuple[Array, Array]:
        return engine.effects(engine.factorise(*draw), draw[0], terms)

    return jax.lax.map(one, (variances, sigma))


@jax.jit
def _joint(engine: Engine, variances: Variances, sigma: Array, terms: Terms) -> tuple[Array, Array]:
    def one(draw: tuple[Variances, Array]) -> tuple[Array, Array]:
        return engine.joint(engine.factorise(*draw), draw[0], terms)

    return jax.lax.map(one, (variances, sigma))


@jax.jit
def _predict(engine: Engine, variances: Variances, sigma: Array, rows: Array) -> tuple[Array, Array]:
    def one(draw: tuple[Variances, Array]) -> tuple[Array, Array]:
        return engine.predict(engine.factorise(*draw), draw[0], rows)

    return jax.lax.map(one, (variances, sigma))
