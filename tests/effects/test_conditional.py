"""Effects = weight-space posterior = test points, and what must leave them unchanged."""

from dataclasses import replace

import numpy as np
import oracles
import pandas as pd
import pytest
from draws import conditional_of
from engines import both_engines
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Problem, make_design, make_variances, problems

from interplay.data.design import Design, design, encode
from interplay.effects import conditional as conditional_module
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import JointMixture, Mixture
from interplay.effects.scale import natural_scale
from interplay.effects.testpoints import effects_by_test_points
from interplay.effects.top_pairs import strongest_pairs
from interplay.model.engines import Engine, KernelSpace
from interplay.model.kernel import gram
from interplay.model.layout import Layout
from interplay.model.terms import interactions, mains, quadratics
from interplay.model.variances import Symmetric, Variances


def one_draw(engine: Engine, made: Design, variances: Variances, sigma: float) -> Conditional:
    return conditional_of(engine, made, [variances], [sigma])


def every_term(made: Design) -> list[tuple[int, ...]]:
    return [(), *mains(made), *interactions(made, range(made.p)), *quadratics(made)]


@given(problems(max_degree=3))
@settings(max_examples=6)
def test_effects_are_the_weight_space_posterior(problem: Problem) -> None:
    made, variances, sigma = problem.build()
    basis = oracles.monomials(made, variances.degree)
    S = oracles.prior(made, variances, basis)
    Phi = oracles.features(made.X, basis)
    mean, covariance = oracles.posterior(Phi, S, sigma**2, made.y)
    terms = every_term(made)
    R = oracles.directions(made, terms, basis)
    expected, spread = R @ mean, R @ covariance @ R.T
    prior_sd = np.sqrt(np.diag(R @ np.diag(S) @ R.T))
    new = oracles.features(made.X[:4] * 0.5, basis)
    for engine in both_engines(made, variances):
        conditional = one_draw(engine, made, variances, sigma)
        means, covariances = conditional.joint(terms)
        tolerance = 1e-6 * np.outer(prior_sd, prior_sd)
        assert np.all(np.abs(means[0] - expected) <= 1e-6 * prior_sd)
        assert np.all(np.abs(covariances[0] - spread) <= tolerance)
        marginal, sds = conditional.effects(terms)
        assert np.all(np.abs(marginal[0] - expected) <= 1e-6 * prior_sd)
        assert np.all(np.abs(sds[0] ** 2 - np.diag(spread)) <= np.diag(tolerance))
        if not any(v.levels for v in made.variables):
            predicted, predicted_sd = conditional.predict(made.X[:4] * 0.5)
            scale = np.sqrt((new**2) @ S)
            assert np.all(np.abs(predicted[0] - new @ mean) <= 1e-6 * scale)
            variance = np.einsum("ij,jk,ik->i", new, covariance, new)
            assert np.all(np.abs(predicted_sd[0] ** 2 - variance) <= 1e-6 * scale**2)


@given(problems(max_degree=2))
def test_effects_by_test_points(problem: Problem) -> None:
    made, variances, sigma = problem.build()
    if any(v.levels for v in made.variables):
        made = make_design(problem.seed, n=problem.n, numbers=made.p, factors=[])
    terms = every_term(made)
    at = Layout.of(made)

    def kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return gram(variances, at, A, B)

    mean, covariance = effects_by_test_points(kernel, made.X, made.y, sigma**2, terms)
    engine = KernelSpace(made, tolerance=0.0)
    means, covariances = one_draw(engine, made, variances, sigma).joint(terms)
    scale = np.abs(kernel(np.eye(made.p) * 2, np.eye(made.p) * 2)).max()
    np.testing.assert_allclose(mean, means[0], atol=1e-7 * np.sqrt(scale))
    np.testing.assert_allclose(covariance, covariances[0], atol=1e-7 * scale)


def test_printed_coefficients_of_the_paper_are_wrong() -> None:
    """Theorem 5.1 as printed gives θ_ij + θ_ii and θ_ii + θ_0: the reason for the mended ones."""
    theta = {(): 2.0, (0,): 3.0, (1,): 5.0, (0, 0): 7.0, (1, 1): 11.0, (0, 1): 13.0}

    def g(a: float, b: float) -> float:
        squares = theta[0, 0] * a**2 + theta[1, 1] * b**2 + theta[0, 1] * a * b
        return theta[()] + theta[0,] * a + theta[1,] * b + squares

    points = np.array([g(1, 0), g(-1, 0), g(0, 1), g(1, 1)])
    assert points @ [-0.5, 0.5, -1.0, 1.0] == theta[0, 1] + theta[0, 0]
    assert points @ [0.5, 0.5, 0.0, 0.0] == theta[0, 0] + theta[()]


