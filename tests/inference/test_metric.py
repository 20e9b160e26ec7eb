"""The metric: a linear map and its transpose, learned from draws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from interplay.inference.moves.metric import (
    DENSE_LOCAL,
    PRIOR_DRAWS,
    Metric,
    first_metric,
    learned_metric,
)

LOCAL = np.arange(3, 33)
"""Thirty coordinates of variables between three and two global ones."""


def correlated(size: int, seed: int = 0) -> np.ndarray:
    """Normal draws in 35 coordinates, with means that put the last locals first."""
    random = np.random.default_rng(seed)
    mix = np.eye(35) + 0.3 * random.normal(size=(35, 35))
    return random.normal(size=(size, 35)) @ mix.T + np.linspace(-20.0, 20.0, 35)


def matrix(metric: Metric) -> np.ndarray:
    """A, a column for each round coordinate."""
    return np.column_stack([metric.push(unit) for unit in np.eye(metric.scale.size)])


@pytest.fixture
def metric() -> Metric:
    return learned_metric(correlated(400), LOCAL)


def test_pull_is_the_transpose_of_push(metric: Metric) -> None:
    z, g = np.random.default_rng(1).normal(size=(2, 35))
    assert_allclose(metric.push(z), matrix(metric) @ z, rtol=1e-12)
    assert_allclose(metric.pull(g), matrix(metric).T @ g, rtol=1e-10, atol=1e-12)


def test_is_kept_as_arrays(metric: Metric) -> None:
    assert_array_equal(matrix(Metric.from_arrays(metric.arrays())), matrix(metric))


def test_is_the_explicit_covariance(metric: Metric) -> None:
    draws = correlated(400)
    block = [0, 1, 2, 33, 34, *range(32, 32 - DENSE_LOCAL, -1)]
    assert_array_equal(metric.block, block)
    variance = (400 * draws.var(axis=0) + PRIOR_DRAWS) / (400 + PRIOR_DRAWS)
    expected = np.diag(variance)
    # The dense block is drawn towards its diagonal, with twice the weight of the guess of a variance.
    explicit = np.cov(draws[:, block], rowvar=False, bias=True)
    shrunk = (400 * explicit + 2 * PRIOR_DRAWS * np.diag(variance[block])) / (400 + 2 * PRIOR_DRAWS)
    expected[np.ix_(block, block)] = shrunk
    A = matrix(metric)
    assert_allclose(A @ A.T, expected, atol=1e-10)


def test_many_draws_are_made_round_within_the_block() -> None:
    draws = correlated(40_000)
    metric = learned_metric(draws, LOCAL)
    round_ = np.linalg.solve(matrix(metric), (draws - draws.mean(axis=0)).T).T
    within = np.cov(round_[:, metric.block], rowvar=False)
    assert_allclose(within, np.eye(len(within)), atol=0.01)
    assert_allclose(round_.var(axis=0), 1.0, atol=0.01)


def test_few_equal_draws_still_give_a_metric() -> None:
    metric = learned_metric(np.ones((2, 35)), LOCAL)
    assert np.all(metric.scale > 0)
    assert np.all(np.diagonal(metric.root) > 0)


def test_without_locals_all_is_dense() -> None:
    draws = correlated(50)[:, :4]
    metric = learned_metric(draws, np.zeros(0, dtype=int))
    assert_array_equal(metric.block, range(4))
    one = learned_metric(draws[:, :1], np.zeros(0, dtype=int))
    assert one.root.shape == (1, 1)


def test_the_first_is_a_guess_narrow_in_the_block_and_as_wide_as_the_prior_elsewhere() -> None:
    metric = first_metric(correlated(4), LOCAL)
    scale = np.full(35, np.log(np.abs(np.random.default_rng(0).standard_cauchy(10**6))).std())
    scale[metric.block] = 0.5
    assert_allclose(matrix(metric), np.diag(scale), rtol=0.01)
