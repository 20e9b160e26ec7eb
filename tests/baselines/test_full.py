"""FULL: its density with the coefficients integrated out, and its draws beside quadrature and PLAIN."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from references import (
    Reference,
    by_full,
    by_plain,
    by_quadrature,
    factor_and_two_numbers,
    reference_problems,
    z_scores,
)
from strategies import make_design

from interplay.baselines.full import joint_density
from interplay.model.density import log_density
from interplay.model.kernelspace import kernel_space
from interplay.model.priors import SKIM, BlockDegree, Prior, TwoWay
from interplay.model.terms import monomials

FIXED = TwoWay.from_variances(4, mains=0.5, pairs=0.2, squares=np.array([0.0, 0.3, 0.1, 0.2]))


@pytest.mark.parametrize("prior", [SKIM(), BlockDegree(degree=3, quadratic=False), FIXED])
def test_density_without_coefficients_is_the_marginal_density(prior: Prior) -> None:
    made = make_design(1, n=12, numbers=2, factors=[3], binaries=1)
    if prior is FIXED:
        made = replace(made, weights=np.linspace(0.5, 2.0, made.n))
    density = joint_density(made, prior)
    space = kernel_space(made, prior.pairs, tolerance=0.0)
    marginal = log_density(prior, space, made.total_weight, made.p)
    D = len(monomials(made, prior.degree, quadratic=prior.quadratic))

    @jax.jit
    def both(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        position = prior.sample(key, made.total_weight, made.p)

        def at(z: jax.Array) -> jax.Array:
            return density(position | {"z": z})

        # A Gaussian integral in closed form: the log density is quadratic in z, its gradient linear.
        value, slope = jax.value_and_grad(at)(jnp.zeros(D))
        curvature = slope - jax.lax.map(jax.grad(at), jnp.eye(D))
        log_det = jnp.linalg.slogdet(curvature / (2.0 * jnp.pi))[1]
        integral = value + 0.5 * slope @ jnp.linalg.solve(curvature, slope) - 0.5 * log_det
        return integral, marginal(position)

    for seed in range(3):
        integral, expected = both(jax.random.key(seed))
        assert float(integral) == pytest.approx(float(expected), rel=1e-7, abs=1e-6)


@pytest.mark.user_settings
def test_agrees_with_quadrature() -> None:
    made = reference_problems()["two numbers, strong interaction"]
    sampled = by_full(made, SKIM(), warmup=150, draws=150)
    assert sampled.mean.dtype == np.float64
    _assert_agree(sampled, by_quadrature(made, SKIM()))


def test_agrees_with_plain_and_quadrature_on_a_factor() -> None:
    made = factor_and_two_numbers()
    sampled = by_full(made, SKIM(), warmup=150, draws=150)
    marginal = by_plain(made, SKIM(), chains=2, warmup=150, draws=150)
    exact = by_quadrature(made, SKIM())
    _assert_agree(sampled, marginal)
    _assert_agree(sampled, exact)
    _assert_agree(marginal, exact)


def _assert_agree(a: Reference, b: Reference) -> None:
    means, sds = z_scores(a, b)
    assert np.abs(means).max() < 4.0
    assert np.abs(sds).max() < 4.0