def posterior_by_label(made: Design, variances: Variances, sigma: float) -> dict[tuple[str, ...], tuple]:
    terms = every_term(made)
    means, sds = one_draw(KernelSpace(made), made, variances, sigma).effects(terms)
    names = [tuple(sorted(made.labels[c] for c in term)) for term in terms]
    return {name: (m, s) for name, m, s in zip(names, means[0], sds[0], strict=True)}


def make_frame(seed: int = 5) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    data = pd.DataFrame(random.normal(size=(20, 4)), columns=list("abcd"))
    data["f"] = np.array(["u", "v", "w"])[np.arange(20) % 3]
    data["y"] = random.normal(size=20) + data["a"] * data["b"]
    return data


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return make_frame()


WEIGHTS = {"a": 0.5, "b": 0.3, "c": 0.2, "d": 0.01, "f": 0.4}


def variances_by_name(made: Design) -> Variances:
    return Variances(
        intercept=np.asarray(2.0),
        symmetric=(
            Symmetric(
                np.array([WEIGHTS[name] for name in made.names]), np.array([1.0, 2.0]), np.asarray(0.5)
            ),
        ),
        p=made.p,
    )


@given(st.integers(0, 2**31))
def test_permuting_columns_permutes_effects(seed: int) -> None:
    frame = make_frame(seed)
    one, other = design(frame, "y"), design(frame[["f", "d", "b", "a", "c", "y"]], "y")
    first = posterior_by_label(one, variances_by_name(one), 0.7)
    second = posterior_by_label(other, variances_by_name(other), 0.7)
    assert first.keys() == second.keys()
    for name, values in first.items():
        np.testing.assert_allclose(second[name], values, rtol=1e-8, atol=1e-12)


@given(st.integers(0, 2**31))
def test_flipping_a_sign_flips_effects(seed: int) -> None:
    frame = make_frame(seed)
    one, other = design(frame, "y"), design(frame.assign(a=-frame["a"]), "y")
    first = posterior_by_label(one, variances_by_name(one), 0.7)
    second = posterior_by_label(other, variances_by_name(other), 0.7)
    for name, (mean, sd) in first.items():
        sign = -1 if name.count("a") == 1 else 1
        np.testing.assert_allclose(second[name], (sign * mean, sd), rtol=1e-8, atol=1e-12)


@given(st.integers(0, 2**31))
def test_renaming_levels_changes_nothing(seed: int) -> None:
    frame = make_frame(seed)
    renamed = {"u": "3rd", "v": "1st", "w": "2nd"}
    one, other = design(frame, "y"), design(frame.assign(f=frame["f"].map(renamed)), "y")
    first = posterior_by_label(one, variances_by_name(one), 0.7)
    second = posterior_by_label(other, variances_by_name(other), 0.7)
    for name, values in first.items():
        new = tuple(sorted(f"f[{renamed[part[2]]}]" if part.startswith("f[") else part for part in name))
        np.testing.assert_allclose(second[new], values, rtol=1e-8, atol=1e-12)


@given(st.integers(0, 2**31))
def test_units_do_not_matter_on_the_natural_scale(seed: int) -> None:
    frame = make_frame(seed)

    def natural(data: pd.DataFrame) -> dict[tuple[str, ...], float]:
        made = design(data, "y")
        slope, shift = natural_scale(made, every_term(made))
        values = posterior_by_label(made, variances_by_name(made), 0.7)
        return {
            name: a * mean + b for (name, (mean, _)), a, b in zip(values.items(), slope, shift, strict=True)
        }

    metres = natural(frame)
    millimetres = natural(frame.assign(a=1000 * frame["a"] + 7, y=100 * frame["y"] - 3))
    for name, value in metres.items():
        expected = 100 * value / 1000 ** name.count("a") - (3 if name == () else 0)
        np.testing.assert_allclose(millimetres[name], expected, rtol=1e-8, atol=1e-10)


def test_natural_effects_are_contrasts_of_predictions(frame: pd.DataFrame) -> None:
    made = design(frame, "y")
    conditional = one_draw(KernelSpace(made), made, variances_by_name(made), 0.7)
    terms = [(), (0,), (0, 0), (0, 1)]
    slope, shift = natural_scale(made, terms)
    intercept, main, square, pair = slope * conditional.effects(terms)[0][0] + shift

    def predict(a: float, b: float) -> float:
        at = frame[["a", "b", "c", "d"]].mean()
        rows = pd.DataFrame([at] * 3).assign(a=at["a"] + a, b=at["b"] + b, f=["u", "v", "w"])
        mean = conditional.predict(encode(made, rows))[0][0].mean()
        return mean * made.response_scale + made.response_centre

    assert predict(0, 0) == pytest.approx(intercept)
    assert (predict(1, 0) - predict(-1, 0)) / 2 == pytest.approx(main)
    assert (predict(1, 0) + predict(-1, 0)) / 2 - predict(0, 0) == pytest.approx(square)
    interaction = predict(1, 1) - predict(1, -1) - predict(-1, 1) + predict(-1, -1)
    assert interaction / 4 == pytest.approx(pair)


