"""Marginal likelihood = scipy = Woodbury = naive; its gradient = differences, for both engines."""

from dataclasses import replace

import numpy as np
import oracles
import pytest
from engines import both_engines, differences, gradient, is_undefined, log_likelihood, rows
from hypothesis import given, settings
from strategies import Problem, make_design, make_variances, problems, ravel

from interplay.data.design import Design
from interplay.model.engines import FeatureSpace, KernelSpace, choose_engine
from interplay.model.kernel import gram
from interplay.model.layout import Layout
from interplay.model.priors import SKIM
from interplay.model.variances import Variances


def explicit(design: Design, variances: Variances) -> tuple[np.ndarray, np.ndarray]:
    basis = oracles.monomials(design, variances.degree)
    return oracles.features(design.X, basis), oracles.prior(design, variances, basis)


def with_weights(variances: Variances, weights: np.ndarray) -> Variances:
    """The same with other weights of its one component."""
    (component,) = variances.symmetric
    return replace(variances, symmetric=(replace(component, weights=weights),))


def scaled(variances: Variances, factor: float) -> Variances:
    (component,) = variances.symmetric
    return with_weights(variances, component.weights * factor)


@given(problems())
def test_equals_scipy_woodbury_naive(problem: Problem) -> None:
    from interplay.baselines import naive, woodbury

    design, variances, sigma = problem.build()
    Phi, S = explicit(design, variances)
    expected = oracles.log_likelihood((Phi * S) @ Phi.T, sigma**2, design.y)
    values = {
        "woodbury": woodbury.log_likelihood(Phi, S, sigma**2, design.y),
        "naive": naive.log_likelihood(Phi, S, sigma**2, design.y),
    }
    for name, value in values.items():
        assert value == pytest.approx(expected, rel=1e-7, abs=1e-7), name


@given(problems())
def test_equals_scipy(problem: Problem) -> None:
    design, variances, sigma = problem.build()
    Phi, S = explicit(design, variances)
    expected = oracles.log_likelihood((Phi * S) @ Phi.T, sigma**2, design.y)
    for space in both_engines(design, variances):
        value = log_likelihood(space, design, variances, sigma)
        assert value == pytest.approx(expected, rel=1e-7, abs=1e-7), type(space).__name__
        assert space.gradient(variances, rows(design, sigma)).value == pytest.approx(value, rel=1e-12)


def explicit_gradient(design: Design, variances: Variances, sigma: float) -> np.ndarray:
    """½ [αᵀ dK α − tr H dK] for each number, with dK by differences of ΦSΦᵀ, in which K is a polynomial."""
    flat, unravel = ravel(variances)
    at, X, step = Layout.of(design), design.X, 1e-4
    H = np.linalg.inv(gram(variances, at, X, X) + sigma**2 * np.eye(design.n))
    alpha = H @ design.y
    G = 0.5 * (np.outer(alpha, alpha) - H)
    found = []
    for e in np.eye(flat.size):
        # Five points: exact for polynomials up to the fourth degree.
        K = {k: gram(unravel(flat * (1 + k * step * e)), at, X, X) for k in (-2, -1, 1, 2)}
        dK = (K[-2] - 8 * K[-1] + 8 * K[1] - K[2]) / (12 * step)
        found.append(np.sum(G * dK))
    return np.append(found, 2.0 * sigma**2 * np.trace(G))


@given(problems())
@settings(max_examples=5)
def test_gradient_equals_the_formula_by_trace(problem: Problem) -> None:
    design, variances, sigma = problem.build()
    # In the logarithm of each variance, so that all components are of one scale.
    expected = explicit_gradient(design, variances, sigma)
    scale = max(1.0, np.abs(expected).max())
    closed, from_features = (gradient(s, design, variances, sigma) for s in both_engines(design, variances))
    np.testing.assert_allclose(closed, expected, atol=1e-7 * scale)
    np.testing.assert_allclose(from_features, closed, atol=1e-7 * scale)


