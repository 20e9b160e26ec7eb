"""Every answer of a fit, against the slow versions and against direct use of what lies below it."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import oracles
import pandas as pd
import pytest
from fits import make_fit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from interplay.data.design import Design, design, encode
from interplay.data.errors import DataError
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.effects.selection import select
from interplay.effects.top_pairs import strongest_pairs
from interplay.model.engines import FeatureSpace, choose_engine
from interplay.model.priors import SKIM, BlockDegree, Prior, TwoWay
from interplay.model.terms import interactions, label, mains, monomials, quadratics
from interplay.results import fit as fit_module
from interplay.results import requests
from interplay.results.fit import Fit

KERNEL_SPACE, FEATURE_SPACE = 14, 90
"""Rows with which the one engine or the other is chosen."""

CASES: dict[str, tuple[Prior, int]] = {
    "skim": (SKIM(), KERNEL_SPACE),
    "three-way": (SKIM(degree=3, quadratic=False), KERNEL_SPACE),
    "two-way": (TwoWay.from_variances(4, mains=1.0, pairs=0.5, squares=0.25), KERNEL_SPACE),
    "block degree, many rows": (BlockDegree(), FEATURE_SPACE),
}


def make(n: int) -> Design:
    """Two numbers, a two-valued number and a factor."""
    random = np.random.default_rng(n)
    frame = pd.DataFrame(
        {
            "x0": random.normal(10, 3, n),
            "x1": random.normal(size=n),
            "b0": random.permutation(np.arange(n) % 2),
            "f0": random.permutation([f"level {k % 3}" for k in range(n)]),
        }
    )
    return design(frame, random.normal(5, 2, n))


@pytest.fixture(scope="module")
def made() -> Design:
    return make(KERNEL_SPACE)


@pytest.fixture(scope="module")
def fit(made: Design) -> Fit:
    return make_fit(made, SKIM())


def explicit(fit: Fit) -> list[tuple[np.ndarray, np.ndarray, list[tuple[int, ...]], float]]:
    """For each draw: mean and covariance of all coefficients in weight space, the features, and σ."""
    found = []
    terms = oracles.monomials(fit.design, fit.prior.degree)
    stacked = fit.draws.stacked()
    for s in range(len(stacked["sigma"])):
        draw = {name: np.asarray(values[s]) for name, values in stacked.items()}
        S = oracles.prior(fit.design, fit.prior.variances(draw, fit.design.p), terms)
        kept = [term for term, variance in zip(terms, S, strict=True) if variance > 0]
        Phi = oracles.features(fit.design.X, kept)
        mean, covariance = oracles.posterior(Phi, S[S > 0], float(draw["sigma"]) ** 2, fit.design.y)
        found.append((mean, covariance, kept, float(draw["sigma"])))
    return found


def explicit_predictions(fit: Fit, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    means, sds = [], []
    for mean, covariance, terms, sigma in explicit(fit):
        Phi = oracles.features(X, terms)
        means.append(Phi @ mean)
        sds.append(np.sqrt(np.einsum("ij,jk,ik->i", Phi, covariance, Phi) + sigma**2))
    return np.array(means), np.array(sds)


def new_rows(made: Design, count: int = 5) -> pd.DataFrame:
    random = np.random.default_rng(9)
    columns = {
        v.name: random.choice(v.levels, count)
        if v.levels
        else made.centres[v.start] + made.scales[v.start] * random.choice([-1.0, 1.0], count)
        for v in made.variables
    }
    return pd.DataFrame(columns)


@pytest.mark.parametrize(("prior", "n"), CASES.values(), ids=CASES)
def test_answers_are_those_of_the_explicit_model(prior: Prior, n: int) -> None:
    made = make(n)
    fit = make_fit(made, prior)
    check_effects(fit, made)
    check_predictions(fit, made)
    check_variance_shares(fit, made)


def check_effects(fit: Fit, made: Design) -> None:
    terms = [*mains(made), *interactions(made, range(made.p)), *quadratics(made)]
    labels = [label(term, made) for term in terms]
    table = fit.effects(labels).set_index("term").loc[labels]
    draws = explicit(fit)
    means = np.array([oracles.directions(made, terms, kept) @ mean for mean, _, kept, _ in draws])
    variances = [
        np.diag(R @ covariance @ R.T)
        for _, covariance, kept, _ in draws
        for R in [oracles.directions(made, terms, kept)]
    ]
    expected = Mixture(means, np.sqrt(np.maximum(variances, 0.0)))
    assert_allclose(table["mean"], expected.mean, atol=1e-8)
    assert_allclose(table["sd"], expected.sd, atol=1e-7)
    assert_allclose(table["lfsr"], expected.lfsr, atol=1e-6)


def check_predictions(fit: Fit, made: Design) -> None:
    frame = new_rows(made)
    means, sds = explicit_predictions(fit, encode(made, frame))
    mean, sd = fit.predict(frame, return_std=True)
    scale = made.response_scale
    assert_allclose(mean, means.mean(axis=0) * scale + made.response_centre, atol=1e-7)
    assert_allclose(sd, scale * np.sqrt((sds**2).mean(axis=0) + means.var(axis=0)), atol=1e-7)
    assert_array_equal(fit.predict(frame), mean)


def check_variance_shares(fit: Fit, made: Design) -> None:
    expected = []
    for mean, _, terms, sigma in explicit(fit):
        Phi = oracles.features(made.X, terms)
        square = np.array([len(term) == 2 and len(set(term)) == 1 for term in terms])
        order = np.array([len(term) for term in terms])
        parts = [Phi[:, chosen] @ mean[chosen] for chosen in (order == 1, square, (order > 1) & ~square)]
        whole = sum(parts)
        covariances = [np.cov(part, whole, bias=True)[0, 1] for part in parts]
        expected.append(np.array([*covariances, sigma**2]) / (np.var(whole) + sigma**2))
    shares = fit.variance_shares()
    assert list(shares.columns) == ["main", "quadratic", "interaction", "noise"]
    assert_allclose(shares.to_numpy(), expected, atol=1e-8)
    assert_allclose(shares.sum(axis=1), 1.0)
    assert_allclose(fit.r2(), 1.0 - shares["noise"])
    assert np.all((fit.r2() > 0) & (fit.r2() < 1))


def test_both_engines_are_used() -> None:
    assert not isinstance(choose_engine(make(KERNEL_SPACE), SKIM()), FeatureSpace)
    assert isinstance(choose_engine(make(FEATURE_SPACE), SKIM()), FeatureSpace)


def test_interval_of_a_new_observation_holds_its_probability(fit: Fit, made: Design) -> None:
    frame = new_rows(made)
    interval = fit.predict_interval(frame, 0.8)
    means, sds = explicit_predictions(fit, encode(made, frame))
    ends = (interval - made.response_centre) / made.response_scale
    for end, probability in zip(ends.T, (0.1, 0.9), strict=True):
        assert_allclose(norm.cdf(end, means, sds).mean(axis=0), probability, atol=1e-8)


def test_predictive_draws_agree_with_the_mixture(fit: Fit, made: Design) -> None:
    frame = new_rows(made, 3)
    draws = fit.predictive_draws(frame, 20_000, random_state=1)
    mean, sd = fit.predict(frame, return_std=True)
    assert draws.shape == (20_000, 3)
    assert_allclose(draws.mean(axis=0), mean, atol=5 * sd.max() / np.sqrt(20_000))
    assert_allclose(draws.std(axis=0), sd, rtol=0.05)
    assert_array_equal(draws, fit.predictive_draws(frame, 20_000, random_state=1))


def test_rows_are_predicted_in_parts(fit: Fit, made: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = new_rows(made, 7)
    whole = fit.predict(frame), fit.predict_interval(frame), fit.predictive_draws(frame, 4, 0).shape
    monkeypatch.setattr("interplay.results.prediction.ROWS", 3)
    parts = fit.predict(frame), fit.predict_interval(frame), fit.predictive_draws(frame, 4, 0).shape
    assert_allclose(parts[0], whole[0], rtol=1e-12)
    assert_allclose(parts[1], whole[1], rtol=1e-12)
    assert parts[2] == whole[2] == (4, 7)


def test_joint(fit: Fit, made: Design) -> None:
    labels = ["x0", "x0:x1", "f0"]
    joint = fit.joint(labels)
    assert joint.labels == ("x0", "x0:x1", "f0[level 0]", "f0[level 1]", "f0[level 2]")
    table = fit.effects(labels).set_index("term").loc[list(joint.labels)]
    assert_allclose(joint.mean, table["mean"], atol=1e-12)
    assert_allclose(np.sqrt(np.diag(joint.cov)), table["sd"], rtol=1e-6)
    draws = joint.draws(50_000, random_state=0)
    assert_allclose(np.cov(draws.T), joint.cov, atol=0.05 * np.diag(joint.cov).max())
    # The effects of the levels of a factor add up to zero.
    assert_allclose(draws[:, 2:].sum(axis=1), 0.0, atol=1e-6)
    assert_allclose(joint.natural().mean, table["mean_natural"], atol=1e-12)
    unit = table["mean_natural"] / table["mean"]
    assert_allclose(joint.natural().cov, joint.cov * np.outer(unit, unit), rtol=1e-9)


def test_default_table(fit: Fit, made: Design) -> None:
    table = fit.effects()
    assert table["term"].is_unique
    assert set(table["kind"]) == {"main", "quadratic", "pair"}
    assert (table["kind"] == "main").sum() == made.d
    assert (table["kind"] == "quadratic").sum() == len(quadratics(made))
    assert table["lfsr"].is_monotonic_increasing
    assert_array_equal(table["selected"], table["lfsr"] <= 0.05)
    assert fit.selected() == table.loc[table["selected"], "term"].tolist()
    assert list(fit.effects(probability=0.5)) == list(table)
    assert set(make_fit(made, SKIM(quadratic=False)).effects()["kind"]) == {"main", "pair"}


def test_named_requests(fit: Fit, made: Design) -> None:
    assert set(fit.effects("mains")["term"]) == set(made.labels)
    assert set(fit.effects("quadratic")["term"]) == {"x0^2", "x1^2"}
    assert len(fit.effects("pairs")) == len(interactions(made, range(made.p)))
    assert fit.effects("x0:x1")["term"].tolist() == ["x0:x1"]
    assert fit.effects(["x0", "x0"])["term"].tolist() == ["x0"]
    assert set(fit.effects([("x0", "x1"), "1"])["kind"]) == {"pair", "intercept"}
    assert make_fit(made, SKIM(quadratic=False)).effects("quadratic").empty
    with pytest.raises(DataError, match="There is no term 'x0:x7'"):
        fit.effects(["x0:x7"])


def test_pairs_of_many_variables_are_the_strongest(fit: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "ALL_PAIRS", 5)
    monkeypatch.setattr(requests, "MANY_PAIRS", 4)
    pairs, mixture = strongest_pairs(fit.conditional, fit.design, 4)
    assert set(fit.effects("pairs")["term"]) == {label(pair, fit.design) for pair in pairs}
    table = fit.top_pairs(4).set_index("term")
    assert_allclose(table.loc[[label(pair, fit.design) for pair in pairs], "mean"], mixture.mean, atol=1e-12)


def test_search_goes_on_while_pairs_may_be_selected(made: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "STRONGEST", 2)
    monkeypatch.setattr(requests, "MATTER", 0.0)
    monkeypatch.setattr(requests, "FDR_CAP", 1.0)
    pairs = make_fit(made, SKIM()).effects().query("kind == 'pair'")
    assert len(pairs) == len(interactions(made, range(made.p)))


def test_rules(fit: Fit, made: Design) -> None:
    own = Mixture(*fit.conditional.effects(mains(made)))
    chosen = [label((c,), made) for c in np.flatnonzero(select(own, "paper")).tolist()]
    selected = fit.selected("paper")
    assert set(chosen) == {text for text in selected if ":" not in text and "^" not in text}
    assert all(set(text.split(":")) <= set(chosen) for text in selected if ":" in text)
    lax = fit.effects(rule="fdr", q=0.3)
    assert set(fit.selected("fdr", 0.3)) == set(lax.loc[lax["selected"], "term"])


def strong_fit() -> Fit:
    """Two variables that surely matter, and so does their interaction; the others do not."""
    made = make(KERNEL_SPACE)
    x0, x1 = made.X[:, 0], made.X[:, 1]
    made = replace(made, y=x0 - x1 + x0 * x1)
    fit = make_fit(made, SKIM())
    for name, value in {"eta1": 1.0, "eta2": 1.0, "eta3": 0.1, "kappa": 1.0, "sigma": 0.03}.items():
        fit.draws.hyperparameters[name][:] = value
    fit.draws.hyperparameters["kappa"][..., 2:] = 0.05
    return fit


def test_paper_rule_judges_pairs_by_their_mains() -> None:
    fit = strong_fit()
    assert set(fit.selected("paper")) == {"x0", "x1", "x0:x1"}
    # The main effects are looked at where they are not asked for, and not shown.
    table = fit.effects(["x0:x1", "x0:b0"], rule="paper").set_index("term")
    assert table.loc["x0:x1", "selected"]
    assert not table.loc["x0:b0", "selected"]
    assert len(table) == 2
    assert fit.top_pairs(1, rule="paper")["term"].tolist() == ["x0:x1"]


def test_at_most_so_many_draws(made: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_module, "ANSWERS", 5)
    fit = make_fit(made, SKIM())
    assert len(fit.r2()) == len(fit.conditional) == 5
    assert_array_equal(fit.observation_variance, fit.draws.stacked(5)["sigma"] ** 2)


def test_single_precision_draws_and_one_variable() -> None:
    random = np.random.default_rng(0)
    fit = make_fit(design(random.normal(size=(12, 1)), random.normal(size=12)), SKIM())
    for name, values in fit.draws.hyperparameters.items():
        fit.draws.hyperparameters[name] = values.astype(np.float32)
    assert set(fit.effects()["term"]) == {"x0", "x0^2"}
    assert fit.top_pairs().empty
    assert fit.observation_variance.dtype == np.float64


def test_text(fit: Fit) -> None:
    text = str(fit)
    assert "SKIM()" in text
    assert "14 rows, 4 variables, 1 of them factor, 6 possible pairs; response 'y'" in text
    assert "2 chains × 4" in text
    assert "Run longer: R-hat of sigma is 1.33. Raise max_draws." in " ".join(text.split())
    assert fit.effects()["term"][0] in text
    assert max(map(len, text.splitlines())) <= 100
    assert repr(fit) == "<Fit: SKIM, 14 rows, 4 variables, 2 × 4 draws, run longer>"


def test_html_is_escaped(made: Design) -> None:
    first, *others = made.variables
    variables = (replace(first, name="<b>age</b>"), *others)
    fit = make_fit(replace(made, variables=variables, left_out=("same",)), SKIM(expected_mains=1))
    assert "<b>" not in fit._repr_html_()
    assert "&lt;b&gt;age&lt;/b&gt;" in fit._repr_html_()
    assert "'same', as they are constant" in str(fit)
    assert "SKIM(expected_mains=1)" in str(fit)


def test_copies_answer_the_same(fit: Fit, made: Design) -> None:
    frame = new_rows(made)
    expected = fit.predict(frame)
    for other in (copy.deepcopy(fit), pickle.loads(pickle.dumps(fit))):
        assert_array_equal(other.predict(frame), expected)


def test_what_was_worked_out_is_not_computed_again(made: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = make_fit(made, SKIM())
    effects, pairs, paper = fit.effects(), fit.top_pairs(3), fit.selected("paper")

    def refuse(*_: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(Conditional, "over_draws", refuse)
    copied = pickle.loads(pickle.dumps(fit))
    for other in (fit, copied):
        pd.testing.assert_frame_equal(other.effects(), effects)
        pd.testing.assert_frame_equal(other.top_pairs(3), pairs)
        assert other.selected("paper") == paper
    with pytest.raises(AssertionError, match="computed again"):
        fit.effects(["x0:x1:b0"])
    with pytest.raises(AssertionError, match="computed again"):
        replace(fit, settings={}).effects()


@pytest.mark.parametrize("probability", [0.0, 1.0, 90.0])
def test_wrong_probability(fit: Fit, made: Design, probability: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        fit.predict_interval(new_rows(made), probability)


def test_wrong_size(fit: Fit, made: Design) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        fit.predictive_draws(new_rows(made), 0)
    with pytest.raises(ValueError, match="at least 1"):
        fit.top_pairs(0)


def test_weights_count_as_copies(made: Design) -> None:
    counts = np.array([1.0, 2.0, 3.0] * 5)[: made.n]
    weighted = make_fit(replace(made, weights=counts), SKIM())
    copies = np.repeat(np.arange(made.n), counts.astype(int))
    repeated = replace(weighted, design=replace(made, X=made.X[copies], y=made.y[copies]))
    assert_allclose(weighted.variance_shares(), repeated.variance_shares(), atol=1e-9)


def test_all_monomials_of_the_prior_have_an_answer(fit: Fit, made: Design) -> None:
    labels = [label(term, made) for term in monomials(made, 2)]
    assert set(fit.effects(labels)["term"]) == set(labels)
