"""Kernel = Φ S Φᵀ, for groups, degrees, components, crosses and named pairs."""

import numpy as np
import oracles
import pytest
from hypothesis import given
from strategies import Problem, make_design, make_variances, problems, stacked

from interplay.data.design import Design
from interplay.model.engines import KernelSpace
from interplay.model.kernel import assemble, diagonal, elementary, gram
from interplay.model.layout import Layout, power
from interplay.model.variances import Variances


def scale_of(K: np.ndarray) -> float:
    return float(np.abs(K).max())


def explicit(design: Design, variances: Variances) -> np.ndarray:
    basis = oracles.monomials(design, variances.degree)
    Phi, S = oracles.features(design.X, basis), oracles.prior(design, variances, basis)
    return (Phi * S) @ Phi.T


def check(design: Design, variances: Variances) -> None:
    expected = explicit(design, variances)
    at, X = Layout.of(design), design.X
    tolerance = 1e-11 * scale_of(expected)
    np.testing.assert_allclose(gram(variances, at, X, X), expected, atol=tolerance)
    np.testing.assert_allclose(gram(variances, at, X[:3], X), expected[:3], atol=tolerance)
    np.testing.assert_allclose(diagonal(variances, at, X), np.diag(expected), atol=tolerance)


@given(problems())
def test_gram_is_features_times_variances(problem: Problem) -> None:
    design, variances, _ = problem.build()
    check(design, variances)


@pytest.mark.parametrize("subsets", [False, True])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_gram_of_crosses_and_sets_of_variables(seed: int, degree: int, subsets: bool) -> None:
    design = make_design(seed, n=11, numbers=4, factors=[3, 2], binaries=1)
    variances = make_variances(
        seed + 1, design.p, degree, components=2, pairs=2, extra=True, crossed=2, subsets=subsets
    )
    check(design, variances)


@given(problems())
def test_blocked_gram_is_the_same(problem: Problem) -> None:
    design, variances, _ = problem.build()
    engine = KernelSpace(design, tolerance=0.0)
    blocked = assemble(variances, engine.layout, engine._columns).K
    expected = gram(variances, engine.layout, design.X, design.X)
    # Above the diagonal stands nothing that is to be used.
    np.testing.assert_allclose(np.tril(blocked), np.tril(expected), atol=1e-12 * scale_of(expected))


def test_several_draws_at_once_are_each_draw() -> None:
    design = make_design(3, n=9, numbers=3, factors=[3])
    draws = [make_variances(seed, design.p, 3, components=2, extra=True, crossed=1) for seed in range(3)]
    at, X = Layout.of(design), design.X
    together = stacked(draws)
    K = gram(together, at, X, X)
    for k, draw in enumerate(draws):
        np.testing.assert_allclose(K[k], gram(draw, at, X, X), rtol=1e-12)
        np.testing.assert_allclose(gram(together[k], at, X, X), K[k], rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_powers_have_the_powers_of_the_inner_products(k: int) -> None:
    design = make_design(4, n=12, numbers=2, factors=[3, 4], binaries=1)
    at = Layout.of(design)
    F = power(design.X, at.levels, k)
    for g in range(design.p):
        own = at.owner == g
        inner = design.X[:, own] @ design.X[:, own].T
        np.testing.assert_allclose(F[:, own] @ F[:, own].T, inner**k, atol=1e-12)


def test_elementary_symmetric_polynomials_by_hand() -> None:
    z = np.array([2.0, 3.0, 5.0, 7.0])
    sums = [np.full((1, 1), np.sum(z**k)) for k in range(1, 5)]
    values = [float(e[0, 0]) for e in elementary(sums)]
    assert values == [17.0, 101.0, 247.0, 210.0]
