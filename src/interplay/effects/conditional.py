"""The posterior of effects and of the linear predictor, given draws of the hyperparameters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float, Int

from interplay._support.parallel import workers
from interplay.model.engines.base import ConditionalPosterior, Engine
from interplay.model.families.base import Working
from interplay.model.terms import Term, as_arrays
from interplay.model.variances import Variances

BLOCK = 4096
"""Terms or rows at a time, which bounds the memory at O(n) for each of them."""

Moments = tuple[np.ndarray, np.ndarray]
Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class Conditional:
    """The Gaussian posterior of the coefficients given each of a stack of draws.

    A question factorises each draw once, and draws are worked on at the same time.

    Parameters
    ----------
    engine
        The data.
    variances
        Prior variances of each draw; every array has the draws as its first axis.
    working
        The rows given each draw.
    """

    engine: Engine
    variances: Variances
    working: Sequence[Working]

    def __len__(self) -> int:
        return len(self.working)

    def effects(self, terms: Sequence[Term]) -> tuple[Float[np.ndarray, "s t"], Float[np.ndarray, "s t"]]:
        """Mean and standard deviation of each term, in each draw."""
        self._check(terms)
        blocks = [as_arrays(terms[start : start + BLOCK]) for start in range(0, len(terms), BLOCK)]
        return self._marginal(lambda posterior: [posterior.effects(block) for block in blocks], len(terms))

    def joint(self, terms: Sequence[Term]) -> tuple[Float[np.ndarray, "s t"], Float[np.ndarray, "s t t"]]:
        """Mean and covariance of the terms together, in each draw."""
        return self.combinations(terms, np.eye(len(terms)))

    def combinations(
        self, terms: Sequence[Term], A: Float[np.ndarray, "q t"]
    ) -> tuple[Float[np.ndarray, "s q"], Float[np.ndarray, "s q q"]]:
        """Mean and covariance of linear combinations A θ of terms, in each draw."""
        self._check(terms)
        arrays = as_arrays(terms)
        moments = self.over_draws(lambda posterior: posterior.combinations(arrays, A))
        q = len(A)
        return _stacked([m and m[0] for m in moments], (q,)), _stacked([m and m[1] for m in moments], (q, q))

    def predict(
        self, rows: Float[np.ndarray, "m d"]
    ) -> tuple[Float[np.ndarray, "s m"], Float[np.ndarray, "s m"]]:
        """Mean and standard deviation of the linear predictor at new rows, in each draw."""
        blocks = [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]
        return self._marginal(lambda posterior: [posterior.predict(block) for block in blocks], len(rows))

    def leave_one_out(self) -> tuple[Float[np.ndarray, "s n"], Float[np.ndarray, "s n"]]:
        """Mean and variance of each row's working response given all other rows, in each draw."""
        moments = self.over_draws(lambda posterior: posterior.leave_one_out())
        shape = self.working[0].response.shape
        return _stacked([m and m[0] for m in moments], shape), _stacked([m and m[1] for m in moments], shape)

    def replicates(
        self, draws: Int[np.ndarray, " k"], random: np.random.Generator
    ) -> Float[np.ndarray, "k n"]:
        """A joint draw of the linear predictor at the data, given each of the listed draws."""
        # A stream for each replicate: the result does not depend on the order of the work.
        streams = random.spawn(len(draws))

        def replicate(k: int) -> np.ndarray | None:
            posterior = self.posterior(int(draws[k]))
            return None if posterior is None else posterior.replicate(streams[k])

        with workers() as apply:
            return _stacked(apply(replicate, range(len(draws))), self.working[0].response.shape)

    @property
    def duals(self) -> Float[np.ndarray, "s n"]:
        """α = (K + V)⁻¹ z of each draw, which questions in kernel space find on their way."""
        if not self._duals:
            duals = self.over_draws(lambda posterior: posterior.dual)
            self._duals[:] = [_stacked(duals, self.working[0].response.shape)]
        return self._duals[0]

    def over_draws(self, answer: Callable[[ConditionalPosterior], Answer]) -> list[Answer | None]:
        """What a function gives for the posterior of each draw; None where that is not defined."""
        wanted = not self._duals and not self.engine.has_coefficients

        def one(s: int) -> tuple[Answer, np.ndarray | None] | None:
            posterior = self.posterior(s)
            return None if posterior is None else (answer(posterior), posterior.dual if wanted else None)

        if not len(self):
            return []
        with workers() as apply:
            # The first draw alone, so that what the engine keeps of the rows is gathered once.
            found = [one(0), *apply(one, range(1, len(self)))]
        if wanted:
            shape = self.working[0].response.shape
            self._duals.append(_stacked([f and f[1] for f in found], shape))
        return [None if f is None else f[0] for f in found]

    def posterior(self, s: int) -> ConditionalPosterior | None:
        """The posterior given one draw; None where K + V is not positive definite to working precision."""
        try:
            return self.engine.condition(self.variances[s], self.working[s])
        except np.linalg.LinAlgError:
            return None

    @cached_property
    def _duals(self) -> list[Float[np.ndarray, "s n"]]:
        """Empty until the first question."""
        return []

    def _check(self, terms: Sequence[Term]) -> None:
        d = self.engine.layout.owner.shape[0]
        for term in terms:
            if any(not 0 <= column < d for column in term):
                raise ValueError(
                    f"The term {term} names a column outside 0 … {d - 1}. Find terms by name with"
                    " `interplay.model.terms.parse`."
                )

    def _marginal(
        self, answer: Callable[[ConditionalPosterior], list[Moments]], size: int
    ) -> tuple[Float[np.ndarray, "s t"], Float[np.ndarray, "s t"]]:
        """Means and standard deviations, of which the function gives means and variances in blocks."""
        means, sds = np.full((len(self), size), np.nan), np.full((len(self), size), np.nan)
        if size:
            for s, blocks in enumerate(self.over_draws(answer)):
                if blocks is not None:
                    means[s] = np.concatenate([block[0] for block in blocks])
                    sds[s] = np.sqrt(np.concatenate([block[1] for block in blocks]))
        return means, sds


def _stacked(parts: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Arrays of one shape as one, NaN where a draw has none: a mixture refuses it in words."""
    stack = np.full((len(parts), *shape), np.nan)
    for s, part in enumerate(parts):
        if part is not None:
            stack[s] = part
    return stack
