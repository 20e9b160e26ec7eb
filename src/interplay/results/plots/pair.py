"""The regression function over two variables, in units of the data, with the others at their centres.

The others are at their means (at zero where they were not standardised), and factors at the average over
their levels, as for effects in units of the data. Bands are quantiles of the exact
posterior of the function there, a mixture of Gaussians over the draws; noise is not in them.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float

from interplay.data.coding import code_factor
from interplay.data.design import Variable
from interplay.data.errors import DataError, nearest
from interplay.effects.mixture import Mixture
from interplay.model.terms import Term, quadratics
from interplay.results.fit import Fit
from interplay.results.plots.style import brief, rate

EDGE = 0.01
"""Share of the rows beyond each end of the values that are drawn: one far row must not stretch them."""

HELD = (0.1, 0.5, 0.9)
"""Quantiles of a number at which it is held."""


@dataclass(frozen=True)
class Pair:
    """Two variables of a fit, and what their interaction is called."""

    first: Variable
    second: Variable
    response: str

    @property
    def names(self) -> tuple[str, str]:
        """Names of the two."""
        return self.first.name, self.second.name


def find(fit: Fit, first: str | None = None, second: str | None = None) -> Pair:
    """Two variables by name; the strongest of all pairs if neither is named."""
    design = fit.design
    if first is None and second is None:
        if design.p < 2:
            raise DataError(f"There is no pair: the fit has one variable, {design.names[0]!r}.")
        term = fit._requests.strongest(1).terms[0]
        i, j = (int(design.owner[column]) for column in term)
        return Pair(design.variables[i], design.variables[j], design.response)
    if first is None or second is None:
        raise ValueError("One variable of a pair was named. Name both, or neither for the strongest pair.")
    known = dict(zip(design.names, design.variables, strict=True))
    for name in (first, second):
        if name not in known:
            raise DataError(
                f"{name!r} is not a variable of this fit.{nearest(name, design.names)}"
                " Give names as they stand in the data, those of factors without a level."
            )
    if first == second:
        raise ValueError(f"{first!r} was named twice: expected two variables.")
    return Pair(known[first], known[second], design.response)


def values(fit: Fit, variable: Variable, count: int) -> np.ndarray:
    """Values along an axis: every level, or both values, or evenly spaced over nearly all of the data."""
    if variable.levels:
        return np.array(variable.levels, dtype=object)
    seen = _natural(fit, variable)
    if variable.kind == "binary":
        return np.unique(seen)[[0, -1]]
    low, high = np.quantile(seen, [EDGE, 1 - EDGE])
    return np.linspace(low, high, count)


def held(fit: Fit, variable: Variable) -> tuple[np.ndarray, list[str]]:
    """A few values at which a variable is held, and each in words."""
    if variable.levels or variable.kind == "binary":
        chosen = values(fit, variable, 2)
        return chosen, [value if variable.levels else brief(value) for value in chosen]
    chosen = np.unique(np.quantile(_natural(fit, variable), HELD, method="nearest"))
    if len(chosen) < len(HELD):
        return chosen, [brief(value) for value in chosen]
    words = [f"{round(100 * share)}th percentile" for share in HELD]
    return chosen, [f"{brief(value)} ({word})" for value, word in zip(chosen, words, strict=True)]


def posterior(
    fit: Fit, pair: Pair, first: np.ndarray, second: np.ndarray, probability: float
) -> pd.DataFrame:
    """Mean and interval of the regression function at pairs of values.

    Returns
    -------
    DataFrame
        `first second mean lower upper`.
    """
    if not 0.0 < probability < 1.0:
        raise ValueError(f"probability={probability!r}: expected a number between 0 and 1, such as 0.9.")
    design = fit.design
    X = np.zeros((len(first), design.d))
    for variable, given in ((pair.first, first), (pair.second, second)):
        X[:, variable.start : variable.stop] = _coded(fit, variable, given)
    means, sds = _function(fit, pair, X)
    scale = design.response_scale
    mixture = Mixture(design.response_centre + scale * means, scale * sds)
    lower, upper = (mixture.quantile(0.5 + side * probability / 2) for side in (-1, 1))
    return pd.DataFrame(
        {"first": first, "second": second, "mean": mixture.mean, "lower": lower, "upper": upper}
    )


def observed(fit: Fit, pair: Pair) -> pd.DataFrame:
    """Where the data are: the values of the two variables in each row, `first second`."""
    return pd.DataFrame({"first": _observed(fit, pair.first), "second": _observed(fit, pair.second)})


def in_words(fit: Fit, pair: Pair, probability: float = 0.9) -> str:
    """The interaction of the pair in a line: mean and interval in units of the data, and its lfsr."""
    columns = [range(variable.start, variable.stop) for variable in (pair.first, pair.second)]
    terms = [tuple(sorted((i, j))) for i in columns[0] for j in columns[1]]
    labels = [tuple(fit.design.labels[column] for column in term) for term in terms]
    effect = fit.effects(labels, probability).iloc[0]
    name = "interaction" if len(terms) == 1 else effect["term"]
    mean, lower, upper = (brief(effect[f"{part}_natural"]) for part in ("mean", "lower", "upper"))
    return f"{name} {mean} ({lower} to {upper}), lfsr {rate(effect['lfsr'])}"


def _function(
    fit: Fit, pair: Pair, X: Float[np.ndarray, "m d"]
) -> tuple[Float[np.ndarray, "s m"], Float[np.ndarray, "s m"]]:
    """Mean and sd of the regression function at rows that are zero but for the pair, in each draw."""
    if pair.first.levels or pair.second.levels:
        return fit.conditional.predict(X)
    # Of all terms only these are not zero, and a few terms are quicker than many rows.
    i, j = sorted((pair.first.start, pair.second.start))
    squares = quadratics(fit.design) if fit.prior.quadratic else []
    terms: list[Term] = [(), (i,), (j,), (i, j), *(term for term in squares if term[0] in (i, j))]
    features = np.column_stack([np.prod(X[:, list(term)], axis=1) for term in terms])
    mean, covariance = fit.conditional.joint(terms)
    variance = np.einsum("mt,mst->sm", features, np.swapaxes(features @ covariance, 0, 1))
    return mean @ features.T, np.sqrt(np.maximum(variance, 0.0))


def _natural(fit: Fit, variable: Variable) -> Float[np.ndarray, " n"]:
    column = variable.start
    return fit.design.X[:, column] * fit.design.scales[column] + fit.design.centres[column]


def _coded(fit: Fit, variable: Variable, given: np.ndarray) -> Float[np.ndarray, "m c"]:
    design = fit.design
    if variable.levels:
        return code_factor(given, variable.levels)
    column = variable.start
    return ((given.astype(float) - design.centres[column]) / design.scales[column])[:, None]


def _observed(fit: Fit, variable: Variable) -> np.ndarray:
    if not variable.levels:
        return _natural(fit, variable)
    columns = fit.design.X[:, variable.start : variable.stop]
    level = np.array(variable.levels, dtype=object)[columns.argmax(axis=1)]
    level[~columns.any(axis=1)] = None
    return level
