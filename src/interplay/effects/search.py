"""The strongest of all pairs, found block by block, without ever holding p² numbers.

A bound on |mean|/sd that needs no factor passes over all pairs; the exact value is then computed for those
whose bound could place them among the strongest.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from interplay.data.design import Design
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.model.terms import Term
from interplay.precision import double_precision

BLOCK = 1024
"""Columns on each side of a block of pairs."""

CANDIDATES = 1000
"""Fewest pairs whose exact posterior is computed."""

By = Literal["ratio", "mean"]


@dataclass(frozen=True)
class _Ranked:
    """The best pairs so far, and the best score among those that were let go."""

    scores: Float[np.ndarray, " c"]
    pairs: Int[np.ndarray, "c 2"]
    let_go: float

    def add(self, scores: np.ndarray, pairs: np.ndarray, size: int) -> "_Ranked":
        scores = np.concatenate([self.scores, scores])
        pairs = np.concatenate([self.pairs, pairs])
        order = np.argsort(-scores, kind="stable")
        rest = float(scores[order[size]]) if len(order) > size else -np.inf
        kept = order[:size]
        return _Ranked(scores[kept], pairs[kept], max(self.let_go, rest))


@double_precision
def strongest_pairs(
    conditional: Conditional, design: Design, size: int, by: By = "ratio"
) -> tuple[list[Term], Mixture]:
    """The strongest interactions among all p(p−1)/2 pairs of variables, strongest first.

    Parameters
    ----------
    conditional
        Posterior given the draws.
    design
        The data.
    size
        How many are wanted.
    by
        `"ratio"`: by |mean|/sd of the mixture over the draws. `"mean"`: by |mean|.

    Returns
    -------
    terms, mixture
        The pairs, and their posteriors.
    """
    if by not in get_args(By):
        raise ValueError(f"by={by!r}: expected one of {', '.join(map(repr, get_args(By)))}.")
    if size < 1:
        raise ValueError(f"size={size!r}: expected how many pairs are wanted, at least 1.")
    candidates = max(CANDIDATES, 4 * size) if by == "ratio" else size
    while True:
        ranked = _pass_over(conditional, design, candidates, by)
        terms: list[Term] = [(int(i), int(j)) for i, j in ranked.pairs]
        mixture = Mixture(*conditional.effects(terms))
        scores = _score(np.abs(mixture.mean), mixture.sd) if by == "ratio" else np.abs(mixture.mean)
        best = np.argsort(-scores, kind="stable")[:size]
        # A pair that was let go has a bound of at most `let_go`: it cannot be stronger than these.
        if by == "mean" or len(best) < size or scores[best[-1]] >= ranked.let_go:
            return [terms[i] for i in best], Mixture(mixture.means[:, best], mixture.sds[:, best])
        candidates *= 8


def _pass_over(conditional: Conditional, design: Design, size: int, by: By) -> _Ranked:
    screen = conditional.engine.pair_screen(conditional.variances, jnp.asarray(conditional.sigma))
    ranked = _Ranked(np.zeros(0), np.zeros((0, 2), dtype=int), -np.inf)
    starts = range(0, design.d, BLOCK)
    for left in (np.arange(s, min(s + BLOCK, design.d)) for s in starts):
        for right in (np.arange(s, min(s + BLOCK, design.d)) for s in starts if s >= left[0]):
            mean, least_sd = (np.asarray(part) for part in screen(jnp.asarray(left), jnp.asarray(right)))
            scores = _score(np.abs(mean), least_sd) if by == "ratio" else np.abs(mean)
            i, j = np.nonzero(design.owner[left][:, None] < design.owner[right][None])
            scores = scores[i, j]
            keep = (
                np.argpartition(-scores, size)[: size + 1] if scores.size > size else np.arange(scores.size)
            )
            ranked = ranked.add(scores[keep], np.column_stack([left[i[keep]], right[j[keep]]]), size)
    return ranked


def _score(mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    return np.divide(mean, sd, out=np.zeros_like(mean), where=sd > 0)
