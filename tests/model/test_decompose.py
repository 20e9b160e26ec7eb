"""From prior variances to a two-way kernel that induces them, with few terms or not at all."""

import numpy as np
import pytest
from engines import both_engines, rows
from hypothesis import given
from hypothesis import strategies as st
from strategies import make_design

from interplay.model.engines import FeatureSpace
from interplay.model.priors import TwoWay


def induced_pairs(prior: TwoWay, p: int) -> np.ndarray:
    weights = prior.kernel.lam**2
    V = 2.0 * weights.T @ weights
    for (i, j), nu in zip(prior.kernel.pairs, prior.kernel.nu, strict=True):
        V[i, j] = V[j, i] = V[i, j] + nu
    np.fill_diagonal(V, 0.0)
    return V


def off_diagonal(V: np.ndarray) -> np.ndarray:
    V = np.array(V, dtype=float)
    np.fill_diagonal(V, 0.0)
    return V


@given(st.integers(0, 2**31), st.integers(4, 40))
def test_product_form_needs_one_component(seed: int, p: int) -> None:
    u, mains, squares = np.random.default_rng(seed).exponential(size=(3, p)) + 0.01
    prior = TwoWay.from_variances(p, mains=mains, pairs=np.outer(u, u), squares=squares, intercept=4.0)
    assert len(prior.kernel.lam) + len(prior.kernel.pairs) <= 1
    np.testing.assert_allclose(induced_pairs(prior, p), off_diagonal(np.outer(u, u)), rtol=1e-8)
    np.testing.assert_allclose([prior.kernel.variance((i,)) for i in range(p)], mains, atol=1e-12)
    np.testing.assert_allclose([prior.kernel.variance((i, i)) for i in range(p)], squares, atol=1e-12)
    assert prior.kernel.variance(()) == pytest.approx(4.0)


def test_functions_of_the_indices() -> None:
    p = 1500
    prior = TwoWay.from_variances(
        p, mains=lambda i: 1.0 / (1 + i), pairs=lambda i, j: 1.0 / ((1 + i) * (1 + j))
    )
    assert len(prior.kernel.lam) == 1
    assert not prior.kernel.pairs
    assert prior.kernel.variance((3, 1200)) == pytest.approx(1.0 / (4 * 1201))


def test_forbidden_pairs_are_named() -> None:
    V = np.ones((60, 60))
    V[3, 7] = V[7, 3] = V[10, 50] = V[50, 10] = 0.0
    prior = TwoWay.from_variances(60, mains=1.0, pairs=V)
    assert set(prior.kernel.pairs) == {(3, 7), (10, 50)}
    np.testing.assert_allclose(induced_pairs(prior, 60), off_diagonal(V), atol=1e-9)


def test_treatment_by_covariate_alone_is_named() -> None:
    V = np.zeros((80, 80))
    V[0, 1:] = V[1:, 0] = np.linspace(1, 2, 79)
    prior = TwoWay.from_variances(80, mains=1.0, pairs=V)
    assert len(prior.kernel.lam) == 0
    assert len(prior.kernel.pairs) == 79
    np.testing.assert_allclose(induced_pairs(prior, 80), V)


@pytest.mark.parametrize("components", [2, 3])
def test_sums_of_few_products(components: int) -> None:
    random = np.random.default_rng(components)
    q = random.exponential(size=(components, 90)) * (random.uniform(size=(components, 90)) < 0.7)
    V = off_diagonal(2.0 * q.T @ q)
    prior = TwoWay.from_variances(90, mains=100.0, pairs=V, squares=100.0, max_named_pairs=5)
    assert len(prior.kernel.lam) == components
    np.testing.assert_allclose(induced_pairs(prior, 90), V, atol=1e-8 * V.max())


def test_blocks() -> None:
    group = np.arange(70) % 2
    V = np.where(group[:, None] == group, 2.0, 0.0)
    prior = TwoWay.from_variances(70, mains=9.0, pairs=V, squares=9.0)
    assert len(prior.kernel.lam) == 2
    np.testing.assert_allclose(induced_pairs(prior, 70), off_diagonal(V), atol=1e-8)


def test_no_structure_is_refused() -> None:
    V = np.random.default_rng(0).exponential(size=(60, 60))
    with pytest.raises(ValueError, match="would need about p² terms"):
        TwoWay.from_variances(60, mains=1.0, pairs=V + V.T)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        (np.ones((3, 4)), r"shape \(3, 4\)"),
        (np.array([[0, 1, 1], [2, 0, 1], [1, 1, 0]]), "symmetric"),
        (-1.0, "≥ 0"),
        (np.nan, "≥ 0"),
    ],
)
def test_what_are_not_variances_is_refused(pairs: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        TwoWay.from_variances(3, mains=1.0, pairs=pairs)
    with pytest.raises(ValueError, match="mains hold -1"):
        TwoWay.from_variances(3, mains=-1.0, pairs=1.0)


def test_no_quadratic_effects_are_none_in_either_engine() -> None:
    for seed in range(5):
        made = make_design(seed, n=60, numbers=5, factors=[])
        u = np.random.default_rng(seed).exponential(size=5)
        prior = TwoWay.from_variances(5, mains=1.0, pairs=np.outer(u, u))
        assert not prior.quadratic
        variances = prior.variances(prior.constrain(np.zeros(0), 5), 5)
        values = [
            space.log_likelihood(variances, rows(made, 0.9)).value for space in both_engines(made, variances)
        ]
        without = FeatureSpace(made, quadratic=False).log_likelihood(variances, rows(made, 0.9)).value
        assert np.isfinite(values[0])
        assert values[0] == pytest.approx(values[1], rel=1e-10)
        assert values[1] == pytest.approx(without, rel=1e-10)
