"""Weights of the rows: whole ones are copies, others are the explicit Gaussian with noise σ²/w."""

from dataclasses import replace
from functools import cache, partial

import numpy as np
import oracles
import pandas as pd
import pytest
from draws import conditional_of
from engines import both_engines, differences, gradient, is_undefined, log_likelihood, rows
from hypothesis import given, settings
from scipy.stats import multivariate_normal
from strategies import Problem, make_design, make_variances, problems, ravel

from interplay.data.design import Design, design, encode
from interplay.effects.mixture import Mixture
from interplay.effects.top_pairs import strongest_pairs
from interplay.model.engines import Engine, FeatureSpace, KernelSpace
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM
from interplay.model.terms import interactions, mains, quadratics
from interplay.model.variances import Variances
from interplay.results.tables import effect_table

COPIES = np.array([1, 3, 0, 2, 1, 1, 4, 0, 2, 1, 3, 2])
SIGMA = 0.6


def make_frame() -> pd.DataFrame:
    random = np.random.default_rng(51)
    frame = pd.DataFrame(random.normal(2.0, 3.0, size=(12, 3)), columns=["a", "b", "y"])
    frame["f"] = ["u", "v", "w"] * 4
    frame["c"] = [0, 1, 1] * 4
    frame.loc[[3, 6], "a"] = np.nan
    frame.loc[[1, 4], "f"] = None
    return frame


@cache
def weighted_and_copied(standardize: bool) -> tuple[Design, Design]:
    """Twelve rows with numbers, a factor and holes: once with weights and once copied."""
    frame = make_frame()
    made = partial(design, response="y", impute="mean", standardize=standardize)
    return made(frame, weights=COPIES), made(frame.loc[np.repeat(frame.index, COPIES)])


def make_engine(kind: str, made: Design, variances: Variances, quadratic: bool = True) -> Engine:
    kernel, features = both_engines(made, variances, quadratic=quadratic)
    return kernel if kind == "kernel" else features


def some_variances(p: int, quadratic: bool) -> Variances:
    variances = make_variances(52, p, 2, pairs=1, spread=0.5)
    (component,) = variances.symmetric
    return (
        variances if quadratic else replace(variances, symmetric=(replace(component, squares=np.zeros(())),))
    )


def every_term(made: Design, quadratic: bool) -> list[tuple[int, ...]]:
    terms = [(), *mains(made), *interactions(made, range(made.p))]
    return terms + (quadratics(made) if quadratic else [])


def evaluate(engine: Engine, made: Design, variances: Variances, sigma: float) -> np.ndarray:
    """The log likelihood, and its derivatives by all prior variances and by log σ."""
    likelihood = engine.gradient(variances, rows(made, sigma))
    factor, by_log_variance = Gaussian().log_factor(np.log([sigma]), made)
    by_log_sigma = 2.0 * (likelihood.by_log_variance + by_log_variance)
    return np.concatenate([[likelihood.value + factor], ravel(likelihood.by_variances)[0], [by_log_sigma]])


each_engine = pytest.mark.parametrize("kind", ["kernel", "weight"])


