"""The paper's kernels = Φ S Φᵀ with the variances that they are said to induce."""

from itertools import combinations_with_replacement

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import make_design

from interplay.model.kernel import gram
from interplay.model.layout import Layout
from interplay.model.paper_kernels import RWayKernel, TwoWayKernel, block_degree, sparse
from interplay.model.priors import TwoWay
from interplay.model.variances import Symmetric, Variances

P = 4


def two_way(random: np.random.Generator, components: int = 2) -> TwoWayKernel:
    lam, alpha_sq, psi_sq = random.exponential(size=(components, P)), *random.exponential(size=(2, P))
    return TwoWayKernel(lam, alpha_sq, psi_sq, 0.7, ((0, 1), (1, 3)), (0.4, 2.0))


def explicit_gram(kernel: TwoWayKernel | RWayKernel, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Every monomial up to the degree, powers included."""
    K = np.zeros((len(X), len(Z)))
    for degree in range(kernel.degree + 1):
        for monomial in combinations_with_replacement(range(P), degree):
            left, right = (np.prod(rows[:, list(monomial)], axis=1) for rows in (X, Z))
            K += kernel.variance(monomial) * np.outer(left, right)
    return K


@given(st.integers(0, 2**31), st.integers(0, 3))
def test_two_way_kernel_is_its_features(seed: int, components: int) -> None:
    random = np.random.default_rng(seed)
    X, Z = random.normal(size=(6, P)), random.normal(size=(5, P))
    kernel = two_way(random, components)
    np.testing.assert_allclose(kernel.gram(X, Z), explicit_gram(kernel, X, Z), rtol=1e-9, atol=1e-9)


@given(st.integers(0, 2**31), st.integers(3, 4))
def test_r_way_kernel_is_its_features(seed: int, degree: int) -> None:
    random = np.random.default_rng(seed)
    X, Z = random.normal(size=(6, P)), random.normal(size=(5, P))
    kernel: TwoWayKernel | RWayKernel = two_way(random)
    for r in range(3, degree + 1):
        kernel = RWayKernel(
            r,
            random.exponential(size=(2, P)),
            products=(tuple(range(r)), (1,) * r),
            nu=(0.5, 0.25),
            lower=((random.exponential(size=P), kernel), (random.exponential(size=P), kernel)),
        )
    np.testing.assert_allclose(kernel.gram(X, Z), explicit_gram(kernel, X, Z), rtol=1e-9, atol=1e-8)


def test_r_way_kernel_refuses_wrong_degrees() -> None:
    random = np.random.default_rng(0)
    with pytest.raises(ValueError, match="use TwoWayKernel for 2"):
        RWayKernel(2, random.exponential(size=(1, P)))
    with pytest.raises(ValueError, match="has degree 2, expected 3"):
        RWayKernel(4, random.exponential(size=(1, P)), lower=((np.ones(P), two_way(random)),))


@given(st.integers(0, 2**31))
def test_expanded_kernel_equals_the_papers(seed: int) -> None:
    random = np.random.default_rng(seed)
    design = make_design(seed, n=7, numbers=P, factors=[])
    eta, kappa, c = tuple(np.exp(random.normal(size=3))), np.exp(random.normal(size=P)), 1.3
    at, X = Layout.of(design), design.X

    def expanded(weights: np.ndarray) -> np.ndarray:
        squared = np.square(eta)
        variances = Variances(c**2, (Symmetric(weights, squared[:2], squared[2]),), p=P)
        return gram(variances, at, X, X)

    printed = sparse(design.X, design.X, eta, kappa, c)
    np.testing.assert_allclose(expanded(kappa**2), printed, atol=1e-10 * np.abs(printed).max())
    printed = block_degree(design.X, design.X, eta, c)
    np.testing.assert_allclose(expanded(np.ones(P)), printed, atol=1e-10 * np.abs(printed).max())


@given(st.integers(0, 2**31), st.integers(0, 3))
def test_two_way_prior_equals_the_papers_kernel(seed: int, components: int) -> None:
    random = np.random.default_rng(seed)
    design = make_design(seed, n=7, numbers=P, factors=[])
    kernel = two_way(random, components)
    prior = TwoWay(kernel)
    variances = prior.variances(prior.constrain(np.zeros(0), P), P)
    at, X = Layout.of(design), design.X
    expected = kernel.gram(design.X, design.X)
    np.testing.assert_allclose(gram(variances, at, X, X), expected, atol=1e-10 * np.abs(expected).max())
    terms = oracles.monomials(design)
    np.testing.assert_allclose(
        oracles.prior(design, variances, terms), [kernel.variance(term) for term in terms], atol=1e-12
    )
