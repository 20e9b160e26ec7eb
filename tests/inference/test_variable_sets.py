"""The evidence of sets of variables: that of the explicit features of their members."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import features, monomials
from oracles import prior as prior_variances
from scipy.stats import multivariate_normal
from sets import TwoComponents
from strategies import make_design

from interplay.data.design import Design
from interplay.inference.search.sets import score
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM, Prior
from interplay.model.variable_sets import Evidence, SetEvidence, VariableSets, _compact, _Features

CHOSEN = [[], [1], [0, 2, 3], [0, 1, 2, 3, 4], [4, 1]]

PRIORS = {
    "SKIM": SKIM(expected_mains=2),
    "without squares": SKIM(expected_mains=2, quadratic=False),
    "two components": TwoComponents(),
    "further mains": TwoComponents(further=True),
    "further mains without squares": TwoComponents(further=True, quadratic=False),
}


def make(weighted: bool, n: int = 60) -> Design:
    made = make_design(8, n=n, numbers=3, factors=[3], binaries=1)
    return replace(made, weights=np.random.default_rng(2).uniform(0.3, 3.0, size=n)) if weighted else made


def assessor_of(made: Design, prior: Prior) -> SetEvidence:
    posterior = Posterior.of(made, prior, Gaussian())
    return posterior.set_evidence(np.arange(made.n), np.random.default_rng(0))


def sets_of(chosen: list[list[int]], p: int) -> VariableSets:
    padded = np.array([[*members, *[p] * (5 - len(members))] for members in chosen])
    random = np.random.default_rng(1)
    return VariableSets(padded, random.normal(-0.2, 0.3, len(chosen)), random.normal(-0.5, 0.3, len(chosen)))


def covariance(assessor: SetEvidence, sets: VariableSets, s: int) -> np.ndarray:
    """ΦSΦᵀ + diag v of the features within a set."""
    posterior, made = assessor.posterior, assessor.posterior.design
    inside = np.isin(np.arange(made.p), sets.members[s])
    x = posterior.position_of(inside, np.array(np.exp(sets.log_size[s])), np.array(sets.log_noise[s]))
    terms = monomials(made, posterior.prior.degree)
    S = prior_variances(made, posterior.variances(posterior.constrain(x)), terms)
    S *= [set(made.owner[list(term)].tolist()) <= set(sets.members[s].tolist()) for term in terms]
    Phi, weights = features(made.X, terms), np.ones(made.n) if made.weights is None else made.weights
    return Phi * S @ Phi.T + np.diag(np.exp(2.0 * sets.log_noise[s]) / weights)


def expected_evidence(assessor: SetEvidence, sets: VariableSets, s: int) -> float:
    """Rows of weight w count as w copies."""
    made = assessor.posterior.design
    value = multivariate_normal(np.zeros(made.n), covariance(assessor, sets, s)).logpdf(made.y)
    if made.weights is None:
        return float(value)
    log_two_pi_variance = np.log(2.0 * np.pi) + 2.0 * sets.log_noise[s]
    return float(value - 0.5 * np.sum((made.weights - 1.0) * log_two_pi_variance + np.log(made.weights)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", PRIORS)
def test_evidence_is_that_of_the_explicit_features_on_both_ways(name: str, weighted: bool) -> None:
    assessor = assessor_of(make(weighted), PRIORS[name])
    p = assessor.posterior.p
    sets = sets_of(CHOSEN, p)
    expected = [expected_evidence(assessor, sets, s) for s in range(len(sets))]
    alpha = [
        np.linalg.solve(covariance(assessor, sets, s), assessor.posterior.design.y) for s in range(len(sets))
    ]
    compact = replace(sets, members=_compact(sets.members, p))
    ways = _both_ways(assessor, compact)
    for found in (*ways, assessor.assess(sets)):
        assert_allclose(found.log_likelihood, expected, rtol=1e-8)
        assert_allclose(found.alpha, alpha, rtol=1e-7, atol=1e-8)
    assert_allclose(ways[0].precision, ways[1].precision, rtol=1e-8)


def _both_ways(assessor: SetEvidence, sets: VariableSets) -> tuple[Evidence, Evidence]:
    columns = assessor._columns.shape[1]
    explicit = _Features.of(sets.members.shape[1], columns, assessor.posterior.prior.degree)
    assert explicit is not None
    return assessor._in_feature_space(sets, explicit), assessor._in_kernel_space(sets)


@pytest.mark.parametrize("n", [12, 60])
def test_sets_together_are_as_one_by_one_in_any_order_of_their_members(n: int) -> None:
    # With few rows by the kernel, with more by the features.
    assessor = assessor_of(make(True, n), TwoComponents(further=True))
    p = assessor.posterior.p
    sets = sets_of(CHOSEN, p)
    together = assessor.assess(sets)
    for s in range(len(sets)):
        one = sets[slice(s, s + 1)]
        mixed = replace(one, members=one.members[:, ::-1].copy())
        for alone in (assessor.assess(one), assessor.assess(mixed)):
            assert_allclose(alone.log_likelihood[0], together.log_likelihood[s], rtol=1e-9)
            assert_allclose(alone.alpha[0], together.alpha[s], rtol=1e-7, atol=1e-9)
            assert_allclose(alone.precision[0], together.precision[s], rtol=1e-8)


def test_orders_beyond_pairs_go_by_the_kernel() -> None:
    assessor = assessor_of(make(True, 40), TwoComponents(degree=3))
    sets = sets_of(CHOSEN, assessor.posterior.p)
    expected = [expected_evidence(assessor, sets, s) for s in range(len(sets))]
    assert_allclose(assessor.assess(sets).log_likelihood, expected, rtol=1e-8)


def test_on_some_rows() -> None:
    made, prior, rows = make(True), SKIM(expected_mains=2), np.arange(3, 60, 2)
    part = replace(made, X=made.X[rows], y=made.y[rows], weights=made.weights[rows])
    whole = Posterior.of(made, prior, Gaussian()).set_evidence(rows, np.random.default_rng(0))
    sets = sets_of(CHOSEN, made.p)
    expected = [expected_evidence(assessor_of(part, prior), sets, s) for s in range(len(sets))]
    assert_allclose(whole.assess(sets).log_likelihood, expected, rtol=1e-8)


@pytest.mark.parametrize("chosen", [[], [1], [0, 2, 3], [0, 1, 2, 3, 4]])
def test_further_members_have_their_prior_odds(chosen: list[int]) -> None:
    assessor = assessor_of(make(False), SKIM(expected_mains=2))
    sets = sets_of([chosen], 5)
    scored = score(assessor, sets)
    log_odds = np.log(2.0 / 3.0) * max(len(chosen) - 2, 0)
    assert_allclose(scored.log_evidence, assessor.assess(sets).log_likelihood + log_odds, rtol=1e-12)


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("weighted", [False, True])
def test_bayes_factors_are_the_gain_of_each_feature_alone(name: str, weighted: bool) -> None:
    made, chosen = make(weighted, 30), [0, 3]
    assessor = assessor_of(made, PRIORS[name])
    sets = sets_of([chosen], made.p)
    evidence = assessor.assess(sets)
    H = np.linalg.inv(covariance(assessor, sets, 0))
    probe = assessor._probe
    assert set(np.abs(probe)) == {1.0}
    average = probe @ H @ probe / made.n
    assert_allclose(evidence.precision[0], average, rtol=1e-8)
    posterior = assessor.posterior
    everyone = posterior.position_of(
        np.ones(made.p, dtype=bool), np.array(np.exp(sets.log_size[0])), np.array(sets.log_noise[0])
    )
    variances = posterior.variances(posterior.constrain(everyone))

    def gain(term: tuple[int, ...]) -> float:
        S = prior_variances(made, variances, [term])[0]
        feature = features(made.X, [term])[:, 0]
        information = S * average * feature @ feature
        return 0.5 * float(S * (feature @ H @ made.y) ** 2 / (1 + information) - np.log1p(information))

    expected = np.zeros(made.p)
    for column, owner in enumerate(made.owner):
        expected[owner] += gain((column,))
        expected[owner] += sum(
            gain((column, other))
            for other in range(made.d)
            if made.owner[other] in chosen and made.owner[other] != owner
        )
    expected[chosen] = -np.inf
    assert_allclose(assessor.log_bayes_factors(sets, evidence)[0], expected, rtol=1e-7)
