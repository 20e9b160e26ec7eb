"""The other methods, each on the same data and with the same account."""

from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from experiments import score
from experiments.data import make
from experiments.measure import measured
from interplay.baselines.estimate import Estimate
from interplay.data.design import Design
from interplay.model.terms import label

Values = tuple[dict[str, Any], dict[str, float]]
"""What was found, and what it took."""


def lasso_raw(data: Mapping[str, Any], threads: int) -> Values:
    """The LASSO on all columns and pairs as they are."""
    from interplay.baselines.pairs_lasso import pairs_lasso

    return _fit(
        data,
        lambda d, s: pairs_lasso(d, seed=s, threads=threads, standardize=False, most_bytes=inf),
        raw=True,
    )


def lasso_standardised(data: Mapping[str, Any], threads: int) -> Values:
    """The LASSO on all columns and pairs, standardised."""
    from interplay.baselines.pairs_lasso import pairs_lasso

    return _fit(data, lambda d, s: pairs_lasso(d, seed=s, threads=threads, most_bytes=inf))


def lasso_of_raw_products(data: Mapping[str, Any], threads: int) -> Values:
    """The LASSO on all columns and products of columns as they are, all of them standardised."""
    from interplay.baselines.pairs_lasso import pairs_lasso

    return _fit(data, lambda d, s: pairs_lasso(d, seed=s, threads=threads, most_bytes=inf), raw=True)


def hierarchical(data: Mapping[str, Any], threads: int, **path: Any) -> Values:
    """The hierarchical LASSO by adelie."""
    from interplay.baselines.hierarchical_lasso import hierarchical_lasso

    return _fit(data, lambda d, s: hierarchical_lasso(d, seed=s, threads=threads, **path))


def glinternet(data: Mapping[str, Any], threads: int) -> Values:
    """The hierarchical LASSO by R's glinternet."""
    from interplay.baselines.glinternet import glinternet as fit

    return _fit(data, lambda d, s: fit(d, seed=s, threads=threads))


def best_subset(data: Mapping[str, Any], threads: int) -> Values:
    """The best subset of all columns and pairs, by abess: as they are, but for the cars' many units."""
    from interplay.baselines.best_subset import best_subset as fit

    return _fit(data, lambda d, s: fit(d, seed=s, threads=threads), raw=data["kind"] != "auto")


def _fit(data: Mapping[str, Any], fit: Callable[[Design, int], Estimate], *, raw: bool = False) -> Values:
    problem = make(data)
    design = problem.design(standardize=not raw)
    estimate, cost = measured(lambda: fit(design, data["seed"]))
    table = estimate.table(design)
    selected = table["term"][table["selected"]]
    raw_effects = {label(term, design): value for term, value in estimate.raw(design).items() if term}
    truth = problem.effects
    values = {
        "found": {"nonzero": score.found(selected, problem.right)},
        "errors": None if truth is None else score.errors(raw_effects, truth),
        "terms": [
            {"term": name, "right": True, "coefficient": raw_effects.get(name, 0.0)}
            for name in sorted(problem.right)
        ],
        "penalty": estimate.penalty,
    }
    return values, cost
