"""Marginal likelihood = scipy = Woodbury = naive; gradient = automatic differentiation = differences."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from hypothesis import given
from jax.flatten_util import ravel_pytree
from strategies import Problem, make_design, make_variances, problems

from interplay.baselines import naive, woodbury
from interplay.baselines.explicit import explicit
from interplay.data.design import Design
from interplay.model.kernel import gram
from interplay.model.kernelspace import KernelSpace, kernel_space
from interplay.model.marginal import engine
from interplay.model.priors import SKIM
from interplay.model.variances import Variances
from interplay.model.weightspace import WeightSpace, weight_space


def plain_log_likelihood(space: KernelSpace, variances: Variances, sigma: jax.Array) -> jax.Array:
    """The formula as it stands, for automatic differentiation."""
    K = gram(variances, space.layout, space.X, space.X)
    lower = jnp.linalg.cholesky(K + sigma**2 * jnp.eye(space.y.size))
    alpha = jax.scipy.linalg.cho_solve((lower, True), space.y)
    log_det = 2.0 * jnp.sum(jnp.log(jnp.diag(lower)))
    return -0.5 * (space.y @ alpha + log_det + space.y.size * jnp.log(2.0 * jnp.pi))


def both_engines(design: Design, variances: Variances) -> tuple[KernelSpace, WeightSpace]:
    return (
        kernel_space(design, variances.pairs, tolerance=0.0),
        weight_space(design, variances.pairs, degree=variances.degree),
    )


@given(problems())
def test_equals_scipy_woodbury_naive(problem: Problem) -> None:
    design, variances, sigma = problem.build()
    Phi, S = explicit(design, variances)
    expected = oracles.log_likelihood((Phi * S) @ Phi.T, sigma**2, design.y)
    values = {
        "woodbury": woodbury.log_likelihood(Phi, S, sigma**2, design.y),
        "naive": naive.log_likelihood(Phi, S, sigma**2, design.y),
    }
    for space in both_engines(design, variances):
        values[type(space).__name__] = float(jax.jit(type(space).log_likelihood)(space, variances, sigma))
    for name, value in values.items():
        assert value == pytest.approx(expected, rel=1e-7, abs=1e-7), name


@given(problems())
def test_gradient_equals_automatic_differentiation(problem: Problem) -> None:
    design, variances, sigma = problem.build()
    kernel, weight = both_engines(design, variances)

    @jax.jit
    def gradients(v: Variances, s: jax.Array) -> list:
        return [
            ravel_pytree(jax.grad(f, argnums=(0, 1))(v, s))[0]
            for f in (
                lambda v, s: plain_log_likelihood(kernel, v, s),
                kernel.log_likelihood,
                weight.log_likelihood,
            )
        ]

    # In the logarithm of each variance, so that all components are of one scale.
    at = np.asarray(ravel_pytree((variances, jnp.asarray(sigma)))[0])
    automatic, closed, from_weights = (np.asarray(g) * at for g in gradients(variances, jnp.asarray(sigma)))
    scale = max(1.0, np.abs(automatic).max())
    np.testing.assert_allclose(closed, automatic, atol=1e-9 * scale)
    np.testing.assert_allclose(from_weights, automatic, atol=1e-7 * scale)


@pytest.mark.parametrize("degree", [2, 3])
def test_gradient_equals_finite_differences(degree: int) -> None:
    design = make_design(3, n=14, numbers=3, factors=[3])
    variances = make_variances(4, design.p, degree, components=2, pairs=1, extra=True, spread=0.5)
    flat, unravel = ravel_pytree((variances, jnp.asarray(0.7)))
    for space in both_engines(design, variances):
        value = jax.jit(lambda log_v, space=space: space.log_likelihood(*unravel(jnp.exp(log_v))))
        at = jnp.log(flat)
        step = 1e-5
        eye = jnp.eye(at.size) * step
        differences = [(value(at + e) - value(at - e)) / (2 * step) for e in eye]
        np.testing.assert_allclose(jax.grad(value)(at), differences, rtol=1e-6, atol=1e-7)


def test_engines_agree_to_1e_8() -> None:
    design = make_design(5, n=60, numbers=4, factors=[3], binaries=1)
    variances = make_variances(6, design.p, 2, spread=1.0)
    kernel, weight = both_engines(design, variances)
    assert isinstance(engine(design, SKIM()), WeightSpace)
    for sigma in (0.1, 1.0, 10.0):
        one, other = (
            jax.value_and_grad(space.log_likelihood, argnums=(0, 1))(variances, jnp.asarray(sigma))
            for space in (kernel, weight)
        )
        np.testing.assert_allclose(ravel_pytree(one)[0], ravel_pytree(other)[0], rtol=1e-8, atol=1e-8)


def test_cheaper_engine_is_chosen() -> None:
    assert isinstance(engine(make_design(0, n=12, numbers=6, factors=[]), SKIM()), KernelSpace)
    assert isinstance(engine(make_design(0, n=200, numbers=6, factors=[]), SKIM()), WeightSpace)
    assert isinstance(engine(make_design(0, n=30, numbers=6, factors=[]), SKIM(degree=3)), KernelSpace)


@pytest.mark.parametrize("bad", [0.0, jnp.nan, jnp.inf])
@pytest.mark.parametrize("make", [kernel_space, weight_space])
def test_undefined_is_minus_infinity_with_zero_gradient(make: object, bad: float) -> None:
    design = make_design(7, n=9, numbers=2, factors=[])
    variances = make_variances(8, design.p, 2)
    variances = replace(variances, intercept=jnp.asarray(bad if bad != 0.0 else -1e6))
    space = make(design)
    value, gradient = jax.value_and_grad(space.log_likelihood, argnums=(0, 1))(variances, jnp.asarray(1e-3))
    assert value == -jnp.inf
    assert not np.any(np.asarray(ravel_pytree(gradient)[0]))


def test_single_precision_products_are_close() -> None:
    design = make_design(9, n=40, numbers=30, factors=[3])
    variances = make_variances(10, design.p, 2, spread=0.5)
    variances = replace(variances, weights=variances.weights / 30)
    exact, single = (
        jax.value_and_grad(kernel_space(design, precision=precision).log_likelihood)(
            variances, jnp.asarray(1.0)
        )
        for precision in ("float64", "float32")
    )
    assert float(exact[0]) != float(single[0])
    assert float(exact[0]) == pytest.approx(float(single[0]), abs=2e-3)
    np.testing.assert_allclose(single[1].weights, exact[1].weights, rtol=1e-3, atol=3e-3)


@jax.jit
def value_and_gradient(space: KernelSpace, variances: Variances, sigma: jax.Array) -> tuple:
    return jax.value_and_grad(space.log_likelihood)(variances, sigma)


class TestTruncation:
    """Leaving out small squares: within its tolerance where it happens, and not where it must not."""

    def evaluate(self, weights: np.ndarray, tolerance: float, sigma: float = 0.8) -> tuple[float, np.ndarray]:
        design = make_design(11, n=20, numbers=weights.size, factors=[])
        variances = make_variances(12, design.p, 2, spread=0.3)
        variances = replace(variances, weights=jnp.asarray(weights)[None])
        space = kernel_space(design, tolerance=tolerance)
        value, gradient = value_and_gradient(space, variances, jnp.asarray(sigma))
        return float(value), np.asarray(gradient.weights[0]) * weights

    def test_sparse_weights_are_truncated_within_tolerance(self) -> None:
        weights = np.full(300, 1e-6)
        weights[[5, 77, 200]] = 1.0
        exact, gradient = self.evaluate(weights, 0.0)
        truncated, truncated_gradient = self.evaluate(weights, 1e-4)
        assert 0 < abs(truncated - exact) < 1e-4
        np.testing.assert_allclose(truncated_gradient, gradient, atol=1e-4)

    @pytest.mark.parametrize("sigma", [0.01, 0.1, 1.0])
    def test_tolerance_is_a_bound_at_any_noise(self, sigma: float) -> None:
        # Just so small that what is left out is allowed.
        tolerance = 1e-3
        for tail in np.geomspace(1e-9, 1e-2, 8):
            weights = np.full(300, tail)
            weights[:3] = 1.0
            exact, truncated = (self.evaluate(weights, t, sigma)[0] for t in (0.0, tolerance))
            assert abs(truncated - exact) <= tolerance

    def test_even_weights_are_not_truncated(self) -> None:
        weights = np.full(300, 0.01)
        exact, gradient = self.evaluate(weights, 0.0)
        same, same_gradient = self.evaluate(weights, 1e-4)
        assert same == exact
        np.testing.assert_array_equal(same_gradient, gradient)


def test_chains_in_lock_step_get_the_same_values() -> None:
    design = make_design(13, n=15, numbers=150, factors=[])
    space = kernel_space(design)
    draws = [make_variances(seed, design.p, 2, spread=1.0) for seed in range(3)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *draws)
    sigma = jnp.array([0.5, 1.0, 2.0])
    evaluate = jax.value_and_grad(space.log_likelihood)
    together = jax.jit(jax.vmap(evaluate))(stacked, sigma)
    for k, draw in enumerate(draws):
        alone = jax.jit(evaluate)(draw, sigma[k])
        mine = jax.tree.map(lambda leaf, k=k: leaf[k], together)
        np.testing.assert_allclose(ravel_pytree(mine)[0], ravel_pytree(alone)[0], rtol=1e-10)


def test_many_columns_in_several_blocks_with_factors() -> None:
    design = make_design(14, n=16, numbers=600, factors=[4, 3], binaries=2)
    variances = make_variances(15, design.p, 2, pairs=2, spread=1.0)
    variances = replace(variances, weights=variances.weights / 100)
    for tolerance in (0.0, 1e-4):
        space = kernel_space(design, variances.pairs, tolerance=tolerance)
        closed = value_and_gradient(space, variances, jnp.asarray(0.6))
        plain = jax.jit(jax.value_and_grad(partial(plain_log_likelihood, space)))(variances, jnp.asarray(0.6))
        assert float(closed[0]) == pytest.approx(float(plain[0]), abs=max(tolerance, 1e-9))
        differences = (closed[1].weights - plain[1].weights) * variances.weights
        assert np.abs(differences).max() < max(tolerance, 1e-9)


def test_engines_refuse_another_prior() -> None:
    design = make_design(16, n=40, numbers=3, factors=[])
    with_pair, without = (make_variances(17, design.p, 2, pairs=k) for k in (1, 0))
    with pytest.raises(ValueError, match="1 named pairs"):
        kernel_space(design).log_likelihood(with_pair, jnp.asarray(1.0))
    with pytest.raises(ValueError, match="up to order 2"):
        weight_space(design, degree=3).log_likelihood(without, jnp.asarray(1.0))
    with pytest.raises(ValueError, match="must be below 3"):
        engine(design, SKIM(expected_mains=10))
