"""Kernel = Φ S Φᵀ, for groups, degrees, components and named pairs."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
from hypothesis import given
from strategies import Problem, problems

from interplay.model.kernel import diagonal, elementary, gram
from interplay.model.kernelspace import kernel_space
from interplay.model.layout import layout


def scale_of(K: np.ndarray) -> float:
    return float(np.abs(K).max())


@given(problems())
def test_gram_is_features_times_variances(problem: Problem) -> None:
    design, variances, _ = problem.build()
    basis = oracles.monomials(design, variances.degree)
    Phi, S = oracles.features(design.X, basis), oracles.prior(design, variances, basis)
    expected = (Phi * S) @ Phi.T
    at = layout(design, variances.pairs)
    X = jnp.asarray(design.X)
    K, strip, variance = jax.jit(
        lambda v: (gram(v, at, X, X), gram(v, at, X[:3], X), diagonal(v, at, X)),
    )(variances)
    np.testing.assert_allclose(K, expected, atol=1e-11 * scale_of(expected))
    np.testing.assert_allclose(strip, expected[:3], atol=1e-11 * scale_of(expected))
    np.testing.assert_allclose(variance, np.diag(expected), atol=1e-11 * scale_of(expected))


@given(problems())
def test_blocked_gram_is_the_same(problem: Problem) -> None:
    design, variances, sigma = problem.build()
    engine = kernel_space(design, variances.pairs, tolerance=0.0)
    X = jnp.asarray(design.X)
    blocked, expected = jax.jit(lambda v, s: (engine._gram(v, s), gram(v, engine.layout, X, X)))(
        variances, jnp.asarray(sigma)
    )
    np.testing.assert_allclose(blocked, expected, atol=1e-12 * scale_of(np.asarray(expected)))


def test_elementary_symmetric_polynomials_by_hand() -> None:
    z = np.array([2.0, 3.0, 5.0, 7.0])
    sums = [jnp.full((1, 1), np.sum(z**k)) for k in range(1, 5)]
    values = [float(e[0, 0]) for e in elementary(sums)]
    assert values == [1.0, 17.0, 101.0, 247.0, 210.0]
