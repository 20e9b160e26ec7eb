"""Marginal NUTS: its density against the package's, its draws against quadrature, and two quadratures."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from numpyro.infer.util import potential_energy
from references import (
    by_plain,
    by_quadrature,
    factor_and_two_numbers,
    reference_problems,
    standard_error,
    z_scores,
)
from strategies import make_design

from interplay.baselines.plain import model
from interplay.data.design import Design
from interplay.model.engines.kernel_space import KernelSpace
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM


@pytest.mark.parametrize(
    ("prior", "family"),
    [
        (SKIM(), Gaussian()),
        (SKIM(quadratic=False, expected_mains=1.5, intercept_scale=1), Gaussian(noise_scale=0.7)),
    ],
)
def test_density_and_gradient_are_the_packages(prior: SKIM, family: Gaussian) -> None:
    data = make_design(11, n=15, numbers=3, factors=[3, 4], binaries=1)
    posterior = Posterior(data, prior, family, KernelSpace(data, tolerance=0.0))
    written_plainly = model(data, prior, family)

    def density(x: jax.Array) -> jax.Array:
        sizes = {"xi_sq": x[3:4], "psi_sq": x[4]} if prior.quadratic else {"xi_sq": x[3:4]}
        sites = {"sigma": x[0], "eta1": x[1], "m_sq": x[2], "lam": x[-data.p :]} | sizes
        return -potential_energy(written_plainly, (), {}, sites)

    with jax.enable_x64(True):
        automatic = jax.jit(jax.value_and_grad(density))
        for seed in range(4):
            x = posterior.sample_prior(np.random.default_rng(seed))
            value, gradient = automatic(x)
            closed = posterior.gradient(x)
            assert float(value) == pytest.approx(closed.value, rel=1e-8, abs=1e-6)
            assert float(value) == pytest.approx(posterior.log_density(x), rel=1e-8, abs=1e-6)
            np.testing.assert_allclose(closed.gradient, gradient, rtol=1e-6, atol=1e-6)


def test_agrees_with_quadrature() -> None:
    data = reference_problems()["two numbers, strong interaction"]
    means, sds = z_scores(
        by_plain(data, SKIM(), chains=2, warmup=150, draws=150), by_quadrature(data, SKIM())
    )
    assert np.abs(means).max() < 4.0
    assert np.abs(sds).max() < 4.0


@pytest.mark.parametrize(
    ("data", "prior"),
    [
        (reference_problems()["two numbers, strong interaction"], SKIM()),
        (reference_problems()["two numbers, strong interaction"], SKIM(quadratic=False)),
        (factor_and_two_numbers(), SKIM()),
    ],
    ids=["two numbers", "without squares", "factor"],
)
def test_two_resolutions_of_the_quadrature(data: Design, prior: SKIM) -> None:
    coarse = by_quadrature(data, prior, points=2**15, seed=1)
    fine = by_quadrature(data, prior, points=2**17, seed=2)
    np.testing.assert_allclose(coarse.mean, fine.mean, atol=1e-3)
    np.testing.assert_allclose(coarse.sd, fine.sd, atol=1e-3)
    assert max(fine.mean_error.max(), fine.sd_error.max()) < 3e-4


def test_standard_error_is_that_of_a_known_process() -> None:
    # The mean of s draws of an autoregression with coefficient a has variance (1 + a)/(1 − a)/s.
    random = np.random.default_rng(0)
    a, x = 0.7, np.zeros((4, 5000, 3))
    noise = random.normal(size=x.shape) * np.sqrt(1 - a**2)
    x[:, 0] = random.normal(size=(4, 3))
    for step in range(1, 5000):
        x[:, step] = a * x[:, step - 1] + noise[:, step]
    np.testing.assert_allclose(standard_error(x), np.sqrt((1 + a) / (1 - a) / 20000), rtol=0.1)


def test_refuses_what_it_does_not_have() -> None:
    data = make_design(12, n=12, numbers=4, factors=[])
    with pytest.raises(ValueError, match="Expected SKIM"):
        model(data, SKIM(degree=3))
    with pytest.raises(ValueError, match="without them"):
        model(replace(data, weights=np.ones(12)), SKIM())
