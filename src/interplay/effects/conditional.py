"""The posterior of effects and of the regression function, given draws of the hyperparameters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from interplay.inference.threads import SINGLE_THREAD, first_alone, release_memory, workers
from interplay.model.marginal import Engine, Factor
from interplay.model.pairscreen import PairScreen
from interplay.model.terms import Term, Terms, as_arrays
from interplay.model.variances import Variances
from interplay.precision import double_precision

Question = Literal["effects", "joint", "predict"]

TERMS, FEWEST = 4096, 64
"""Terms or rows at a time, which bounds the memory at O(n) for each of them; and the fewest that answers are
compiled for. Between these, they are compiled for powers of two only."""

PARTS, FACTORS = 8, 2**24
"""Parts that the draws are split into for the worker threads, or more: the factors of each take at most so
many bytes."""

Tree = TypeVar("Tree")


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
        asked = as_arrays(terms)
        return self.over_draws(
            lambda factors, variances: _answer(self.engine, factors, variances, asked, "joint")
        )

    @double_precision
    def predict(
        self, rows: Float[np.ndarray, "m d"]
    ) -> tuple[Float[np.ndarray, "s m"], Float[np.ndarray, "s m"]]:
        """Mean and standard deviation of the regression function at new rows, in each draw."""
        return self._in_parts("predict", rows, jnp.asarray)

    @double_precision
    def pair_screen(self) -> PairScreen | None:
        """Bounds on the interactions of all pairs; None where pairs are few."""
        return self.engine.pair_screen(self.variances, jnp.asarray(self.sigma), self.over_draws)

    def over_draws(self, answer: Callable[[Factor, Variances], Tree]) -> Tree:
        """What a function of stacks of draws gives for all of them, in threads; arrays come as NumPy's.

        Parameters
        ----------
        answer
            Takes the factors and the variances of some draws.
        """
        sigma = np.asarray(self.sigma)
        # Every part is of the same size, or functions would be compiled again: the last draw is repeated.
        size = self._part(len(sigma))
        places = np.minimum(np.arange(size * -(-len(sigma) // size)), len(sigma) - 1).reshape(-1, size)

        def one(part: int) -> Tree:
            some = jax.tree.map(lambda leaf: leaf[places[part]], self.variances)
            factors = _factorise(self.engine, some, sigma[places[part]])
            return jax.tree.map(np.asarray, answer(factors, some))

        with workers() as crew:
            parts = first_alone(crew, one, range(len(places)))
        release_memory()
        return jax.tree.map(lambda *leaves: np.concatenate(leaves)[: len(sigma)], *parts)

    def _part(self, draws: int) -> int:
        """Draws in a part."""
        first = jax.tree.map(lambda leaf: leaf[0], self.variances)
        shapes = jax.eval_shape(self.engine.factorise, first, jnp.asarray(self.sigma[0]))
        one = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(shapes))
        return max(1, min(-(-draws // PARTS), FACTORS // one))

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
        parts = []
        for start in range(0, len(asked), TERMS):
            part = asked[start : start + TERMS]
            ready_part = ready(_padded(part))
            answer = partial(_answer, self.engine, asked=ready_part, question=question)
            mean, variance = self.over_draws(answer)
            parts.append((mean[:, : len(part)], np.sqrt(variance[:, : len(part)])))
        if not parts:
            return np.zeros((len(self.sigma), 0)), np.zeros((len(self.sigma), 0))
        means, sds = zip(*parts, strict=True)
        return np.concatenate(means, axis=1), np.concatenate(sds, axis=1)


def _padded(asked: Sequence[Term] | np.ndarray) -> Sequence[Term] | np.ndarray:
    """Repeat the last one, up to a power of two."""
    size = max(FEWEST, 1 << (len(asked) - 1).bit_length())
    more = size - len(asked)
    if isinstance(asked, np.ndarray):
        return np.concatenate([asked, np.repeat(asked[-1:], more, axis=0)])
    return [*asked, *[asked[-1]] * more]


# Apart from the answers, which are compiled anew for other numbers of terms.
@partial(jax.jit, compiler_options=SINGLE_THREAD)
def _factorise(engine: Engine, variances: Variances, sigma: Array) -> Factor:
    return jax.lax.map(lambda draw: engine.factorise(*draw), (variances, sigma))


@partial(jax.jit, static_argnames="question", compiler_options=SINGLE_THREAD)
def _answer(
    engine: Engine, factors: Factor, variances: Variances, asked: Terms | Array, question: Question
) -> tuple[Array, Array]:
    return jax.lax.map(lambda draw: getattr(engine, question)(*draw, asked), (factors, variances))
