"""Every baseline gives the table that a fit gives."""

from dataclasses import replace

import numpy as np
import oracles
import pandas as pd
import pytest
from strategies import make_design, make_variances, stacked

from interplay.baselines import naive, woodbury
from interplay.baselines.estimate import Estimate
from interplay.baselines.explicit import effect_directions
from interplay.data.design import Design
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.model.engines.kernel_space import KernelSpace
from interplay.model.families import Gaussian
from interplay.model.terms import interactions, label, mains, monomials, quadratics
from interplay.results.tables import effect_table


def mixed() -> Design:
    """Numbers, a two-valued column, a factor of three levels and weights."""
    data = make_design(5, n=14, numbers=2, factors=[3], binaries=1)
    return replace(data, weights=np.linspace(0.5, 2.0, data.n))


def by_term(table: pd.DataFrame) -> pd.DataFrame:
    return table.set_index("term").sort_index()


@pytest.mark.parametrize("baseline", [naive, woodbury])
@pytest.mark.parametrize("quadratic", [True, False])
def test_table_given_draws_is_that_of_a_fit(baseline: object, quadratic: bool) -> None:
    data, sigma = mixed(), np.array([0.4, 0.9, 0.6])
    draws = [make_variances(seed, data.p, degree=2, spread=0.7) for seed in range(3)]
    if not quadratic:
        draws = [
            replace(draw, symmetric=tuple(replace(c, squares=np.asarray(0.0)) for c in draw.symmetric))
            for draw in draws
        ]
    variances, family = stacked(draws), Gaussian()
    terms = [*mains(data), *interactions(data, range(data.p)), *(quadratics(data) if quadratic else [])]
    working = [family.working({"sigma": np.asarray(value)}, data) for value in sigma]
    conditional = Conditional(KernelSpace(data, tolerance=0.0), variances, working)
    expected = effect_table(data, terms, Mixture(*conditional.effects(terms)))
    assert expected["lfsr"].nunique() > 10
    table = baseline.table(data, variances, sigma, quadratic=quadratic)
    pd.testing.assert_frame_equal(by_term(table), by_term(expected), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(table["lfsr"], np.sort(expected["lfsr"]), atol=1e-9)


def test_directions_are_those_of_the_oracle() -> None:
    data = make_design(2, n=12, numbers=2, factors=[3, 2], binaries=1)
    terms = monomials(data, 3)
    directions = effect_directions(data, terms, terms).toarray()
    np.testing.assert_allclose(directions, oracles.directions(data, terms, terms), atol=1e-12)
    some = terms[::3]
    directions = effect_directions(data, terms, some).toarray()
    np.testing.assert_allclose(directions, oracles.directions(data, terms, some), atol=1e-12)


def test_table_of_draws_is_of_their_shares() -> None:
    full = pytest.importorskip("interplay.baselines.full", reason="NumPyro is not installed")
    data = make_design(1, n=9, numbers=3, factors=[])
    terms = tuple(monomials(data, 2))
    draws = np.random.default_rng(0).normal(np.linspace(-1.0, 1.0, len(terms)), 1.0, (2, 41, len(terms)))
    table = by_term(full.Full(terms, draws, {}, 0, 0).table(data))
    assert sorted(table.index) == sorted(label(term, data) for term in terms if term)
    for k, term in enumerate(terms[1:], start=1):
        row, flat = table.loc[label(term, data)], draws[..., k].ravel()
        share = (flat > 0).mean()
        assert [row["mean"], row["sd"]] == pytest.approx([flat.mean(), flat.std()])
        assert [row["prob_positive"], row["lfsr"]] == pytest.approx([share, min(share, 1 - share)])
        # The smallest value that at least so many draws do not exceed.
        ends = np.quantile(flat, [0.05, 0.95], method="inverted_cdf")
        assert [row["lower"], row["upper"]] == pytest.approx(list(ends))


def test_table_of_estimates_has_the_effects_of_levels_and_no_posterior() -> None:
    data = make_design(7, n=12, numbers=2, factors=[3])
    (factor,) = (variable for variable in data.variables if variable.levels)
    numbers = [column for column in range(data.d) if not factor.start <= column < factor.stop]
    terms = [(), (numbers[0],), (factor.start,), tuple(sorted((factor.start, numbers[1]))), (numbers[1],)]
    coefficients = np.array([3.0, -2.0, 0.5, 0.25, 0.0])
    estimate = Estimate(tuple(terms), coefficients, np.zeros(data.n), 0.1)
    table = estimate.table(data)
    sure = by_term(effect_table(data, terms[1:2], Mixture(np.ones((1, 1)), np.ones((1, 1)))))
    assert by_term(table).columns.tolist() == sure.columns.tolist()
    every = [*mains(data), *interactions(data, range(data.p))]
    expected = dict(
        zip(
            [label(term, data) for term in every],
            oracles.directions(data, every, terms) @ coefficients,
            strict=True,
        )
    )
    means = dict(zip(table["term"], table["mean"], strict=True))
    assert means == pytest.approx({name: expected[name] for name in means})
    # What is not in the table has no effect.
    assert all(expected[name] == 0.0 for name in set(expected) - set(means))
    assert table["mean"].abs().is_monotonic_decreasing
    assert table["selected"].tolist() == [value != 0.0 for value in table["mean"]]
    assert table[["sd", "lower", "upper", "prob_positive", "lfsr"]].isna().all(axis=None)
    slope = data.response_scale / data.scales[numbers[0]]
    assert by_term(table).loc[data.labels[numbers[0]], "mean_natural"] == pytest.approx(-2.0 * slope)