def test_levels_of_a_factor_sum_to_zero(frame: pd.DataFrame) -> None:
    made = design(frame, "y")
    start, stop = made.variables[4].start, made.variables[4].stop
    terms = [(c,) for c in range(start, stop)]
    for engine in both_engines(made, variances_by_name(made)):
        means, covariances = one_draw(engine, made, variances_by_name(made), 0.7).joint(terms)
        assert means.sum() == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(covariances[0].sum(axis=0), 0.0, atol=1e-12)


def test_terms_without_prior_variance_are_surely_zero() -> None:
    made = make_design(1, n=30, numbers=3, factors=[])
    variances = make_variances(2, made.p, degree=2)
    for engine in both_engines(made, variances):
        means, sds = one_draw(engine, made, variances, 1.0).effects([(0, 1, 2)])
        assert means[0, 0] == sds[0, 0] == 0.0


def test_combinations_are_those_of_the_joint_posterior(frame: pd.DataFrame) -> None:
    made = design(frame, "y")
    terms = [(0,), (0, 1), (4,), (5,)]
    A = np.array([[1.0, -1.0, 0.0, 0.5], [0.0, 2.0, 1.0, 1.0]])
    for engine in both_engines(made, variances_by_name(made)):
        conditional = one_draw(engine, made, variances_by_name(made), 0.7)
        means, covariances = conditional.joint(terms)
        combined, spread = conditional.combinations(terms, A)
        np.testing.assert_allclose(combined[0], A @ means[0], atol=1e-12)
        np.testing.assert_allclose(spread[0], A @ covariances[0] @ A.T, atol=1e-12)


def test_answers_do_not_depend_on_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_design(1, n=12, numbers=3, factors=[])
    draws = [make_variances(seed, made.p, degree=2) for seed in range(4)]
    terms = every_term(made)

    def ask(block: int) -> tuple[np.ndarray, ...]:
        monkeypatch.setattr(conditional_module, "BLOCK", block)
        conditional = conditional_of(KernelSpace(made), made, draws, [0.5, 1.0, 1.5, 2.0])
        return (*conditional.effects(terms), *conditional.predict(made.X), conditional.effects([])[0])

    for one, other in zip(ask(4096), ask(2), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_terms_outside_the_design_are_refused_and_order_does_not_matter() -> None:
    made = make_design(1, n=30, numbers=3, factors=[])
    variances = make_variances(2, made.p, degree=2)
    for engine in both_engines(made, variances):
        conditional = one_draw(engine, made, variances, 1.0)
        np.testing.assert_array_equal(*(conditional.effects([pair])[0] for pair in [(0, 1), (1, 0)]))
        for wrong in [(3,), (-1,), (0, 7)]:
            with pytest.raises(ValueError, match="outside 0 … 2"):
                conditional.effects([wrong])


def test_a_draw_that_is_not_a_number_is_refused() -> None:
    made = make_design(1, n=12, numbers=3, factors=[])
    draws = [make_variances(2, made.p, degree=2)] * 3
    draws[1] = replace(draws[1], intercept=np.asarray(-1e6))
    conditional = conditional_of(KernelSpace(made), made, draws, [1.0] * 3)
    with pytest.raises(ValueError, match="1 of 3 draws is not a number"):
        Mixture(*conditional.effects([(0,)]))
    with pytest.raises(ValueError, match="1 of 3 draws is not a number"):
        JointMixture(*conditional.joint([(0,), (1,)]))
    with pytest.raises(ValueError, match="1 of 3 draws is not a number"):
        strongest_pairs(conditional, made, 2)


def test_missing_levels_are_the_average_level() -> None:
    frame = make_frame()
    frame.loc[[2, 7, 11], "f"] = None
    frame.loc[[1, 5], "a"] = np.nan
    made = design(frame, "y", impute="mean")
    variances = make_variances(3, made.p, degree=3, components=2, pairs=3, spread=0.7)
    basis = oracles.monomials(made, 3)
    Phi, S = oracles.features(made.X, basis), oracles.prior(made, variances, basis)
    mean, covariance = oracles.posterior(Phi, S, 0.5, made.y)
    terms = every_term(made)
    R = oracles.directions(made, terms, basis)
    rows = encode(made, frame.drop(columns="y"))
    np.testing.assert_array_equal(rows, made.X)
    for engine in both_engines(made, variances):
        conditional = one_draw(engine, made, variances, np.sqrt(0.5))
        means, covariances = conditional.joint(terms)
        np.testing.assert_allclose(means[0], R @ mean, atol=1e-7)
        np.testing.assert_allclose(covariances[0], R @ covariance @ R.T, atol=1e-7)
        np.testing.assert_allclose(conditional.predict(rows)[0][0], Phi @ mean, atol=1e-7)
