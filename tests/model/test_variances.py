"""Prior variances of single terms, their derivative, and those of sets of variables."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import oracles
import pytest
from strategies import arrays_of, make_design, make_variances, ravel, stacked

from interplay.model.layout import Layout
from interplay.model.term_variances import pull_back_terms, term_variances
from interplay.model.terms import as_arrays, joint_prior, marginal_prior
from interplay.model.variances import (
    Crossed,
    Symmetric,
    Variances,
    mean_pair_squares,
    mean_pair_variances,
)

P = 5


def every_term(p: int, degree: int) -> tuple[list[tuple[int, ...]], np.ndarray, np.ndarray]:
    """All terms, as tuples and as arrays."""
    terms: list[tuple[int, ...]] = [c for q in range(degree + 1) for c in combinations(range(p), q)]
    terms += [(i, i) for i in range(p)]
    arrays = as_arrays(terms)
    return terms, arrays.columns, arrays.square


def make(seed: int, subsets: bool = True, degree: int = 3) -> Variances:
    return make_variances(
        seed, P, degree, components=2, pairs=3, extra=True, crossed=2, subsets=subsets, spread=0.7
    )


@pytest.mark.parametrize("subsets", [False, True])
@pytest.mark.parametrize("degree", [2, 4])
def test_term_variances_by_hand(degree: int, subsets: bool) -> None:
    for seed in range(4):
        variances = make(seed, subsets, degree)
        terms, variables, square = every_term(P, 4)
        expected = [oracles.prior_variance(variances, term) for term in terms]
        np.testing.assert_allclose(term_variances(variances, variables, square), expected, rtol=1e-12)
        assert variances.degree == degree


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([0, 1], [2, 3], {(0, 2): 1 * 5, (0, 3): 1 * 7, (1, 2): 2 * 5, (1, 3): 2 * 7}),
        ([0, 1], [1, 2], {(0, 1): 1 * 5, (0, 2): 1 * 7, (1, 2): 2 * 7}),
        ([0, 1], [0, 1], {(0, 1): 1 * 7 + 2 * 5}),
    ],
)
def test_a_cross_is_of_pairs_between_its_sets(left: list, right: list, expected: dict) -> None:
    cross = Crossed(
        np.array([1.0, 2.0]), np.array([5.0, 7.0]), np.asarray(3.0), np.array(left), np.array(right)
    )
    variances = Variances(np.asarray(0.0), (), (cross,), p=P)
    terms, variables, square = every_term(P, 3)
    got = term_variances(variances, variables, square)
    assert dict(zip(terms, got.tolist(), strict=True)) == {
        term: 3.0 * expected.get(term, 0.0) for term in terms
    }
    assert variances.degree == 2


def test_several_draws_at_once_are_each_draw() -> None:
    # Sets of variables and named pairs are the same in all draws.
    draws = [replace(make(seed, subsets=False), pairs=make(0).pairs) for seed in range(3)]
    _, variables, square = every_term(P, 3)
    together = stacked(draws)
    S = term_variances(together, variables, square)
    for k, draw in enumerate(draws):
        np.testing.assert_array_equal(S[k], term_variances(draw, variables, square))
        for one, other in zip(arrays_of(together[k]), arrays_of(draw), strict=True):
            np.testing.assert_array_equal(one, other)
    assert together[1:].intercept.shape == (2,)


@pytest.mark.parametrize("subsets", [False, True])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_derivative_is_by_differences(degree: int, subsets: bool) -> None:
    variances = make(7, subsets, degree)
    _, variables, square = every_term(P, variances.degree)
    by_term = np.random.default_rng(1).normal(size=len(variables))
    flat, unravel = ravel(variances)
    found = ravel(pull_back_terms(variances, variables, square, by_term))[0]

    def value(x: np.ndarray) -> float:
        return float(by_term @ term_variances(unravel(x), variables, square))

    steps = 1e-5 * np.eye(flat.size)
    differences = [(value(flat + e) - value(flat - e)) / 2e-5 for e in steps]
    np.testing.assert_allclose(found, differences, rtol=1e-6, atol=1e-7)


def test_derivative_where_weights_are_zero() -> None:
    component = Symmetric(np.array([0.0, 2.0, 0.0]), np.array([1.0, 3.0, 5.0]), np.asarray(2.0))
    variances = Variances(np.asarray(1.0), (component,), p=3)
    terms, variables, square = every_term(3, 3)
    by_term = np.zeros(len(terms))
    by_term[[terms.index((0, 1)), terms.index((0, 1, 2))]] = 1.0
    (by,) = pull_back_terms(variances, variables, square, by_term).symmetric
    # ∂/∂w_0 of 3 w_0 w_1 + 5 w_0 w_1 w_2, and so on.
    np.testing.assert_allclose(by.weights, [6.0, 0.0, 0.0])


class TestTaken:
    """S of the terms within a set of variables."""

    @pytest.mark.parametrize("subsets", [False, True])
    @pytest.mark.parametrize("members", [[0, 2, 3], [1, 4], [3], [4, 1, 0], [0, 1, 2, 3, 4]])
    def test_members_keep_their_variances(self, members: list[int], subsets: bool) -> None:
        variances = make(11, subsets)
        small = variances.taken(np.array(members))
        assert small.p == len(members)
        terms, variables, square = every_term(len(members), 3)
        in_full = [tuple(sorted(members[v] for v in term)) for term in terms]
        expected = [oracles.prior_variance(variances, term) for term in in_full]
        np.testing.assert_allclose(term_variances(small, variables, square), expected, rtol=1e-12)

    def test_padding_has_none(self) -> None:
        small = make(12).taken(np.array([2, 4, P, P]))
        terms, variables, square = every_term(4, 3)
        S = term_variances(small, variables, square)
        expected = make(12).taken(np.array([2, 4]))
        inside = [not set(term) & {2, 3} for term in terms]
        _, variables, square = every_term(2, 3)
        np.testing.assert_allclose(S[inside], term_variances(expected, variables, square))
        assert not np.any(S[~np.array(inside)])

    def test_a_set_for_each_draw(self) -> None:
        draws = [replace(make(seed, subsets=False), pairs=make(0).pairs) for seed in range(3)]
        members = np.array([[0, 1, 3], [2, 4, P], [1, 3, 4]])
        small = stacked(draws).taken(members)
        _, variables, square = every_term(3, 3)
        S = term_variances(small, variables, square)
        for k, draw in enumerate(draws):
            expected = term_variances(draw.taken(members[k]), variables, square)
            np.testing.assert_allclose(S[k], expected, rtol=1e-12)


def test_means_over_pairs() -> None:
    draws = [replace(make(seed, subsets=False), pairs=make(0).pairs) for seed in range(4)]
    by = np.array([0.5, 1.0, 2.0, 0.1])
    left, right = np.array([0, 3]), np.array([1, 2, 4])
    V = np.array(
        [[[oracles.prior_variance(d, (min(i, j), max(i, j))) for j in right] for i in left] for d in draws]
    )
    together = stacked(draws)
    mean = np.tensordot(by, V, axes=1) / 4
    np.testing.assert_allclose(mean_pair_variances(together, left, right, by), mean, rtol=1e-12)
    squares = np.tensordot(by, V**2, axes=1) / 4
    assert np.all(mean_pair_squares(together, left, right, by) >= squares * (1 - 1e-12))
    single = stacked([make_variances(seed, P, 2) for seed in range(4)])
    V = np.array([[[oracles.prior_variance(single[k], (0, 1))]] for k in range(4)])
    exact = np.tensordot(by, V**2, axes=1) / 4
    found = mean_pair_squares(single, np.array([0]), np.array([1]), by)
    np.testing.assert_allclose(found, exact, rtol=1e-12)


def test_what_cancels_is_no_variance() -> None:
    component = Symmetric(np.full(3, 0.1), np.array([0.3, 0.3]), np.asarray(0.0))
    variances = Variances(np.asarray(1.0), (component,), mains=np.full(3, -0.3 * 0.1), p=3)
    assert not np.any(term_variances(variances, np.array([[0], [1]]), np.array([False, False])))


def test_prior_covariance_of_levels() -> None:
    design = make_design(5, n=12, numbers=2, factors=[3, 2])
    variances = make_variances(6, design.p, 2, crossed=1)
    basis = oracles.monomials(design)
    terms = basis[1:]
    R = oracles.directions(design, terms, basis)
    S = oracles.prior(design, variances, basis)
    expected, at = (R * S) @ R.T, Layout.of(design)
    got = joint_prior(variances, at, as_arrays(terms))
    np.testing.assert_allclose(got, expected, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(marginal_prior(variances, at, as_arrays(terms)), np.diag(expected), rtol=1e-10)
