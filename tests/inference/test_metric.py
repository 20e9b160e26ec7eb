"""The metric: a linear map and its inverse, learned from draws."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from interplay.inference.adaptation import EVERY, LARGEST_STEP, RELEARN, SETTLE, corrected, relearned
from interplay.inference.metric import BLOCK, PRIOR_DRAWS, Metric, first_metric, learned_metric

LOCAL = np.arange(3, 33)
"""Thirty coordinates of variables between three and two global ones."""


def correlated(size: int, seed: int = 0) -> np.ndarray:
    """Normal draws in 35 coordinates, with means that put the last locals first."""
    random = np.random.default_rng(seed)
    mix = np.eye(35) + 0.3 * random.normal(size=(35, 35))
    return random.normal(size=(size, 35)) @ mix.T + np.linspace(-20.0, 20.0, 35)


@pytest.fixture
def metric() -> Metric:
    return learned_metric(correlated(400), LOCAL)


def test_forward_and_inverse(metric: Metric) -> None:
    z = jnp.asarray(np.random.default_rng(1).normal(size=35))
    assert_allclose(metric.inverse(metric.forward(z)), z, rtol=1e-12)
    assert_allclose(metric.forward(metric.inverse(z)), z, rtol=1e-10, atol=1e-12)


def test_is_the_explicit_covariance(metric: Metric) -> None:
    draws = correlated(400)
    block = [0, 1, 2, 33, 34, *range(32, 32 - BLOCK, -1)]
    assert_array_equal(metric.block, block)
    variance = (400 * draws.var(axis=0) + PRIOR_DRAWS) / (400 + PRIOR_DRAWS)
    expected = np.diag(variance)
    # The dense block is drawn towards its diagonal, with twice the weight of the guess of a variance.
    explicit = np.cov(draws[:, block], rowvar=False, bias=True)
    shrunk = (400 * explicit + 2 * PRIOR_DRAWS * np.diag(variance[block])) / (400 + 2 * PRIOR_DRAWS)
    expected[np.ix_(block, block)] = shrunk
    A = np.asarray(jax.vmap(metric.forward)(jnp.eye(35)) - metric.centre).T
    assert_allclose(A @ A.T, expected, atol=1e-10)
    assert_allclose(metric.forward(jnp.zeros(35)), draws.mean(axis=0), atol=1e-12)


def test_many_draws_are_made_round_within_the_block() -> None:
    draws = correlated(40_000)
    metric = learned_metric(draws, LOCAL)
    round_ = np.asarray(jax.vmap(metric.inverse)(jnp.asarray(draws)))
    within = np.cov(round_[:, np.asarray(metric.block)], rowvar=False)
    assert_allclose(within, np.eye(len(within)), atol=0.01)
    assert_allclose(round_.var(axis=0), 1.0, atol=0.01)
    assert_allclose(round_.mean(axis=0), 0.0, atol=1e-10)


def test_few_equal_draws_still_give_a_metric() -> None:
    metric = learned_metric(np.ones((2, 35)), LOCAL)
    assert np.all(np.asarray(metric.scale) > 0)
    assert np.all(np.diagonal(np.asarray(metric.root)) > 0)


def test_without_locals_all_is_dense() -> None:
    draws = correlated(50)[:, :4]
    metric = learned_metric(draws, np.zeros(0, dtype=int))
    assert_array_equal(metric.block, range(4))
    one = learned_metric(draws[:, :1], np.zeros(0, dtype=int))
    assert one.root.shape == (1, 1)


def test_the_first_is_a_guess_narrow_in_the_block_and_as_wide_as_the_prior_elsewhere() -> None:
    starts = correlated(4)
    metric = first_metric(starts, LOCAL)
    scale = np.full(35, np.log(np.abs(np.random.default_rng(0).standard_cauchy(10**6))).std())
    scale[np.asarray(metric.block)] = 0.5
    assert_allclose(jax.vmap(metric.forward)(jnp.eye(35)) - metric.centre, np.diag(scale), rtol=0.01)
    assert_allclose(metric.centre, starts.mean(axis=0))


def test_the_step_follows_the_acceptance_and_settles() -> None:
    assert corrected(-1.0, 0.9, 0.8, 100) == pytest.approx(-0.9)
    assert corrected(-1.0, 0.5, 0.8, 100) == pytest.approx(-1.3)
    assert corrected(-1.0, 0.5, 0.8, 0) == pytest.approx(-1.1)
    assert corrected(np.log(LARGEST_STEP), 1.0, 0.8, 100) == np.log(LARGEST_STEP)
    gains = [corrected(-1.0, 0.9, 0.8, left) + 1.0 for left in range(2 * SETTLE, -1, -EVERY)]
    assert np.all(np.diff(gains) <= 1e-15)


def test_the_metric_is_relearned_from_the_second_half_until_it_is_fixed(metric: Metric) -> None:
    history = correlated(200).reshape(50, 4, 35)
    assert relearned(metric, history[: 2 * RELEARN - EVERY], LOCAL, 100) is metric
    assert relearned(metric, history[: 2 * RELEARN + EVERY], LOCAL, 100) is metric
    assert relearned(metric, history, LOCAL, 50) is metric
    found = relearned(metric, history, LOCAL, 100)
    expected = learned_metric(history[25:].reshape(100, 35), LOCAL)
    assert_array_equal(found.root, expected.root)
    assert_array_equal(found.centre, expected.centre)
