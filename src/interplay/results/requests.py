"""Which effects a request means, and their posteriors, each worked out once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Bool

from interplay.data.design import Design
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.effects.selection import FDR_CAP, Rule, select
from interplay.effects.top_pairs import strongest_pairs
from interplay.model.terms import Term, interactions, is_square, mains, parse, quadratics
from interplay.results.effect_store import EffectStore

MATTER, MOST = 0.2, 20
"""A variable matters if an effect of its own has at most this lfsr; of these the surest, at most so many."""

STRONGEST, SEARCHED, MOST_STRONGEST = 20, 160, 5120
"""Pairs that are reported from the search through all, at least; searched for at first; and at most."""

ALL_PAIRS, MANY_PAIRS = 5000, 1000
"""The request "pairs" is every pair where there are no more than the first; else the strongest, so many."""

Labels = Sequence[str | tuple[str, ...]]
"""Terms in words, as `interplay.model.terms.parse` reads them."""


@dataclass(frozen=True)
class Posterior:
    """Terms, and the posterior of each."""

    terms: list[Term]
    mixture: Mixture


@dataclass(frozen=True, eq=False)
class Requests:
    """Posteriors by request.

    Parameters
    ----------
    design
        The data.
    quadratic
        Whether the prior has quadratic effects.
    conditional
        Posterior given the draws.
    store
        What was worked out before.
    """

    design: Design
    quadratic: bool
    conditional: Conditional
    store: EffectStore = field(default_factory=EffectStore)

    def posterior(self, request: str | Labels | None, rule: Rule) -> Posterior:
        """What `interplay.results.fit.Fit.effects` describes."""
        match request:
            case None:
                return joined(self._usual, self._paper_pairs) if rule == "paper" else self._usual
            case "mains":
                return _subset(self._own, [len(term) == 1 for term in self._own.terms])
            case "quadratic":
                return _subset(self._own, [is_square(term) for term in self._own.terms])
            case "pairs":
                return self._pairs()
            case str():
                return self.exact(self.parsed([request]))
        return self.exact(self.parsed(request))

    def exact(self, terms: list[Term]) -> Posterior:
        """Posterior of the given terms."""
        new = self.store.missing(terms)
        if new:
            self.store.add(new, Mixture(*self.conditional.effects(new)))
        return Posterior(terms, self.store.mixture(terms, len(self.conditional)))

    def strongest(self, size: int) -> Posterior:
        """Posterior of the strongest of all pairs."""
        if size < 1:
            raise ValueError(f"size={size!r}: expected how many pairs are wanted, at least 1.")
        # A search costs the same for one pair and for many, so a wider one is kept and cut.
        searches = self.store.searches
        searched = min((wide for wide in searches if wide >= size), default=max(size, SEARCHED))
        if searched not in searches:
            terms, mixture = strongest_pairs(self.conditional, self.design, searched)
            self.store.add(terms, mixture)
            searches[searched] = terms
        return self.exact(searches[searched][:size])

    def with_mains(self, posterior: Posterior) -> Posterior:
        """Add the main effects of the columns in interactions and squares, where they are absent."""
        present = {term[0] for term in posterior.terms if len(term) == 1}
        needed = {column for term in posterior.terms if len(term) > 1 for column in term}
        return joined(posterior, self.exact([(column,) for column in sorted(needed - present)]))

    def parsed(self, labels: Labels) -> list[Term]:
        """The terms of the labels, each once."""
        return list(dict.fromkeys(term for text in labels for term in parse(text, self.design)))

    @cached_property
    def _own(self) -> Posterior:
        """Main and quadratic effects."""
        return self.exact([*mains(self.design), *(quadratics(self.design) if self.quadratic else [])])

    @cached_property
    def _usual(self) -> Posterior:
        """Main and quadratic effects, pairs among the variables that matter, and the strongest pairs."""
        terms, lfsr = self._own.terms, self._own.mixture.lfsr
        surest = [terms[k][0] for k in np.argsort(lfsr, kind="stable") if lfsr[k] <= MATTER]
        matter = list(dict.fromkeys(int(self.design.owner[column]) for column in surest))[:MOST]
        # As many as a rule could select, and then as many again that it could not.
        size = SEARCHED
        while (possible := _selectable(self.strongest(size))) > size / 2 and size < MOST_STRONGEST:
            size *= 2
        strong = self.strongest(max(STRONGEST, min(2 * possible, size)))
        present = set(strong.terms)
        among = [pair for pair in interactions(self.design, matter) if pair not in present]
        return joined(self._own, strong, self.exact(among))

    @cached_property
    def _paper_pairs(self) -> Posterior:
        """Pairs among the main effects that the paper's rule selects, beside the usual ones."""
        own = self.posterior("mains", "paper")
        chosen = select(own.mixture, "paper")
        columns = {term[0] for term, kept in zip(own.terms, chosen, strict=True) if kept}
        pairs = interactions(self.design, {int(self.design.owner[column]) for column in columns})
        present = set(self._usual.terms)
        return self.exact([pair for pair in pairs if columns.issuperset(pair) and pair not in present])

    def _pairs(self) -> Posterior:
        widths = np.bincount(self.design.owner).astype(np.int64)
        if (widths.sum() ** 2 - (widths**2).sum()) // 2 > ALL_PAIRS:
            return self.strongest(MANY_PAIRS)
        return self.exact(interactions(self.design, range(self.design.p)))


def joined(*parts: Posterior) -> Posterior:
    """Several posteriors given the same draws, one after the other."""
    return Posterior(
        [term for part in parts for term in part.terms],
        Mixture.joined(*(part.mixture for part in parts)),
    )


def _selectable(posterior: Posterior) -> int:
    return int(np.sum(posterior.mixture.lfsr <= FDR_CAP))


def _subset(posterior: Posterior, keep: list[bool] | Bool[np.ndarray, " t"]) -> Posterior:
    chosen = np.flatnonzero(keep)
    return Posterior([posterior.terms[k] for k in chosen], posterior.mixture.of(chosen))
