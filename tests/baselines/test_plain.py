"""PLAIN: its density against the package's, its draws against quadrature, and quadrature against itself."""

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
from interplay.model.density import log_density
from interplay.model.kernelspace import kernel_space
from interplay.model.priors import SKIM


@pytest.mark.parametrize("prior", [SKIM(), SKIM(quadratic=False, expected_mains=1.5, intercept_scale=1)])
def test_density_is_the_packages(prior: SKIM) -> None:
    made = make_design(11, n=15, numbers=3, factors=[3, 4], binaries=1)
    density = log_density(prior, kernel_space(made, tolerance=0.0), made.n, made.p)
    written_plainly = model(made, prior)

    @jax.jit
    def both(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        position = prior.sample(key, made.n, made.p)
        sites = {name.removeprefix("log_"): value for name, value in position.items()}
        sites["xi_sq"] = sites["xi_sq"][0]
        return -potential_energy(written_plainly, (), {}, sites), density(position)

    for seed in range(4):
        value, expected = both(jax.random.key(seed))
        assert float(value) == pytest.approx(float(expected), rel=1e-8, abs=1e-6)


@pytest.mark.user_settings
def test_agrees_with_quadrature() -> None:
    made = reference_problems()["two numbers, strong interaction"]
    means, sds = z_scores(
        by_plain(made, SKIM(), chains=2, warmup=150, draws=150), by_quadrature(made, SKIM())
    )
    assert np.abs(means).max() < 4.0
    assert np.abs(sds).max() < 4.0


@pytest.mark.parametrize(
    ("made", "prior"),
    [
        (reference_problems()["two numbers, strong interaction"], SKIM()),
        (reference_problems()["two numbers, strong interaction"], SKIM(quadratic=False)),
        (factor_and_two_numbers(), SKIM()),
    ],
    ids=["two numbers", "without squares", "factor"],
)
def test_two_resolutions_of_the_quadrature(made: Design, prior: SKIM) -> None:
    coarse = by_quadrature(made, prior, points=2**15, seed=1)
    fine = by_quadrature(made, prior, points=2**17, seed=2)
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
    made = make_design(12, n=12, numbers=4, factors=[])
    with pytest.raises(ValueError, match="Expected SKIM"):
        model(made, SKIM(degree=3))
    with pytest.raises(ValueError, match="without them"):
        model(replace(made, weights=np.ones(12)), SKIM())
