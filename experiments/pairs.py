"""All pairs at once: their posterior means, and which of them a rule could select."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from interplay.data.design import Design
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.effects.selection import FDR_CAP
from interplay.model.terms import Term


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of p numeric columns.

    Parameters
    ----------
    means
        Posterior mean of each pair on the standardised scale, (p, p), symmetric.
    terms, mixture
        Every pair whose local false sign rate is at most a cap, and possibly others; and their posteriors.
        With a cap of 0.1 or more, no other pair can be selected by the rules "lfsr" with q ≤ 0.1 and "fdr".
    """

    means: Float[np.ndarray, "p p"]
    terms: list[Term]
    mixture: Mixture


def all_pairs(design: Design, conditional: Conditional, *, cap: float = FDR_CAP) -> Pairs:
    """Go over all pairs in every draw, in O(p²) memory, then answer exactly for those that could matter.

    The conditional sd is at least σ √(S_ij / (σ² + S_ij ‖φ_ij‖²)), so with m its conditional mean
    P(θ_ij < 0) ≥ Φ(−m / that) where m > 0, and ≥ ½ elsewhere: no factor of the kernel is needed for each
    pair, and no pair that is passed over has an lfsr up to the cap.
    """
    means, least_lfsr = _pass_over(design, conditional)
    i, j = np.nonzero(np.triu(least_lfsr <= cap, k=1))
    terms: list[Term] = [(int(a), int(b)) for a, b in zip(i, j, strict=True)]
    return Pairs(means, terms, Mixture(*conditional.effects(terms)))


def _pass_over(
    design: Design, conditional: Conditional
) -> tuple[Float[np.ndarray, "p p"], Float[np.ndarray, "p p"]]:
    """Mean over the draws, and a lower bound on the local false sign rate."""
    X = design.X
    norms = (X**2).T @ X**2
    first, below, above = (np.zeros(norms.shape) for _ in range(3))
    duals = enumerate(conditional.over_draws(lambda posterior: posterior.dual))
    defined = [(draw, dual) for draw, dual in duals if dual is not None]
    for draw, dual in defined:
        variances, noise = conditional.variances[draw], conditional.working[draw].variance
        # SKIM has no pairs with a variance of their own, and one component for all variables.
        prior = sum(c.orders[1] * np.multiply.outer(c.weights, c.weights) for c in variances.symmetric)
        mean = prior * ((X * dual[:, None]).T @ X)
        least_sd = np.sqrt(prior * noise / (noise + prior * norms))
        tail = ndtr(-np.abs(mean) / np.where(least_sd > 0, least_sd, 1.0))
        first += mean
        below += np.where(mean > 0, tail, 0.5)
        above += np.where(mean < 0, tail, 0.5)
    return first / len(defined), np.minimum(below, above) / len(defined)
