"""The LASSO on all pairs: its coefficients are those of the function that scikit-learn fitted."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold

from interplay.baselines.pairs import pair_columns
from interplay.baselines.pairs_lasso import dimension, feature_bytes, pairs_lasso
from interplay.data.design import Design, design, encode
from interplay.data.errors import DataError
from interplay.data.simulate import Simulation, synthetic
from interplay.model.terms import interactions


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return synthetic(120, 12, scale=2.0, active=3, noise_variance=1.0, seed=1)


@pytest.fixture(scope="module")
def mixed() -> pd.DataFrame:
    generator = np.random.default_rng(3)
    dose, age = generator.normal(2.0, 1.0, 90), generator.normal(50.0, 9.0, 90)
    site = generator.choice(["London", "Paris", "Rome"], 90)
    y = dose * (1.0 + 2.0 * (site == "Rome")) + generator.normal(0.0, 0.3, 90)
    return pd.DataFrame(
        {"dose": dose, "site": site, "smoker": generator.random(90) < 0.5, "age": age, "y": y}
    )


def test_finds_a_strong_signal(simulation: Simulation) -> None:
    data = design(simulation.X, simulation.y)
    found = pairs_lasso(data)
    assert set(simulation.effects) <= set(found.selected)
    effects = found.table(data).set_index("term")["mean_natural"]
    # The LASSO shrinks; and a main effect is at the means of the others, which are not quite zero.
    assert_allclose([effects[label] for label in simulation.pairs], 1.0, atol=0.3)


def test_coefficients_reproduce_the_fitted_values(simulation: Simulation) -> None:
    data = design(simulation.X, simulation.y)
    found = pairs_lasso(data)
    assert_allclose(found.predict(data.X), found.fitted, atol=1e-10)
    assert found.terms[0] == ()
    assert () not in found.selected


def test_is_scikit_learns_lasso_on_explicit_features(simulation: Simulation) -> None:
    data = design(simulation.X, simulation.y)
    i, j = pair_columns(data)
    features = np.column_stack([data.X, data.X[:, i] * data.X[:, j]])
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    model = LassoCV(cv=KFold(5, shuffle=True, random_state=7)).fit(features, data.y)
    found = pairs_lasso(data, seed=7)
    assert found.penalty == pytest.approx(model.alpha_, rel=1e-12)
    assert_allclose(found.fitted, model.predict(features), atol=1e-10)


def test_threads_and_units_change_nothing(simulation: Simulation) -> None:
    data = design(simulation.X, simulation.y)
    found = pairs_lasso(data)
    assert pairs_lasso(data, threads=2).effects == found.effects
    rescaled = design(1000.0 * simulation.X + 5.0, 0.01 * simulation.y - 3.0)
    assert_allclose(pairs_lasso(rescaled).fitted, found.fitted, atol=1e-10)


def test_factors_have_no_products_within(mixed: pd.DataFrame) -> None:
    data = design(mixed, "y")
    i, j = (columns.tolist() for columns in pair_columns(data))
    assert sorted(zip(i, j, strict=True)) == sorted(interactions(data, range(data.p)))
    found = pairs_lasso(data)
    assert_allclose(found.predict(data.X), found.fitted, atol=1e-10)
    owners = [{int(data.owner[column]) for column in term} for term in found.selected]
    assert all(len(owner) == len(term) for owner, term in zip(owners, found.selected, strict=True))
    # At London and Rome the slope of the dose is 1 and 3.
    rows = pd.DataFrame({"dose": [2.0, 3.0] * 2, "site": ["London"] * 2 + ["Rome"] * 2})
    X = encode(data, rows.assign(smoker=False, age=50.0))
    at = found.predict(X) * data.response_scale + data.response_centre
    assert_allclose([at[1] - at[0], at[3] - at[2]], [1.0, 3.0], atol=0.3)


def test_a_constant_product_is_left_alone() -> None:
    generator = np.random.default_rng(0)
    x = np.repeat([-1.0, 1.0], 20)
    data = design(
        pd.DataFrame({"a": x, "b": -x, "c": generator.normal(size=40)}), 2 * x + generator.normal(size=40)
    )
    found = pairs_lasso(data)
    assert (0, 1) not in found.selected
    assert np.isfinite(found.coefficients).all()


def test_one_variable_has_no_pairs(simulation: Simulation) -> None:
    found = pairs_lasso(design(simulation.X[:, :1], simulation.X[:, 0] + 0.1 * simulation.y))
    assert found.selected == ((0,),)


def _small() -> Design:
    return design(np.random.default_rng(0).normal(size=(12, 3)), np.random.default_rng(1).normal(size=12))


@pytest.mark.parametrize("folds", [1, 13])
def test_refuses_folds_that_the_rows_cannot_fill(folds: int) -> None:
    with pytest.raises(DataError, match=f"folds={folds} for 12 rows: expected a number from 2 to 12"):
        pairs_lasso(_small(), folds=folds)


def test_refuses_what_does_not_fit_in_memory() -> None:
    data = _small()
    assert dimension(data) == 6
    assert feature_bytes(data) == 3 * 8 * 12 * 6
    with pytest.raises(DataError, match=r"12 rows of 6 columns and pairs take .* Raise `most_bytes`"):
        pairs_lasso(data, most_bytes=1000)
