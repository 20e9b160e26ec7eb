"""Weights of the rows: whole ones are copies, others are the explicit Gaussian with noise σ²/w."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pandas as pd
import pytest
from hypothesis import given, settings
from jax.flatten_util import ravel_pytree
from scipy.stats import multivariate_normal
from strategies import Problem, make_design, make_variances, problems

from interplay.data.design import Design, design, encode
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.effects.search import strongest_pairs
from interplay.model.density import log_density
from interplay.model.kernel import gram
from interplay.model.kernelspace import KernelSpace, kernel_space
from interplay.model.marginal import Engine, engine
from interplay.model.priors import SKIM
from interplay.model.terms import interactions, mains, quadratics
from interplay.model.variances import Variances
from interplay.model.weightspace import weight_space
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
    if kind == "kernel":
        return kernel_space(made, variances.pairs, tolerance=0.0)
    return weight_space(made, variances.pairs, degree=variances.degree, quadratic=quadratic)


def some_variances(p: int, quadratic: bool) -> Variances:
    variances = make_variances(52, p, 2, pairs=1, spread=0.5)
    return variances if quadratic else replace(variances, squares=jnp.zeros(1))


def every_term(made: Design, quadratic: bool) -> list[tuple[int, ...]]:
    terms = [(), *mains(made), *interactions(made, range(made.p))]
    return terms + (quadratics(made) if quadratic else [])


@jax.jit
def evaluate(space: Engine, variances: Variances, sigma: jax.Array) -> tuple:
    return jax.value_and_grad(lambda v, s: space.log_likelihood(v, s), argnums=(0, 1))(variances, sigma)


each_engine = pytest.mark.parametrize("kind", ["kernel", "weight"])


@each_engine
@pytest.mark.parametrize("quadratic", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_whole_weights_are_copies(kind: str, quadratic: bool, standardize: bool) -> None:
    weighted, copied = weighted_and_copied(standardize)
    assert (weighted.n, weighted.total_weight, copied.n) == (10, 20.0, 20)
    variances = some_variances(weighted.p, quadratic)
    terms = every_term(weighted, quadratic)
    rows = encode(weighted, make_frame())
    np.testing.assert_allclose(encode(copied, make_frame()), rows, rtol=1e-12, atol=1e-12)

    answers, tables, pairs = [], [], []
    for made in (weighted, copied):
        space = make_engine(kind, made, variances, quadratic)
        conditional = Conditional(space, jax.tree.map(lambda leaf: leaf[None], variances), np.array([SIGMA]))
        effects = conditional.effects(terms)
        found, mixture = strongest_pairs(conditional, made, 4)
        answers.append(
            {
                "log likelihood and gradient": ravel_pytree(evaluate(space, variances, jnp.asarray(SIGMA)))[
                    0
                ],
                "means": effects[0],
                "sds": effects[1],
                "joint means": conditional.joint(terms)[0],
                "covariances": conditional.joint(terms)[1],
                "predictions": conditional.predict(rows)[0],
                "prediction sds": conditional.predict(rows)[1],
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
    position = prior.sample(jax.random.key(3), weighted.total_weight, weighted.p)
    flat, unravel = ravel_pytree(position)
    one, other = (
        jax.jit(
            jax.value_and_grad(lambda x, made=made, n=n: log_density(prior, made, n, weighted.p)(unravel(x)))
        )
        for made, n in [
            (engine(weighted, prior), weighted.total_weight),
            (engine(copied, prior), copied.n),
        ]
    )
    for mine, theirs in zip(one(flat), other(flat), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


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
        space = make_engine(kind, made, variances)
        value = jax.jit(type(space).log_likelihood)(space, variances, jnp.asarray(sigma))
        assert float(value) == pytest.approx(expected, rel=1e-7, abs=1e-7), kind


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
    space = make_engine(kind, made, variances)
    conditional = Conditional(space, jax.tree.map(lambda leaf: leaf[None], variances), np.array([SIGMA]))
    means, covariances = conditional.joint(terms)
    np.testing.assert_allclose(means[0], R @ mean, atol=1e-8)
    np.testing.assert_allclose(covariances[0], R @ covariance @ R.T, atol=1e-8)
    np.testing.assert_allclose(conditional.predict(made.X)[0][0], Phi @ mean, atol=1e-8)


def plain_log_likelihood(
    space: KernelSpace, made: Design, variances: Variances, sigma: jax.Array
) -> jax.Array:
    """The formula as it stands, for automatic differentiation."""
    w, n = jnp.asarray(made.weights), made.n
    covariance = gram(variances, space.layout, space.X, space.X) + jnp.diag(sigma**2 / w)
    normal = jax.scipy.stats.multivariate_normal.logpdf(jnp.asarray(made.y), jnp.zeros(n), covariance)
    return normal - 0.5 * jnp.sum(jnp.log(w)) - 0.5 * (jnp.sum(w) - n) * jnp.log(2.0 * jnp.pi * sigma**2)


def test_gradient_is_automatic_differentiation_is_finite_differences() -> None:
    made = fractional(make_design(53, n=14, numbers=3, factors=[3]), 54)
    variances = make_variances(55, made.p, 2, components=2, pairs=1, extra=True, spread=0.5)
    flat, unravel = ravel_pytree((variances, jnp.asarray(0.7)))
    at, step = jnp.log(flat), 1e-5
    spaces = [make_engine(kind, made, variances) for kind in ("kernel", "weight")]

    def of_logarithms(function: Callable) -> Callable:
        return jax.jit(lambda log_v: function(*unravel(jnp.exp(log_v))))

    automatic = jax.jit(jax.grad(of_logarithms(partial(plain_log_likelihood, spaces[0], made))))(at)
    for space in spaces:
        value = of_logarithms(space.log_likelihood)
        gradient = jax.jit(jax.grad(value))(at)
        differences = [(value(at + e) - value(at - e)) / (2 * step) for e in step * jnp.eye(at.size)]
        np.testing.assert_allclose(gradient, automatic, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("sigma", [0.3, 1.0])
def test_truncation_keeps_its_tolerance(sigma: float) -> None:
    made, tolerance = make_design(56, n=15, numbers=300, factors=[]), 1e-3
    made = replace(made, weights=np.geomspace(1e-2, 1e2, made.n))
    spaces = [kernel_space(made, tolerance=t) for t in (0.0, tolerance)]
    np.testing.assert_allclose(spaces[1].columns.norms, [made.weights @ made.X**k for k in (2, 4)])
    moved = []
    for tail in np.geomspace(1e-9, 1e-2, 8):
        weights = np.full((1, 300), tail)
        weights[0, :3] = 1.0
        variances = replace(make_variances(57, made.p, 2, spread=0.3), weights=jnp.asarray(weights))
        exact, truncated = (evaluate(space, variances, jnp.asarray(sigma))[0] for space in spaces)
        moved.append(abs(float(truncated - exact)))
    assert 0 < max(moved) <= tolerance


@each_engine
def test_weights_of_one_change_nothing(kind: str) -> None:
    made = make_design(58, n=16, numbers=3, factors=[3])
    variances = some_variances(made.p, quadratic=True)
    spaces = [make_engine(kind, m, variances) for m in (made, replace(made, weights=np.ones(made.n)))]
    one, other = (ravel_pytree(evaluate(space, variances, jnp.asarray(SIGMA)))[0] for space in spaces)
    np.testing.assert_allclose(one, other, rtol=1e-12)


@each_engine
@pytest.mark.parametrize(("intercept", "sigma"), [(-1e6, 1e-3), (np.nan, 1e-3), (1.0, 0.0)])
def test_undefined_is_minus_infinity_with_zero_gradient(kind: str, intercept: float, sigma: float) -> None:
    made = fractional(make_design(59, n=9, numbers=3, factors=[]), 60)
    variances = replace(some_variances(made.p, quadratic=True), intercept=jnp.asarray(intercept))
    value, gradient = evaluate(make_engine(kind, made, variances), variances, jnp.asarray(sigma))
    assert value == -jnp.inf
    assert not np.any(np.asarray(ravel_pytree(gradient)[0]))


def test_many_rows_are_gathered_in_parts() -> None:
    made = make_design(61, n=5000, numbers=2, factors=[])
    weights = np.random.default_rng(62).integers(1, 4, made.n)
    keep = np.repeat(np.arange(made.n), weights)
    weighted = replace(made, weights=weights.astype(float))
    copied = replace(made, X=made.X[keep], y=made.y[keep])
    one, other = (ravel_pytree(weight_space(m).statistics)[0] for m in (weighted, copied))
    np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-8)
