"""Which effects to report: three rules on the same posterior."""

from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float

from interplay.effects.mixture import Mixture

Rule = Literal["lfsr", "fdr", "paper"]

PAPER_Z = 2.59
"""Multiple of the average conditional sd in the paper's rule (Appendix E)."""

FDR_CAP = 0.1
"""No term with a larger local false sign rate enters the set of the rule "fdr"."""


def select(mixture: Mixture, rule: Rule = "lfsr", q: float = 0.05) -> Bool[np.ndarray, " t"]:
    """Which of the effects a rule selects.

    Parameters
    ----------
    mixture
        Posterior of the effects.
    rule
        `"lfsr"`: local false sign rate at most q. `"fdr"`: the largest set, ranked by lfsr, whose mean lfsr
        is at most q, without any term above 0.1. `"paper"`: |mean| > 2.59 × the average conditional sd; the
        paper applies it to pairs among selected mains alone, see `among_selected`.
    q
        Level of the first two rules.
    """
    if not 0.0 < q < 1.0:
        raise ValueError(f"q={q!r}: expected a rate between 0 and 1, such as 0.05.")
    match rule:
        case "lfsr":
            return mixture.lfsr <= q
        case "fdr":
            return within_fdr(mixture.lfsr, q)
        case "paper":
            return np.abs(mixture.mean) > PAPER_Z * mixture.conditional_sd
        case _:
            raise ValueError(f"rule={rule!r}: expected one of {', '.join(map(repr, get_args(Rule)))}.")


def among_selected(terms: list[tuple[int, ...]], selected: Bool[np.ndarray, " t"]) -> Bool[np.ndarray, " t"]:
    """Keep an interaction or square only where all its main effects are selected too (strong hierarchy)."""
    mains = {term[0] for term, chosen in zip(terms, selected, strict=True) if chosen and len(term) == 1}
    within = [len(term) < 2 or mains.issuperset(term) for term in terms]
    return selected & np.array(within, dtype=bool)


def within_fdr(lfsr: Float[np.ndarray, " t"], q: float) -> Bool[np.ndarray, " t"]:
    """The largest set, ranked by lfsr, whose mean lfsr is at most q, without any term above 0.1."""
    order = np.argsort(lfsr, kind="stable")
    mean_so_far = np.cumsum(lfsr[order]) / np.arange(1, lfsr.size + 1)
    # Sorted, the running mean never falls: what passes is a first part of the list.
    selected = np.zeros(lfsr.size, dtype=bool)
    selected[order] = (mean_so_far <= q) & (lfsr[order] <= FDR_CAP)
    return selected
