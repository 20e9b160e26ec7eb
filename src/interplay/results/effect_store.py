"""Posteriors of effects that were worked out before, so that a later question is answered at once."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from interplay.effects.mixture import Mixture
from interplay.model.terms import Term

Column = Float[np.ndarray, " s"]


@dataclass(eq=False)
class EffectStore:
    """Mean and standard deviation of terms in each draw, and results of searches through all pairs.

    Parameters
    ----------
    moments
        By term, its means and standard deviations over the draws.
    searches
        By the number of pairs that were searched for, the pairs, strongest first; all are in `moments`.
    """

    moments: dict[Term, tuple[Column, Column]] = field(default_factory=dict)
    searches: dict[int, list[Term]] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Memory of the numbers."""
        return sum(means.nbytes + sds.nbytes for means, sds in self.moments.values())

    def missing(self, terms: list[Term]) -> list[Term]:
        """Those of the terms that have not been worked out."""
        return [term for term in dict.fromkeys(terms) if term not in self.moments]

    def add(self, terms: list[Term], mixture: Mixture) -> None:
        """Keep the posteriors of terms."""
        means, sds = mixture.means.T.copy(), mixture.sds.T.copy()
        self.moments.update(zip(terms, zip(means, sds, strict=True), strict=True))

    def mixture(self, terms: list[Term], draws: int) -> Mixture:
        """The posteriors of terms that have all been worked out."""
        means, sds = np.empty((draws, len(terms))), np.empty((draws, len(terms)))
        for k, term in enumerate(terms):
            means[:, k], sds[:, k] = self.moments[term]
        return Mixture(means, sds)
