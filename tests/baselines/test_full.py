"""FULL: its density without the coefficients, and its draws beside quadrature and marginal NUTS."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpyro.infer.util import potential_energy
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

from interplay.baselines.full import full, joint_model
from interplay.model.engines.kernel_space import KernelSpace
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM, BlockDegree, TwoWay
from interplay.model.terms import monomials


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weighted rows"])
@pytest.mark.parametrize(
    "prior", [SKIM(), SKIM(degree=3), BlockDegree(degree=3, quadratic=False), BlockDegree()]
)
def test_density_without_coefficients_is_the_marginal_density(
    prior: SKIM | BlockDegree, weighted: bool
) -> None:
    data = make_design(1, n=12, numbers=2, factors=[3], binaries=1)
    if weighted:
        data = replace(data, weights=np.linspace(0.5, 2.0, data.n))
    posterior = Posterior(data, prior, Gaussian(), KernelSpace(data, tolerance=0.0))
    joint = joint_model(data, prior)
    D = len(monomials(data, prior.degree, quadratic=prior.quadratic))

    def integrated(x: jax.Array) -> jax.Array:
        def at(z: jax.Array) -> jax.Array:
            return -potential_energy(joint, (), {}, _sites(prior, x, data.p) | {"z": z})

        # A Gaussian integral in closed form: the log density is quadratic in z, its gradient linear.
        value, slope = jax.value_and_grad(at)(jnp.zeros(D))
        curvature = slope - jax.lax.map(jax.grad(at), jnp.eye(D))
        log_det = jnp.linalg.slogdet(curvature / (2.0 * jnp.pi))[1]
        return value + 0.5 * slope @ jnp.linalg.solve(curvature, slope) - 0.5 * log_det

    with jax.enable_x64(True):
        compiled = jax.jit(integrated)
        for seed in range(3):
            x = posterior.sample_prior(np.random.default_rng(seed))
            assert float(compiled(x)) == pytest.approx(posterior.log_density(x), rel=1e-7, abs=1e-6)


def test_refuses_a_prior_that_is_not_stated() -> None:
    data = make_design(1, n=12, numbers=2, factors=[])
    with pytest.raises(TypeError, match="Expected SKIM or BlockDegree"):
        full(data, TwoWay.from_variances(2, mains=0.5, pairs=0.2, squares=0.1), warmup=1, draws=1)


def _sites(prior: SKIM | BlockDegree, x: jax.Array, p: int) -> dict[str, jax.Array]:
    """The unconstrained values of NumPyro's sites at a position, which are logarithms too."""
    d = prior.degree
    if isinstance(prior, SKIM):
        sites = {"sigma": x[0], "eta1": x[1], "m_sq": x[2], "xi_sq": x[3 : d + 2], "lam": x[-p:]}
        return sites | ({"psi_sq": x[d + 2]} if prior.quadratic else {})
    sites = {"sigma": x[0], "eta1": x[1], "eta": x[2 : d + 1]}
    return sites | ({"psi": x[d + 1]} if prior.quadratic else {})


def test_agrees_with_quadrature() -> None:
    data = reference_problems()["two numbers, strong interaction"]
    sampled = by_full(data, SKIM(), warmup=150, draws=150)
    assert sampled.mean.dtype == np.float64
    _assert_agree(sampled, by_quadrature(data, SKIM()))


def test_agrees_with_plain_and_quadrature_on_a_factor() -> None:
    data = factor_and_two_numbers()
    sampled = by_full(data, SKIM(), warmup=150, draws=150)
    marginal = by_plain(data, SKIM(), chains=2, warmup=150, draws=150)
    exact = by_quadrature(data, SKIM())
    _assert_agree(sampled, marginal)
    _assert_agree(sampled, exact)
    _assert_agree(marginal, exact)


def _assert_agree(a: Reference, b: Reference) -> None:
    means, sds = z_scores(a, b)
    assert np.abs(means).max() < 4.0
    assert np.abs(sds).max() < 4.0
