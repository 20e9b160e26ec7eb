"""Simulations against the paper's protocol (Section 7)."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from interplay.data.errors import DataError
from interplay.data.simulate import Simulation, real_covariates, synthetic


def signal(simulation: Simulation) -> np.ndarray:
    total = np.zeros(len(simulation.X))
    for term, effect in simulation.effects.items():
        total += effect * np.prod([simulation.X[:, i] for i in term], axis=0)
    return total


def test_paper_protocol():
    simulation = synthetic(4000, 50, scale=5.0, seed=1)
    assert simulation.X.shape == (4000, 50)
    assert simulation.names[:2] == ("x0", "x1")
    assert len(simulation.mains) == 5
    assert len(simulation.pairs) == 10
    assert set(simulation.effects.values()) == {1.0}
    active = [term[0] for term in simulation.effects if len(term) == 1]
    assert active == sorted(active)
    assert [term for term in simulation.effects if len(term) == 2] == list(combinations(active, 2))
    assert simulation.noise_sd == 5.0
    # Standard errors: a spread has relative error 1/√(2n), about 0.011.
    assert_allclose(simulation.X.std(axis=0), 5.0, rtol=0.06)
    assert_allclose((simulation.y - signal(simulation)).std(), 5.0, rtol=0.06)


def test_labels_of_terms():
    simulation = Simulation(np.zeros((1, 3)), np.zeros(1), ("a", "b", "c"), {(0,): 1.0, (0, 2): 2.0}, 1.0, 0)
    assert simulation.terms == {"a": 1.0, "a:c": 2.0}
    assert simulation.mains == ["a"]
    assert simulation.pairs == ["a:c"]


def test_effects_can_be_set():
    simulation = synthetic(20, 8, active=3, effect=2.0, pair_effect=-0.5, noise_variance=0.0)
    assert [simulation.terms[label] for label in simulation.mains] == [2.0] * 3
    assert [simulation.terms[label] for label in simulation.pairs] == [-0.5] * 3
    assert_allclose(simulation.y, signal(simulation))
    assert synthetic(20, 8, pairs=False).pairs == []
    assert synthetic(20, 8, active=0).effects == {}


def test_same_seed_same_data():
    one, same, other = (synthetic(10, 6, seed=seed) for seed in (3, 3, 4))
    assert_array_equal(one.X, same.X)
    assert_array_equal(one.y, same.y)
    assert one.effects == same.effects
    assert not np.array_equal(one.X, other.X)


def test_correlation():
    simulation = synthetic(4000, 6, scale=2.0, correlation=0.9, seed=1)
    correlations = np.corrcoef(simulation.X.T)[np.triu_indices(6, 1)]
    assert_allclose(correlations, 0.9, atol=0.03)
    assert_allclose(simulation.X.std(axis=0), 2.0, rtol=0.06)


def test_frame():
    simulation = synthetic(5, 6)
    frame = simulation.frame()
    assert list(frame) == [*simulation.names, "y"]
    assert_array_equal(frame["y"], simulation.y)
    with pytest.raises(DataError, match="'x0' is a covariate"):
        simulation.frame(response="x0")


def test_real_covariates_choose_only_among_those_that_vary():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(3.0, 2.0, (30, 5)), columns=list("abcde")).assign(b=1.0)
    simulation = real_covariates(X, active=4, noise_variance=0.0, seed=2)
    assert simulation.mains == ["a", "c", "d", "e"]
    assert_array_equal(simulation.X, X)
    assert_allclose(simulation.y, signal(simulation))


def test_real_covariates_standardised():
    X = np.random.default_rng(0).normal(3.0, 2.0, (30, 5))
    simulation = real_covariates(X, list("abcde"), active=2, standardize=True)
    assert simulation.names == tuple("abcde")
    assert_allclose(simulation.X, (X - X.mean(axis=0)) / X.std(axis=0))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"active": 9}, "active=9.*the 8 covariates"),
        ({"active": -1}, "active=-1"),
        ({"scale": 0.0}, "scale=0.0.*positive"),
        ({"correlation": 1.0}, "correlation=1.0"),
        ({"noise_variance": -1.0}, "noise_variance=-1.0"),
    ],
)
def test_options_that_cannot_be_used(options, words):
    with pytest.raises(DataError, match=words):
        synthetic(10, 8, **options)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, np.nan, 3.0, 4.0], "missing.*'a' 1"),
        ([1.0, np.inf, 3.0, 4.0], "'a'.*row 1"),
        (["u", "v", "u", "v"], "'a' is a factor"),
    ],
)
def test_covariates_that_cannot_be_used(values, words):
    with pytest.raises(DataError, match=words):
        real_covariates({"a": values, "b": [1.0, 2.0, 3.0, 5.0]}, active=1)
