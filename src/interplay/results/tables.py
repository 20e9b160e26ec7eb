"""Tables that a user sees, and that plots and pages draw."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from interplay.data.design import Design
from interplay.effects.mixture import Mixture
from interplay.effects.scale import natural_scale
from interplay.effects.selection import Rule, among_selected, select
from interplay.model.terms import Term, kind, label


def effect_table(
    design: Design,
    terms: Sequence[Term],
    mixture: Mixture,
    *,
    probability: float = 0.9,
    rule: Rule = "lfsr",
    q: float = 0.05,
) -> pd.DataFrame:
    """One row for each effect, the surest first.

    Parameters
    ----------
    design
        The data.
    terms, mixture
        The effects and their posteriors on the standardised scale.
    probability
        Of the central interval from `lower` to `upper`. At 0.9, an interval leaves out zero just where the
        local false sign rate is at most 0.05.
    rule, q
        How `selected` is decided, see `interplay.effects.selection.select`.

    Returns
    -------
    DataFrame
        `term kind mean sd lower upper prob_positive lfsr mean_natural lower_natural upper_natural selected`,
        ordered by lfsr, then by |mean|/sd.
    """
    if not 0.0 < probability < 1.0:
        raise ValueError(f"probability={probability!r}: expected a number between 0 and 1, such as 0.9.")
    mean, sd = mixture.mean, mixture.sd
    lower, upper = (mixture.quantile(0.5 + side * probability / 2) for side in (-1, 1))
    chosen = _selected(terms, mixture, rule, q)
    table = _table(design, terms, mean, sd, lower, upper, mixture.prob_positive, mixture.lfsr, chosen)
    ratio = np.divide(np.abs(mean), sd, out=np.zeros_like(mean), where=sd > 0)
    return table.iloc[np.lexsort([-ratio, table["lfsr"]])].reset_index(drop=True)


def estimate_table(design: Design, terms: Sequence[Term], effects: Float[np.ndarray, " t"]) -> pd.DataFrame:
    """The same table of estimates without a posterior, the largest first.

    What only a posterior has is missing (NaN), and an effect is selected where it is not zero.
    """
    unknown = np.full(len(terms), np.nan)
    table = _table(design, terms, effects, unknown, unknown, unknown, unknown, unknown, effects != 0.0)
    return table.iloc[np.argsort(-np.abs(effects), kind="stable")].reset_index(drop=True)


def _table(
    design: Design,
    terms: Sequence[Term],
    mean: Float[np.ndarray, " t"],
    sd: Float[np.ndarray, " t"],
    lower: Float[np.ndarray, " t"],
    upper: Float[np.ndarray, " t"],
    prob_positive: Float[np.ndarray, " t"],
    lfsr: Float[np.ndarray, " t"],
    selected: Bool[np.ndarray, " t"],
) -> pd.DataFrame:
    slope, shift = natural_scale(design, terms)
    return pd.DataFrame(
        {
            "term": [label(term, design) for term in terms],
            "kind": [kind(term) for term in terms],
            "mean": mean,
            "sd": sd,
            "lower": lower,
            "upper": upper,
            "prob_positive": prob_positive,
            "lfsr": lfsr,
            "mean_natural": slope * mean + shift,
            "lower_natural": slope * lower + shift,
            "upper_natural": slope * upper + shift,
            "selected": selected,
        }
    )


def _selected(terms: Sequence[Term], mixture: Mixture, rule: Rule, q: float) -> Bool[np.ndarray, " t"]:
    chosen = select(mixture, rule, q)
    if rule != "paper":
        return chosen
    present = {term[0] for term in terms if len(term) == 1}
    absent = sorted({column for term in terms if len(term) > 1 for column in term} - present)
    if absent:
        raise ValueError(
            "rule='paper' selects interactions and squares among selected main effects, and those of"
            f" {len(absent)} of their columns are not in this table. Ask for them too, or choose rule='lfsr'."
        )
    return among_selected(list(terms), chosen)
