"""The hierarchical LASSO: its coefficients are those of the function that adelie fitted."""

import builtins
import importlib
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from interplay.data.design import Design, design, encode
from interplay.data.errors import DataError
from interplay.data.simulate import Simulation, synthetic

adelie = pytest.importorskip("adelie", reason="adelie is not installed")

from interplay.baselines import hierarchical_lasso as module  # noqa: E402
from interplay.baselines.hierarchical_lasso import hierarchical_lasso  # noqa: E402


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return synthetic(120, 12, scale=2.0, active=3, noise_variance=1.0, seed=1)


@pytest.fixture(scope="module")
def mixed() -> Design:
    generator = np.random.default_rng(3)
    dose, age = generator.normal(2.0, 1.0, 90), generator.normal(50.0, 9.0, 90)
    site = generator.choice(["London", "Paris", "Rome"], 90)
    y = dose * (1.0 + 2.0 * (site == "Rome")) + generator.normal(0.0, 0.3, 90)
    smoker = generator.random(90) < 0.5
    return design(pd.DataFrame({"dose": dose, "site": site, "smoker": smoker, "age": age, "y": y}), "y")


def test_finds_a_strong_signal(simulation: Simulation) -> None:
    data = design(simulation.X, simulation.y)
    found = hierarchical_lasso(data)
    assert set(simulation.effects) <= set(found.selected)
    effects = found.table(data).set_index("term")["mean_natural"]
    assert_allclose([effects[label] for label in simulation.pairs], 1.0, atol=0.2)


def test_a_pair_comes_with_its_main_effects(simulation: Simulation) -> None:
    selected = set(hierarchical_lasso(design(simulation.X, simulation.y)).selected)
    pairs = [term for term in selected if len(term) == 2]
    assert pairs
    assert all({(i,), (j,)} <= selected for i, j in pairs)


@pytest.mark.parametrize("shape", [(60, 20, 2.0), (80, 6, 5.0)])
def test_coefficients_reproduce_the_fitted_values(shape: tuple[int, int, float]) -> None:
    n, p, scale = shape
    drawn = synthetic(n, p, scale=scale, active=3, seed=2)
    data = design(drawn.X, drawn.y)
    found = hierarchical_lasso(data)
    assert len(found.selected) > 3
    assert_allclose(found.predict(data.X), found.fitted, rtol=0, atol=1e-10)


def test_coefficients_reproduce_the_fitted_values_without_standardising(simulation: Simulation) -> None:
    data = design(simulation.X, simulation.y, standardize=False)
    found = hierarchical_lasso(data)
    assert_allclose(found.predict(data.X), found.fitted, rtol=0, atol=1e-10)


def test_features_are_standardised_columns_and_groups_of_three(mixed: Design) -> None:
    centres, scales = module._moments(mixed)
    features = module._features(mixed, centres, scales, 1)
    D = features.cols()
    dense = np.column_stack(
        [adelie.diagnostic.predict(features, np.eye(1, D, k), np.zeros(1))[0] for k in range(D)]
    )
    X = mixed.X
    pairs = [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 4), (1, 5), (2, 4), (2, 5), (3, 4), (3, 5), (4, 5)]
    explicit = np.column_stack(
        [X] + [column for i, j in pairs for column in (X[:, i], X[:, j], X[:, i] * X[:, j])]
    )
    assert_allclose(dense, (explicit - explicit.mean(axis=0)) / explicit.std(axis=0), atol=1e-12)
    assert_array_equal(module._groups(mixed), [0, 1, 4, 5, *range(6, D, 3)])


def test_factors(mixed: Design) -> None:
    found = hierarchical_lasso(mixed)
    assert_allclose(found.predict(mixed.X), found.fitted, rtol=0, atol=1e-10)
    assert all(len({int(mixed.owner[c]) for c in term}) == len(term) for term in found.selected)
    rows = pd.DataFrame({"dose": [2.0, 3.0] * 2, "site": ["London"] * 2 + ["Rome"] * 2})
    X = encode(mixed, rows.assign(smoker=False, age=50.0))
    at = found.predict(X) * mixed.response_scale + mixed.response_centre
    assert_allclose([at[1] - at[0], at[3] - at[2]], [1.0, 3.0], atol=0.3)


def test_a_path_that_ends_too_early_is_extended(simulation: Simulation) -> None:
    data = design(simulation.X, simulation.y)
    whole = hierarchical_lasso(data)
    assert hierarchical_lasso(data, ratios=(0.5, 1e-3)).penalty == pytest.approx(whole.penalty)
    with pytest.warns(UserWarning, match="less would be better still"):
        assert hierarchical_lasso(data, ratios=(0.5,)).penalty > whole.penalty


def test_repeats_and_leaves_the_global_generator_alone(simulation: Simulation) -> None:
    data = design(simulation.X, simulation.y)
    before = np.random.get_state()[1]  # noqa: NPY002
    found = hierarchical_lasso(data, seed=4)
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert hierarchical_lasso(data, seed=4).effects == found.effects


def test_refuses_what_it_cannot_do(simulation: Simulation) -> None:
    with pytest.raises(DataError, match="got 1 variable: expected two or more"):
        hierarchical_lasso(design(simulation.X[:, :1], simulation.y))
    with pytest.raises(DataError, match="folds=200 for 120 rows"):
        hierarchical_lasso(design(simulation.X, simulation.y), folds=200)


def test_says_how_to_install_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments, **named):
        if name == "adelie":
            raise ImportError(name)
        return real(name, *arguments, **named)

    monkeypatch.delitem(sys.modules, "interplay.baselines.hierarchical_lasso")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install --no-deps adelie"):
        importlib.import_module("interplay.baselines.hierarchical_lasso")
