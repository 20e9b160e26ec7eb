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
from interplay.effects.conditional import TERMS, Conditional
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


_NONE = _Ranked(np.zeros(0), np.zeros((0, 2), dtype=int), -np.inf)


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
        best = _exact(conditional, ranked, size, by)
        # A pair that was let go has a bound of at most `let_go`: it cannot be stronger than these.
        if by == "mean" or len(best.scores) < size or best.scores[-1] >= ranked.let_go:
            terms: list[Term] = [(int(i), int(j)) for i, j in best.pairs]
            return terms, Mixture(*conditional.effects(terms))
        candidates *= 8


def _exact(conditional: Conditional, ranked: _Ranked, size: int, by: By) -> _Ranked:
    """The best of the candidates, from the highest bound down until no other can be among them."""
    best = _NONE
    for start in range(0, len(ranked.scores), TERMS):
        if len(best.scores) == size and best.scores[-1] >= ranked.scores[start]:
            break
        pairs = ranked.pairs[start : start + TERMS]
        mixture = Mixture(*conditional.effects([(int(i), int(j)) for i, j in pairs]))
        best = best.add(_score(mixture.mean, mixture.sd, by), pairs, size)
    return best


def _pass_over(conditional: Conditional, design: Design, size: int, by: By) -> _Ranked:
    screen = conditional.engine.pair_screen(conditional.variances, jnp.asarray(conditional.sigma))
    ranked = _NONE
    blocks = np.split(_columns(design), np.arange(BLOCK, design.d, BLOCK))
    for position, left in enumerate(blocks):
        for right in blocks[position:]:
            mean, least_sd = (np.asarray(part) for part in screen(jnp.asarray(left), jnp.asarray(right)))
            scores = _score(mean, least_sd, by)
            i, j = np.nonzero(design.owner[left][:, None] < design.owner[right][None])
            scores = scores[i, j]
            keep = (
                np.argpartition(-scores, size)[: size + 1] if scores.size > size else np.arange(scores.size)
            )
            ranked = ranked.add(scores[keep], np.column_stack([left[i[keep]], right[j[keep]]]), size)
    return ranked


def _columns(design: Design) -> Int[np.ndarray, " c"]:
    """All columns but one of each factor of two levels: its effects mirror those of the other."""
    mirrored = {variable.start for variable in design.variables if len(variable.levels) == 2}
    return np.array([column for column in range(design.d) if column not in mirrored])


def _score(mean: np.ndarray, sd: np.ndarray, by: By) -> np.ndarray:
    if by == "mean":
        return np.abs(mean)
    return np.divide(np.abs(mean), sd, out=np.zeros_like(mean), where=sd > 0)
