"""The variables that lead, and the surest effect of each of them and of each two of them."""

import numpy as np
import pandas as pd

from interplay.model.terms import interactions, kind, label, mains, quadratics
from interplay.results.fit import Fit
from interplay.results.tables import effect_table


def table(fit: Fit, size: int = 12, probability: float = 0.9) -> pd.DataFrame:
    """One row for each main effect, square and pair of the leading variables.

    A variable leads by the surest effect of any kind that it has a part in. A factor has effects by level; of
    the levels the surest stands for it, and `term` says which it is.

    Parameters
    ----------
    fit
        The fit.
    size
        How many variables.
    probability
        Of the interval from `lower` to `upper`.

    Returns
    -------
    DataFrame
        The columns of the effect table after `first` and `second`, the two variables: the same one twice for
        main effects and squares. Variables are in the order in which they lead.
    """
    if size < 1:
        raise ValueError(f"size={size!r}: expected how many variables are wanted, at least 1.")
    design = fit.design
    chosen = leading(fit)[:size]
    rank = {variable: position for position, variable in enumerate(chosen)}
    own = [*mains(design), *(quadratics(design) if fit.prior.quadratic else [])]
    wanted = [term for term in own if int(design.owner[term[0]]) in rank] + interactions(design, chosen)
    effects = effect_table(design, wanted, fit._requests.exact(wanted).mixture, probability=probability)
    places = {
        (label(term, design), kind(term)): sorted(rank[int(design.owner[term[k]])] for k in (0, -1))
        for term in wanted
    }
    rows = [places[key] for key in zip(effects["term"], effects["kind"], strict=True)]
    first, second = (np.array([row[k] for row in rows]) for k in (0, 1))
    names = np.array([design.names[variable] for variable in chosen], dtype=object)
    effects.insert(0, "first", names[first])
    effects.insert(1, "second", names[second])
    # A stable sort keeps the surest of several levels first, which alone stays.
    ordered = effects.iloc[np.lexsort([second, first])].drop_duplicates(["first", "second", "kind"])
    return ordered.reset_index(drop=True)


def leading(fit: Fit) -> list[int]:
    """All variables of the effects that are looked at, by the surest effect that each has a part in."""
    posterior = fit._requests.posterior(None, "lfsr")
    order = np.argsort(posterior.mixture.lfsr, kind="stable")
    owner = fit.design.owner
    return list(dict.fromkeys(int(owner[column]) for k in order for column in posterior.terms[k]))


def by_level(effects: pd.DataFrame) -> str:
    """A note where factors are in the table."""
    own = effects[effects["kind"] == "main"]
    return "; a factor by its surest level" if (own["term"] != own["first"]).any() else ""


def variables(effects: pd.DataFrame) -> list[str]:
    """The variables of the table, in the order in which they lead."""
    return list(dict.fromkeys(effects["first"]))
