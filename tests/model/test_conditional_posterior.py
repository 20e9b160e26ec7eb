"""The posterior of the coefficients given a draw, in both engines, against the explicit one."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import oracles
import pytest
from engines import both_engines, rows
from strategies import make_design, make_variances

from interplay.data.design import Design
from interplay.model.engines import ConditionalPosterior
from interplay.model.terms import as_arrays
from interplay.model.variances import Variances

SIGMA = 0.6


@dataclass(frozen=True)
class Case:
    """A problem, with its posterior in weight space."""

    design: Design
    variances: Variances
    basis: list[tuple[int, ...]]
    Phi: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    posterior: ConditionalPosterior

    @property
    def noise(self) -> np.ndarray:
        return SIGMA**2 / self.design.row_weights

    def directions(self) -> tuple[list[tuple[int, ...]], np.ndarray]:
        """All effects, and how they follow from the coefficients."""
        return self.basis, oracles.directions(self.design, self.basis, self.basis)


def weight_space(design: Design, variances: Variances) -> tuple[list, np.ndarray, np.ndarray, np.ndarray]:
    basis = oracles.monomials(design, variances.degree)
    Phi, S = oracles.features(design.X, basis), oracles.prior(design, variances, basis)
    # In this form some of the variances may be zero.
    cross = S[:, None] * Phi.T
    gain = cross @ np.linalg.inv(Phi @ cross + np.diag(SIGMA**2 / design.row_weights))
    return basis, Phi, gain @ design.y, np.diag(S) - gain @ cross.T


@cache
def make_case(engine: int, factors: tuple[int, ...], weighted: bool, degree: int) -> Case:
    design = make_design(41, n=13, numbers=3, factors=list(factors))
    if weighted:
        design = replace(design, weights=np.random.default_rng(42).uniform(0.4, 3.0, size=design.n))
    variances = make_variances(
        43, design.p, degree, components=2, pairs=1, extra=True, spread=0.5, crossed=1, subsets=degree == 3
    )
    posterior = both_engines(design, variances)[engine].condition(variances, rows(design, SIGMA))
    return Case(design, variances, *weight_space(design, variances), posterior)


@pytest.fixture(params=[2, 3], ids=["degree 2", "degree 3"])
def degree(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture(params=[0, 1], ids=["kernel", "features"])
def engine(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture(params=[(), (3,)], ids=["numbers", "factors"])
def factors(request: pytest.FixtureRequest) -> tuple[int, ...]:
    return request.param


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def case(request: pytest.FixtureRequest, engine: int, factors: tuple[int, ...], degree: int) -> Case:
    return make_case(engine, factors, request.param, degree)


def test_effects(case: Case) -> None:
    terms, R = case.directions()
    mean, variance = case.posterior.effects(as_arrays(terms))
    np.testing.assert_allclose(mean, R @ case.mean, atol=1e-8)
    np.testing.assert_allclose(variance, np.diag(R @ case.covariance @ R.T), atol=1e-8)


def test_some_effects_in_any_order(case: Case) -> None:
    terms, _ = case.directions()
    chosen = [terms[k] for k in np.random.default_rng(1).permutation(len(terms))[:5]]
    every = dict(zip(terms, zip(*case.posterior.effects(as_arrays(terms)), strict=True), strict=True))
    found = zip(*case.posterior.effects(as_arrays(chosen)), strict=True)
    for term, moments in zip(chosen, found, strict=True):
        assert moments == pytest.approx(every[term], rel=1e-9, abs=1e-12)


def test_combinations(case: Case) -> None:
    terms, R = case.directions()
    A = np.random.default_rng(2).normal(size=(4, len(terms)))
    for by in (A, np.eye(len(terms))):
        mean, covariance = case.posterior.combinations(as_arrays(terms), by)
        np.testing.assert_allclose(mean, by @ R @ case.mean, atol=1e-8)
        np.testing.assert_allclose(covariance, by @ R @ case.covariance @ R.T @ by.T, atol=1e-7)


def test_predictions(case: Case) -> None:
    # Numbers that are not among the data, with the levels of other rows, and rows without a level.
    has_levels = np.array([bool(case.design.variables[g].levels) for g in case.design.owner])
    new = np.where(has_levels, case.design.X[4:10], case.design.X[:6] * 0.5)
    new[4:, has_levels] = 0.0
    Phi = oracles.features(new, case.basis)
    mean, variance = case.posterior.predict(new)
    np.testing.assert_allclose(mean, Phi @ case.mean, atol=1e-8)
    np.testing.assert_allclose(variance, np.einsum("ij,jk,ik->i", Phi, case.covariance, Phi), atol=1e-8)
    assert [part.shape for part in case.posterior.predict(new[:0])] == [(0,), (0,)]


def test_fitted_and_its_parts(case: Case) -> None:
    fitted = case.Phi @ case.mean
    np.testing.assert_allclose(case.posterior.fitted(), fitted, atol=1e-8)
    for some in (case.basis[:1], case.basis[1 : 1 + case.design.d], case.basis):
        places = [case.basis.index(term) for term in some]
        expected = case.Phi[:, places] @ case.mean[places]
        np.testing.assert_allclose(case.posterior.fitted_by(as_arrays(some)), expected, atol=1e-8)


def test_dual(case: Case) -> None:
    S = oracles.prior(case.design, case.variances, case.basis)
    K = (case.Phi * S) @ case.Phi.T
    expected = np.linalg.solve(K + np.diag(case.noise), case.design.y)
    np.testing.assert_allclose(case.posterior.dual, expected, atol=1e-8)
    np.testing.assert_allclose(
        case.posterior.dual, (case.design.y - case.posterior.fitted()) / case.noise, atol=1e-8
    )


def test_leave_one_out_is_refitting_without_the_row(case: Case) -> None:
    mean, variance = case.posterior.leave_one_out()
    for row in range(case.design.n):
        keep = np.arange(case.design.n) != row
        weights = None if case.design.weights is None else case.design.weights[keep]
        others = replace(case.design, X=case.design.X[keep], y=case.design.y[keep], weights=weights)
        _, _, theta, covariance = weight_space(others, case.variances)
        phi = case.Phi[row]
        assert mean[row] == pytest.approx(float(phi @ theta), abs=1e-7)
        assert variance[row] == pytest.approx(float(phi @ covariance @ phi) + case.noise[row], rel=1e-7)


def test_replicates_have_the_posteriors_moments(engine: int, factors: tuple[int, ...]) -> None:
    case = make_case(engine, factors, True, 2)
    draws, random = 1500, np.random.default_rng(5)
    f = np.stack([case.posterior.replicate(random) for _ in range(draws)])
    mean, covariance = case.Phi @ case.mean, case.Phi @ case.covariance @ case.Phi.T
    variance = np.diag(covariance)
    assert np.all(np.abs(f.mean(axis=0) - mean) < 4.5 * np.sqrt(variance / draws))
    # The standard error of a sample covariance of normal draws.
    error = np.sqrt((np.outer(variance, variance) + covariance**2) / draws)
    assert np.all(np.abs(np.cov(f.T) - covariance) < 4.5 * error)
    again = case.posterior.replicate(np.random.default_rng(5))
    np.testing.assert_array_equal(again, f[0])


@pytest.mark.parametrize("engine", [0, 1])
def test_what_is_not_positive_definite_is_refused(engine: int) -> None:
    design = make_design(44, n=9, numbers=2, factors=[])
    variances = replace(make_variances(45, design.p, 2), intercept=np.asarray(np.nan))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        both_engines(design, variances)[engine].condition(variances, rows(design, 1.0))


def test_single_precision_gives_nearly_the_same_effects() -> None:
    from interplay.model.engines import KernelSpace

    design = make_design(46, n=30, numbers=10, factors=[3])
    variances = make_variances(47, design.p, 2, spread=0.5)
    terms = as_arrays([(i,) for i in range(design.d)])
    exact, single = (
        KernelSpace(design, precision=p, tolerance=0.0).condition(variances, rows(design, 1.0)).effects(terms)
        for p in ("float64", "float32")
    )
    for one, other in zip(exact, single, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