@pytest.mark.parametrize("subsets", [False, True])
@pytest.mark.parametrize("crossed", [0, 2])
@pytest.mark.parametrize("degree", [2, 3, 4])
def test_gradient_equals_finite_differences(degree: int, crossed: int, subsets: bool) -> None:
    design = make_design(3, n=14, numbers=3, factors=[3])
    variances = make_variances(
        4, design.p, degree, 2, pairs=1, extra=True, spread=0.5, crossed=crossed, subsets=subsets
    )
    found = []
    for space in both_engines(design, variances):
        found.append(gradient(space, design, variances, 0.7))
        expected = differences(space, design, variances, 0.7)
        np.testing.assert_allclose(found[-1], expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(*found, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("degree", [2, 3])
def test_gradient_equals_automatic_differentiation(degree: int) -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    design = make_design(3, n=14, numbers=3, factors=[3])
    variances = make_variances(4, design.p, degree, spread=0.5)
    basis = oracles.monomials(design, degree)
    Phi = oracles.features(design.X, basis)
    counts = np.array([[np.sum(design.owner[list(t)] == g) for g in range(design.p)] for t in basis])
    kinds = np.array([-1 if len(set(t)) < len(t) else len(t) for t in basis])

    def by_hand(log_flat: object) -> object:
        flat = jnp.exp(log_flat)
        intercept, w, orders = flat[0], flat[1 : 1 + design.p], flat[1 + design.p : -2]
        squares, sigma = flat[-2], flat[-1]
        S = jnp.stack([intercept, *orders, squares])[kinds] * jnp.exp(counts @ jnp.log(w))
        K = (Phi * S) @ Phi.T + sigma**2 * jnp.eye(design.n)
        return jax.scipy.stats.multivariate_normal.logpdf(design.y, jnp.zeros(design.n), K)

    with jax.enable_x64(True):
        at = np.append(np.log(ravel(variances)[0]), np.log(0.7))
        value, automatic = jax.jit(jax.value_and_grad(by_hand))(jnp.asarray(at))
    for space, tolerance in zip(both_engines(design, variances), (1e-9, 1e-7), strict=True):
        assert log_likelihood(space, design, variances, 0.7) == pytest.approx(float(value), rel=1e-10)
        scale = max(1.0, np.abs(automatic).max())
        np.testing.assert_allclose(gradient(space, design, variances, 0.7), automatic, atol=tolerance * scale)


def test_engines_agree_to_1e_8() -> None:
    design = make_design(5, n=60, numbers=4, factors=[3], binaries=1)
    variances = make_variances(6, design.p, 2, spread=1.0)
    assert isinstance(choose_engine(design, SKIM()), FeatureSpace)
    for sigma in (0.1, 1.0, 10.0):
        one, other = (
            np.append(
                log_likelihood(space, design, variances, sigma), raw_gradient(space, design, variances, sigma)
            )
            for space in both_engines(design, variances)
        )
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8)


def raw_gradient(
    space: KernelSpace | FeatureSpace, design: Design, variances: Variances, sigma: float
) -> np.ndarray:
    """By the variances and by σ themselves, not by their logarithms."""
    return gradient(space, design, variances, sigma) / np.append(ravel(variances)[0], sigma)


def test_cheaper_engine_is_chosen() -> None:
    assert isinstance(choose_engine(make_design(0, n=12, numbers=6, factors=[]), SKIM()), KernelSpace)
    assert isinstance(choose_engine(make_design(0, n=200, numbers=6, factors=[]), SKIM()), FeatureSpace)
    assert isinstance(choose_engine(make_design(0, n=30, numbers=6, factors=[]), SKIM(degree=3)), KernelSpace)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
@pytest.mark.parametrize("make", [KernelSpace, FeatureSpace])
def test_undefined_is_minus_infinity_without_gradient(make: type, bad: float) -> None:
    design = make_design(7, n=9, numbers=2, factors=[])
    variances = make_variances(8, design.p, 2)
    variances = replace(variances, intercept=np.asarray(bad if bad != 0.0 else -1e6))
    space, working = make(design), rows(design, 1e-3)
    # As in `Posterior`, which calls engines so.
    with np.errstate(all="ignore"):
        assert is_undefined(space.log_likelihood(variances, working))
        assert is_undefined(space.gradient(variances, working))


def test_single_precision_products_are_close() -> None:
    design = make_design(9, n=40, numbers=30, factors=[3])
    variances = scaled(make_variances(10, design.p, 2, spread=0.5), 1 / 30)
    exact, single = (
        KernelSpace(design, precision=precision).gradient(variances, rows(design, 1.0))
        for precision in ("float64", "float32")
    )
    assert exact.value != single.value
    assert exact.value == pytest.approx(single.value, abs=2e-3)
    np.testing.assert_allclose(
        single.by_variances.symmetric[0].weights,
        exact.by_variances.symmetric[0].weights,
        rtol=1e-3,
        atol=3e-3,
    )
    assert single.by_log_variance == pytest.approx(exact.by_log_variance, abs=2e-3)
    assert [KernelSpace(design, precision=p).single_precision for p in ("float64", "float32")] == [
        False,
        True,
    ]


class TestTruncation:
    """Leaving out small squares: within its tolerance where it happens, and not where it must not."""

    def evaluate(self, weights: np.ndarray, tolerance: float, sigma: float = 0.8) -> tuple[float, np.ndarray]:
        design = make_design(11, n=20, numbers=weights.size, factors=[])
        variances = with_weights(make_variances(12, design.p, 2, spread=0.3), weights)
        space = KernelSpace(design, tolerance=tolerance)
        likelihood = space.gradient(variances, rows(design, sigma))
        value = space.log_likelihood(variances, rows(design, sigma)).value
        assert value == likelihood.value
        return value, likelihood.by_variances.symmetric[0].weights * weights

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


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_many_columns_in_several_blocks_with_factors(precision: str) -> None:
    design = make_design(14, n=16, numbers=1100, factors=[4, 3], binaries=2)
    variances = scaled(make_variances(15, design.p, 2, pairs=2, spread=1.0, crossed=1), 1 / 100)
    variances = replace(
        variances,
        crossed=(replace(variances.crossed[0], scale=np.asarray(variances.crossed[0].scale * 1e-4)),),
    )
    exact = KernelSpace(design, tolerance=0.0).gradient(variances, rows(design, 0.6))
    K = gram(variances, Layout.of(design), design.X, design.X)
    assert exact.value == pytest.approx(oracles.log_likelihood(K, 0.36, design.y), abs=1e-9)
    for tolerance in (0.0, 1e-4):
        space = KernelSpace(design, tolerance=tolerance, precision=precision)
        closed = space.gradient(variances, rows(design, 0.6))
        near = max(tolerance, 1e-9 if precision == "float64" else 2e-3)
        assert closed.value == pytest.approx(exact.value, abs=near)
        by = closed.by_variances.symmetric[0].weights - exact.by_variances.symmetric[0].weights
        assert np.abs(by * variances.symmetric[0].weights).max() < near


def test_more_rows_than_a_stripe() -> None:
    design = make_design(18, n=300, numbers=12, factors=[3])
    variances = make_variances(19, design.p, 2, pairs=1, extra=True, spread=0.5, crossed=1)
    one, other = (gradient(space, design, variances, 0.8) for space in both_engines(design, variances))
    np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-7)


def test_engines_refuse_another_prior() -> None:
    design = make_design(16, n=40, numbers=3, factors=[])
    variances = make_variances(17, design.p, 3)
    with pytest.raises(ValueError, match="up to order 3"):
        FeatureSpace(design, degree=2).log_likelihood(variances, rows(design, 1.0))
    with pytest.raises(ValueError, match="must be below 3"):
        choose_engine(design, SKIM(expected_mains=10))