@each_engine
@pytest.mark.parametrize("quadratic", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_whole_weights_are_copies(kind: str, quadratic: bool, standardize: bool) -> None:
    weighted, copied = weighted_and_copied(standardize)
    assert (weighted.n, weighted.total_weight, copied.n) == (10, 20.0, 20)
    variances = some_variances(weighted.p, quadratic)
    terms = every_term(weighted, quadratic)
    new = encode(weighted, make_frame())
    np.testing.assert_allclose(encode(copied, make_frame()), new, rtol=1e-12, atol=1e-12)

    answers, tables, pairs = [], [], []
    for made in (weighted, copied):
        engine = make_engine(kind, made, variances, quadratic)
        conditional = conditional_of(engine, made, [variances], [SIGMA])
        effects = conditional.effects(terms)
        found, mixture = strongest_pairs(conditional, made, 4)
        answers.append(
            {
                "log likelihood": log_likelihood(engine, made, variances, SIGMA),
                "log likelihood and gradient": evaluate(engine, made, variances, SIGMA),
                "means": effects[0],
                "sds": effects[1],
                "joint means": conditional.joint(terms)[0],
                "covariances": conditional.joint(terms)[1],
                "predictions": conditional.predict(new)[0],
                "prediction sds": conditional.predict(new)[1],
                "strongest pairs": mixture.means,
            }
        )
        tables.append(effect_table(made, terms, Mixture(*effects)))
        pairs.append(found)
    for name, values in answers[0].items():
        np.testing.assert_allclose(values, answers[1][name], rtol=1e-8, atol=1e-9, err_msg=name)
    pd.testing.assert_frame_equal(*tables, rtol=1e-8, atol=1e-9)
    assert pairs[0] == pairs[1]


@pytest.mark.parametrize("prior", [SKIM(), SKIM(quadratic=False)])
def test_the_posterior_of_hyperparameters_is_that_of_copies(prior: SKIM) -> None:
    weighted, copied = weighted_and_copied(True)
    one, other = (Posterior.of(made, prior, Gaussian(), precision="float64") for made in (weighted, copied))
    x = one.sample_prior(np.random.default_rng(3))
    for mine, theirs in zip(one.gradient(x), other.gradient(x), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
    assert one.log_density(x) == pytest.approx(other.log_density(x), rel=1e-9, abs=1e-9)


def fractional(made: Design, seed: int) -> Design:
    return replace(made, weights=np.exp(np.random.default_rng(seed).normal(size=made.n)))


@given(problems(max_degree=3))
@settings(max_examples=4)
def test_fractional_weights_are_the_explicit_gaussian(problem: Problem) -> None:
    made, variances, sigma = problem.build()
    made = fractional(made, problem.seed)
    w, noise = made.weights, sigma**2
    basis = oracles.monomials(made, variances.degree)
    Phi, S = oracles.features(made.X, basis), oracles.prior(made, variances, basis)
    normal = multivariate_normal(np.zeros(made.n), (Phi * S) @ Phi.T + np.diag(noise / w))
    # N(y | f, σ²)^w = N(y | f, σ²/w) w^(−½) (2πσ²)^(−½ (w − 1))
    expected = normal.logpdf(made.y) - 0.5 * np.sum(np.log(w) + (w - 1) * np.log(2 * np.pi * noise))
    for kind in ("kernel", "weight"):
        value = log_likelihood(make_engine(kind, made, variances), made, variances, sigma)
        assert value == pytest.approx(expected, rel=1e-7, abs=1e-7), kind


@each_engine
def test_effects_are_the_weight_space_posterior(kind: str) -> None:
    made = fractional(make_design(63, n=14, numbers=2, factors=[3]), 64)
    variances = some_variances(made.p, quadratic=True)
    basis = oracles.monomials(made)
    Phi, S = oracles.features(made.X, basis), oracles.prior(made, variances, basis)
    root = np.sqrt(made.weights)
    mean, covariance = oracles.posterior(Phi * root[:, None], S, SIGMA**2, made.y * root)
    terms = every_term(made, quadratic=True)
    R = oracles.directions(made, terms, basis)
    conditional = conditional_of(make_engine(kind, made, variances), made, [variances], [SIGMA])
    means, covariances = conditional.joint(terms)
    np.testing.assert_allclose(means[0], R @ mean, atol=1e-8)
    np.testing.assert_allclose(covariances[0], R @ covariance @ R.T, atol=1e-8)
    np.testing.assert_allclose(conditional.predict(made.X)[0][0], Phi @ mean, atol=1e-8)


def automatic_gradient(made: Design, variances: Variances, sigma: float) -> np.ndarray:
    """The formula as it stands, differentiated by JAX by the logarithms of the prior variances and of σ.

    ΦSΦᵀ is linear in each monomial's variance S, whose derivatives the oracle's differences give exactly.
    """
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    basis = oracles.monomials(made, variances.degree)
    Phi, w = oracles.features(made.X, basis), made.weights

    def plain_log_likelihood(S: object, log_sigma: object) -> object:
        noise = jnp.exp(2.0 * log_sigma)
        covariance = (Phi * S) @ Phi.T + jnp.diag(noise / w)
        normal = jax.scipy.stats.multivariate_normal.logpdf(made.y, jnp.zeros(made.n), covariance)
        return (
            normal - 0.5 * jnp.sum(jnp.log(w)) - 0.5 * (jnp.sum(w) - made.n) * jnp.log(2.0 * jnp.pi * noise)
        )

    flat, unravel = ravel(variances)
    with jax.enable_x64(True):
        S = oracles.prior(made, variances, basis)
        by_S, by_log_sigma = jax.jit(jax.grad(plain_log_likelihood, argnums=(0, 1)))(S, np.log(sigma))
    # S is a polynomial of at most the second degree in each number: central differences are exact.
    steps = np.diag(0.5 * flat)
    slopes = [
        oracles.prior(made, unravel(flat + e), basis) - oracles.prior(made, unravel(flat - e), basis)
        for e in steps
    ]
    return np.append(np.array(slopes) @ np.asarray(by_S), by_log_sigma)


def test_gradient_is_automatic_differentiation_is_finite_differences() -> None:
    made = fractional(make_design(53, n=14, numbers=3, factors=[3]), 54)
    variances = make_variances(55, made.p, 2, components=2, pairs=1, extra=True, spread=0.5)
    automatic = automatic_gradient(made, variances, 0.7)
    for engine in both_engines(made, variances):
        found = gradient(engine, made, variances, 0.7)
        np.testing.assert_allclose(found, automatic, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(found, differences(engine, made, variances, 0.7), rtol=1e-6, atol=1e-7)


def moved_by_truncation(weights: np.ndarray, sigma: float, tolerance: float) -> list[float]:
    """How far the log likelihood is from the exact one, for tails of many sizes."""
    made = make_design(56, n=15, numbers=300, factors=[])
    made = replace(made, weights=weights)
    exact, truncated = (KernelSpace(made, tolerance=t) for t in (0.0, tolerance))
    np.testing.assert_allclose(truncated._columns.norms, [made.weights @ made.X**k for k in (2, 4)])
    moved = []
    for tail in np.geomspace(1e-9, 1e-2, 8):
        of_variables = np.full(300, tail)
        of_variables[:3] = 1.0
        variances = make_variances(57, made.p, 2, spread=0.3)
        variances = replace(variances, symmetric=(replace(variances.symmetric[0], weights=of_variables),))
        values = [evaluate(engine, made, variances, sigma)[0] for engine in (truncated, exact)]
        moved.append(float(values[0] - values[1]))
    return moved


@pytest.mark.parametrize("sigma", [0.3, 1.0])
def test_truncation_keeps_its_tolerance(sigma: float) -> None:
    weights, tolerance = np.geomspace(1e-2, 1e2, 15), 1e-3
    moved = moved_by_truncation(weights, sigma, tolerance)
    assert 0 < np.abs(moved).max() <= tolerance
    # The same noise of every row: what is left out does not depend on the unit of the weights.
    for unit in (1e-4, 1e4):
        same = moved_by_truncation(weights * unit, sigma * np.sqrt(unit), tolerance)
        np.testing.assert_allclose(same, moved, atol=1e-8)


@each_engine
def test_weights_of_one_change_nothing(kind: str) -> None:
    made = make_design(58, n=16, numbers=3, factors=[3])
    variances = some_variances(made.p, quadratic=True)
    one, other = (
        evaluate(make_engine(kind, m, variances), m, variances, SIGMA)
        for m in (made, replace(made, weights=np.ones(made.n)))
    )
    np.testing.assert_allclose(one, other, rtol=1e-12)


@each_engine
@pytest.mark.parametrize(("intercept", "sigma"), [(-1e6, 1e-3), (np.nan, 1e-3), (1.0, 0.0)])
def test_undefined_is_minus_infinity_without_gradient(kind: str, intercept: float, sigma: float) -> None:
    made = fractional(make_design(59, n=9, numbers=3, factors=[]), 60)
    variances = replace(some_variances(made.p, quadratic=True), intercept=np.asarray(intercept))
    engine, working = make_engine(kind, made, variances), rows(made, sigma)
    # As in `Posterior`, which calls engines so.
    with np.errstate(all="ignore"):
        assert is_undefined(engine.log_likelihood(variances, working))
        assert is_undefined(engine.gradient(variances, working))


def test_many_rows_are_gathered_in_parts() -> None:
    made = make_design(61, n=5000, numbers=2, factors=[])
    weights = np.random.default_rng(62).integers(1, 4, made.n)
    keep = np.repeat(np.arange(made.n), weights)
    weighted = replace(made, weights=weights.astype(float))
    copied = replace(made, X=made.X[keep], y=made.y[keep])
    one, other = (FeatureSpace(m).statistics(rows(m, SIGMA)) for m in (weighted, copied))
    assert (one.rows, one.log_weights) == (made.n, pytest.approx(np.sum(np.log(weights))))
    assert (weighted.total_weight, copied.n, other.log_weights) == (other.rows, other.rows, 0.0)
    for name in ("gram", "projection", "square"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-10, atol=1e-8, err_msg=name
        )
