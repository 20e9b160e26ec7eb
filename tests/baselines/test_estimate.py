"""Estimates in the columns as they came, and the rows of other methods that were measured before."""

import pytest
from numpy.testing import assert_allclose

from interplay.baselines.estimate import Estimate
from interplay.baselines.pairs_lasso import pairs_lasso
from interplay.data.design import Design, design
from interplay.data.simulate import Simulation, synthetic


def scored(
    estimate: Estimate, data: Design, drawn: Simulation
) -> tuple[tuple[int, ...], tuple[float, float]]:
    """Mains right and wrong, pairs right and wrong; squared errors of mains and pairs to two digits."""
    counts = [
        sum(len(term) == order and (term in drawn.effects) == right for term in estimate.selected)
        for order in (1, 2)
        for right in (True, False)
    ]
    raw = estimate.raw(data)
    errors = [
        sum(
            (raw.get(term, 0.0) - drawn.effects.get(term, 0.0)) ** 2
            for term in {*raw, *drawn.effects}
            if len(term) == order
        )
        for order in (1, 2)
    ]
    return tuple(counts), (float(f"{errors[0]:.2g}"), float(f"{errors[1]:.2g}"))


@pytest.mark.parametrize("standardize", [True, False])
def test_raw_coefficients_give_the_fitted_values_in_units(standardize: bool) -> None:
    drawn = synthetic(60, 8, scale=3.0, active=3, noise_variance=1.0, seed=4)
    X, y = drawn.X + 2.0, 10.0 * drawn.y - 7.0
    data = design(X, y, standardize=standardize)
    found = pairs_lasso(data, standardize=standardize)
    values = sum(value * X[:, list(term)].prod(axis=1) for term, value in found.raw(data).items())
    assert_allclose(values, data.response_centre + data.response_scale * found.fitted, atol=1e-9)


def test_the_lasso_on_raw_columns_is_as_it_was_measured_before() -> None:
    drawn = synthetic(100, 50, scale=2.0, seed=0)
    data = design(drawn.X, drawn.y, standardize=False)
    assert scored(pairs_lasso(data, standardize=False), data, drawn) == ((0, 0, 10, 38), (5.0, 3.0))


def test_the_hierarchical_lasso_is_as_it_was_measured_before() -> None:
    pytest.importorskip("adelie", reason="adelie is not installed")
    from interplay.baselines.hierarchical_lasso import hierarchical_lasso

    drawn = synthetic(100, 50, scale=2.0, seed=0)
    data = design(drawn.X, drawn.y)
    assert scored(hierarchical_lasso(data), data, drawn) == ((5, 40, 10, 54), (2.4, 1.5))


def test_the_best_subset_is_as_it_was_measured_before() -> None:
    pytest.importorskip("abess", reason="abess is not installed")
    from interplay.baselines.best_subset import best_subset

    drawn = synthetic(100, 50, scale=2.0, seed=0)
    data = design(drawn.X, drawn.y, standardize=False)
    assert scored(best_subset(data), data, drawn) == ((0, 0, 6, 3), (5.0, 7.3))
