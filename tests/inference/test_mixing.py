"""R-hat and effective sample sizes of many series, against ArviZ and the formulas."""

import warnings

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from numpy.testing import assert_allclose
from numpyro.diagnostics import split_gelman_rubin
from scipy.special import ndtri
from scipy.stats import rankdata

from interplay._support.parallel import workers
from interplay.inference import mixing as module
from interplay.inference.mixing import LEAST_DRAWS, TAILS, mixing


def by_arviz(series: np.ndarray) -> list[float]:
    axes = {"chain_axis": 0, "draw_axis": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return [
            array_stats.rhat(series, **axes),
            array_stats.ess(series, method="bulk", **axes),
            array_stats.ess(series, method="tail", prob=TAILS, **axes),
        ]


def autoregressive(random: np.random.Generator, length: int, coefficient: float) -> np.ndarray:
    series = random.normal(size=(4, length))
    for draw in range(1, length):
        series[:, draw] += coefficient * series[:, draw - 1]
    return series


def many(length: int) -> np.ndarray:
    """Series of many kinds: independent, slow, alternating, with ties, heavy-tailed, apart, of two values."""
    random = np.random.default_rng(length)
    noise = random.normal(size=(4, length))
    repeated = noise[:, np.maximum.accumulate(np.where(random.random(length) < 0.7, np.arange(length), 0))]
    return np.stack(
        [
            noise,
            *(autoregressive(random, length, a) for a in (0.5, 0.9, 0.99, -0.5, -0.95)),
            repeated,
            np.round(noise),
            random.standard_cauchy(size=(4, length)),
            np.cumsum(noise, axis=1),
            noise + np.arange(4)[:, None],
            noise * np.array([1.0, 1.0, 1.0, 5.0])[:, None],
            (noise > 1.5).astype(float),
            np.full((4, length), 2.0),
        ]
    )


@pytest.mark.parametrize("length", [LEAST_DRAWS, 9, 11, 25, 50, 51, 300, 1325])
def test_is_arvizs(length: int) -> None:
    series = many(length)
    assert_allclose(np.transpose(mixing(series)), [by_arviz(one) for one in series], rtol=1e-10)


def test_is_the_formula() -> None:
    series = many(300)
    found = mixing(series)
    for one, r_hat in zip(series[:-1], found.r_hat[:-1], strict=True):
        ranked = [
            ndtri((rankdata(values).reshape(values.shape) - 0.375) / (values.size + 0.25))
            for values in (one, np.abs(one - np.median(one)))
        ]
        assert r_hat == pytest.approx(max(float(split_gelman_rubin(values)) for values in ranked), rel=1e-10)


def test_parts_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    series = many(50)
    expected = mixing(series)
    monkeypatch.setattr(module, "AT_ONCE", 3 * series[0].size)
    with workers() as crew:
        assert_allclose(mixing(series, crew), expected, rtol=1e-12)


def test_in_single_precision() -> None:
    series = many(50).astype(np.float32)
    assert_allclose(mixing(series), mixing(series.astype(np.float64)), rtol=1e-12)


def test_of_too_few_draws_nothing_is_said() -> None:
    assert np.isnan(mixing(many(LEAST_DRAWS - 1))).all()
