"""Mixtures of Gaussians: exact quantiles, probabilities and draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from interplay.effects.mixture import JointMixture, Mixture


def random_mixture(seed: int, s: int = 7, t: int = 11) -> Mixture:
    random = np.random.default_rng(seed)
    return Mixture(3 * random.normal(size=(s, t)), np.exp(2 * random.normal(size=(s, t))))


@given(st.integers(0, 2**31), st.integers(1, 20), st.floats(0.0005, 0.9995))
def test_quantile_inverts_the_distribution(seed: int, s: int, q: float) -> None:
    mixture = random_mixture(seed, s)
    np.testing.assert_allclose(mixture.cdf(mixture.quantile(q)), q, rtol=1e-9)


def test_one_gaussian() -> None:
    mixture = Mixture(np.array([[1.0, -2.0]]), np.array([[0.5, 3.0]]))
    law = norm([1.0, -2.0], [0.5, 3.0])
    np.testing.assert_allclose(mixture.quantile(0.05), law.ppf(0.05), rtol=1e-12)
    np.testing.assert_allclose(mixture.prob_positive, law.sf(0.0))
    np.testing.assert_allclose(mixture.lfsr, [law.cdf(0.0)[0], law.sf(0.0)[1]])
    np.testing.assert_allclose(mixture.sd, [0.5, 3.0])


def test_two_modes_are_not_one_gaussian() -> None:
    """The paper's example in Appendix E: half at zero, half at two."""
    mixture = Mixture(np.array([[0.0], [2.0]]), np.array([[0.1], [0.1]]))
    assert mixture.mean[0] == 1.0
    assert mixture.sd[0] == pytest.approx(np.sqrt(1.01))
    assert mixture.conditional_sd[0] == pytest.approx(0.1)
    assert mixture.quantile(0.25)[0] == pytest.approx(0.0, abs=1e-12)
    assert mixture.quantile(0.75)[0] == pytest.approx(2.0)
    assert mixture.prob_positive[0] == pytest.approx(0.75)


def test_point_masses() -> None:
    mixture = Mixture(np.zeros((2, 1)), np.zeros((2, 1)))
    assert (mixture.mean[0], mixture.sd[0], mixture.prob_positive[0]) == (0.0, 0.0, 0.0)
    assert mixture.lfsr[0] == 1.0
    assert mixture.quantile(0.9)[0] == 0.0
    half = Mixture(np.array([[0.0], [5.0]]), np.array([[0.0], [1.0]]))
    assert half.lfsr[0] == pytest.approx(0.5)
    assert half.quantile(0.3)[0] == pytest.approx(0.0, abs=1e-9)


def test_lfsr_of_certain_effects_does_not_round_to_zero() -> None:
    mixture = Mixture(np.array([[30.0]]), np.array([[1.0]]))
    assert mixture.lfsr[0] == pytest.approx(norm.cdf(-30.0))


def test_draws_follow_the_mixture() -> None:
    mixture = random_mixture(3, t=3)
    draws = mixture.draws(40_000, np.random.default_rng(0))
    error = mixture.sd / np.sqrt(len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - mixture.mean) < 4 * error)
    for q in (0.1, 0.5, 0.9):
        below = np.mean(draws <= mixture.quantile(q), axis=0)
        assert np.all(np.abs(below - q) < 4 * np.sqrt(q * (1 - q) / len(draws)))


def test_joint_mixture() -> None:
    random = np.random.default_rng(1)
    roots = random.normal(size=(5, 3, 2))
    joint = JointMixture(random.normal(size=(5, 3)), roots @ roots.swapaxes(1, 2))
    draws = joint.draws(60_000, random)
    np.testing.assert_allclose(draws.mean(axis=0), joint.mean, atol=0.05)
    np.testing.assert_allclose(np.cov(draws.T), joint.cov, atol=0.12)
    marginal = Mixture(joint.means, np.sqrt(np.diagonal(joint.covariances, axis1=1, axis2=2)))
    np.testing.assert_allclose(np.sqrt(np.diag(joint.cov)), marginal.sd)
