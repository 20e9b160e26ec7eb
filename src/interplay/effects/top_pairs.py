"""The strongest of all pairs, found block by block, without ever holding p² numbers.

Bounds that need no data but norms pass over all pairs; those whose bound could place them among the strongest
get a closer one, in O(n) a draw; and those whose closer one still could, the exact posterior.
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float, Int

from interplay.data.design import Design
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.effects.pair_bounds import PairBounds
from interplay.model.terms import Term

SIDE = 512
"""Columns on each side of a block of pairs in the first pass."""

LEAST_BOUNDED = 2**16
"""Fewest pairs that get a closer bound."""

LEAST_EXACT = 1000
"""Fewest pairs that get the exact posterior."""

BOUNDED_AT_A_TIME = 256
"""Pairs that get a closer bound together, before it is checked whether others still can matter."""

FIRST_EXACT = 256
"""Pairs that get the exact posterior first, before the same check; each time after it twice as many."""

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


@dataclass(frozen=True)
class _Exact:
    """The strongest pairs so far, strongest first, with their posteriors."""

    terms: list[Term]
    mixture: Mixture
    scores: Float[np.ndarray, " t"]

    def add(self, terms: list[Term], mixture: Mixture, size: int, by: By) -> "_Exact":
        terms = self.terms + terms
        scores = np.concatenate([self.scores, _score(mixture.mean, mixture.sd, by)])
        order = np.argsort(-scores, kind="stable")[:size]
        together = Mixture.joined(self.mixture, mixture).of(order)
        return _Exact([terms[k] for k in order], together, scores[order])


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
    if conditional.engine.has_coefficients:
        best = _exact(conditional, _all(design), size, by)
        return best.terms, best.mixture
    bounds = PairBounds(design.X, conditional)
    growth = 1
    while True:
        ranked = _pass_over(bounds, design, growth * max(LEAST_BOUNDED, 4 * size), by)
        ranked = _closer(bounds, ranked, growth * max(LEAST_EXACT, 4 * size), by)
        best = _exact(conditional, ranked, size, by)
        # A pair that was let go has a bound of at most `let_go`: it cannot be stronger than these.
        if len(best.scores) < size or best.scores[-1] >= ranked.let_go:
            return best.terms, best.mixture
        growth *= 8


def _pass_over(bounds: PairBounds, design: Design, size: int, by: By) -> _Ranked:
    """The pairs with the highest bounds."""
    ranked = _NONE
    blocks = np.split(_columns(design), np.arange(SIDE, design.d, SIDE))
    for position, left in enumerate(blocks):
        for right in blocks[position:]:
            mean, ratio = bounds.bounds(left, right)
            scores = mean if by == "mean" else ratio
            i, j = np.nonzero(design.owner[left][:, None] < design.owner[right][None])
            scores = scores[i, j]
            keep = (
                np.argpartition(-scores, size)[: size + 1] if scores.size > size else np.arange(scores.size)
            )
            ranked = ranked.add(scores[keep], np.column_stack([left[i[keep]], right[j[keep]]]), size)
    return ranked


def _closer(bounds: PairBounds, ranked: _Ranked, size: int, by: By) -> _Ranked:
    """The pairs with the highest closer bounds, which are no higher than those before."""
    best = replace(_NONE, let_go=ranked.let_go)
    for start in range(0, len(ranked.scores), BOUNDED_AT_A_TIME):
        if len(best.scores) == size and best.scores[-1] >= ranked.scores[start]:
            return replace(best, let_go=max(best.let_go, float(ranked.scores[start])))
        pairs = ranked.pairs[start : start + BOUNDED_AT_A_TIME]
        mean, least_sd = bounds.moments(pairs)
        best = best.add(_score(mean, least_sd, by), pairs, size)
    return best


def _exact(conditional: Conditional, ranked: _Ranked, size: int, by: By) -> _Exact:
    """The best of the candidates, from the highest bound down until no other can be among them."""
    nothing = np.zeros((len(conditional), 0))
    best = _Exact([], Mixture(nothing, nothing), np.zeros(0))
    done, count = 0, max(FIRST_EXACT, size)
    while done < len(ranked.scores):
        if len(best.scores) == size and best.scores[-1] >= ranked.scores[done]:
            break
        terms: list[Term] = [(int(i), int(j)) for i, j in ranked.pairs[done : done + count]]
        best = best.add(terms, Mixture(*conditional.effects(terms)), size, by)
        done, count = done + count, 2 * count
    return best


def _all(design: Design) -> _Ranked:
    columns = _columns(design)
    i, j = np.nonzero(design.owner[columns][:, None] < design.owner[columns][None])
    return _Ranked(np.full(len(i), np.inf), np.column_stack([columns[i], columns[j]]), -np.inf)


def _columns(design: Design) -> Int[np.ndarray, " c"]:
    """All columns but one of each factor of two levels: its effects mirror those of the other."""
    mirrored = {variable.start for variable in design.variables if len(variable.levels) == 2}
    return np.array([column for column in range(design.d) if column not in mirrored])


def _score(mean: np.ndarray, sd: np.ndarray, by: By) -> np.ndarray:
    if by == "mean":
        return np.abs(mean)
    return np.divide(np.abs(mean), sd, out=np.zeros_like(mean), where=sd > 0)
