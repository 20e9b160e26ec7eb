"""The posterior of effects and of the regression function, given draws of the hyperparameters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from interplay.model.marginal import Engine
from interplay.model.terms import Term, Terms, as_arrays
from interplay.model.variances import Variances
from interplay.precision import double_precision

Question = Literal["effects", "joint", "predict"]

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
        self._check(terms)
        return self._in_parts("effects", terms, as_arrays)

    @double_precision
    def joint(self, terms: Sequence[Term]) -> tuple[Float[np.ndarray, "s t"], Float[np.ndarray, "s t t"]]:
        """Mean and covariance of the terms together, in each draw."""
        self._check(terms)
        mean, covariance = _answer(self.engine, self.variances, self.sigma, as_arrays(terms), "joint")
        return np.asarray(mean), np.asarray(covariance)

    @double_precision
    def predict(
        self, rows: Float[np.ndarray, "m d"]
    ) -> tuple[Float[np.ndarray, "s m"], Float[np.ndarray, "s m"]]:
        """Mean and standard deviation of the regression function at new rows, in each draw."""
        return self._in_parts("predict", rows, jnp.asarray)

    def _check(self, terms: Sequence[Term]) -> None:
        d = self.engine.layout.owner.shape[0]
        for term in terms:
            if any(not 0 <= column < d for column in term):
                raise ValueError(
                    f"The term {term} names a column outside 0 … {d - 1}. Find terms by name with"
                    " `interplay.model.terms.parse`."
                )

    def _in_parts(
        self, question: Question, asked: Sequence[Term] | np.ndarray, ready: Callable[[Any], Any]
    ) -> tuple[Float[np.ndarray, "s t"], Float[np.ndarray, "s t"]]:
        parts = [
            _answer(self.engine, self.variances, self.sigma, ready(asked[start : start + TERMS]), question)
            for start in range(0, len(asked), TERMS)
        ]
        if not parts:
            return np.zeros((len(self.sigma), 0)), np.zeros((len(self.sigma), 0))
        means, variances = zip(*parts, strict=True)
        return np.concatenate(means, axis=1), np.sqrt(np.concatenate(variances, axis=1))


@partial(jax.jit, static_argnames="question")
def _answer(
    engine: Engine, variances: Variances, sigma: Array, asked: Terms | Array, question: Question
) -> tuple[Array, Array]:
    def one(draw: tuple[Variances, Array]) -> tuple[Array, Array]:
        return getattr(engine, question)(engine.factorise(*draw), draw[0], asked)

    return jax.lax.map(one, (variances, sigma))
