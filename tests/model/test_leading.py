"""The rough likelihood from leading columns: which they are, how near it comes, and where it is not used."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from oracles import log_likelihood
from strategies import make_design, make_variances

from interplay.baselines.explicit import explicit
from interplay.data.design import Design
from interplay.model.density import log_density
from interplay.model.kernelspace import kernel_space
from interplay.model.leading import FEWEST, count, leading, shares
from interplay.model.priors import SKIM
from interplay.model.variances import Variances
from interplay.model.weightspace import weight_space

WIDE = 2 * FEWEST + 20
"""Columns enough for a selection."""


def sparse(tail: float, seed: int = 1) -> tuple[Design, Variances]:
    """Three variables that matter, one of them a factor, and many of a small weight."""
    design = make_design(seed, n=20, numbers=WIDE - 4, factors=[4])
    weights = np.full((1, design.p), tail)
    weights[0, [3, 50, design.p - 1]] = 1.0
    return design, replace(make_variances(seed, design.p, 2, spread=0.2), weights=jnp.asarray(weights))


def test_selects_only_where_most_columns_can_go() -> None:
    assert count(20, 2 * FEWEST + 1) == FEWEST
    assert count(20, 10_000) == 565
    assert count(4000, 10_000) == 2500
    assert count(400, 500) == 500
    narrow = kernel_space(make_design(2, n=20, numbers=10, factors=[]))
    assert kernel_space(sparse(0.1)[0]).has_rough
    assert not narrow.has_rough


@pytest.mark.parametrize("degree", [2, 3])
def test_shares_are_the_slopes_of_the_trace(degree: int) -> None:
    # With entries of ±1 every row has the same part of each column, so that the average slope is exact but
    # for each column's part in its own slope.
    design = make_design(3, n=12, numbers=WIDE, factors=[])
    design = replace(design, X=np.sign(np.asarray(design.X)))
    space = kernel_space(design, tolerance=0.0)
    variances = make_variances(4, design.p, degree, components=2, extra=True, spread=0.3)
    variances = replace(variances, weights=variances.weights / design.p)

    def trace(log_weights: jax.Array) -> jax.Array:
        factors = jnp.exp(log_weights)
        changed = replace(
            variances,
            weights=variances.weights * factors,
            mains=variances.mains * factors,
            quadratics=variances.quadratics * factors,
        )
        return jnp.trace(space._gram(changed, jnp.asarray(1.0)))

    found = shares(variances, space.layout, space.columns.norms, design.n)
    np.testing.assert_allclose(found, jax.grad(trace)(jnp.zeros(design.p)), rtol=0.05)


def test_those_with_the_largest_shares_lead() -> None:
    design, variances = sparse(1e-4)
    space = kernel_space(design)
    parts = np.asarray(shares(variances, space.layout, space.columns.norms, design.n))
    index, left_out = leading(variances, space.layout, space.columns.norms, design.n, FEWEST)
    assert {3, 50} <= set(np.asarray(index).tolist())
    others = np.setdiff1d(np.arange(design.d), np.asarray(index))
    assert float(left_out) == pytest.approx(parts[others].sum())
    assert parts[others].max() <= parts[np.asarray(index)].min()


@pytest.mark.parametrize("weighted", [False, True])
def test_is_the_likelihood_of_the_leading_columns(weighted: bool) -> None:
    design, variances = sparse(3e-4)
    if weighted:
        design = replace(design, weights=np.linspace(1.0, 3.0, design.n).round())
    space, sigma = kernel_space(design, tolerance=0.0), jnp.asarray(0.9)
    smaller, near = jax.jit(type(space).rough)(space, variances, sigma)
    assert near
    number = count(design.n, design.d)
    assert smaller.columns.d == number < design.d
    kept, others = leading(variances, space.layout, space.columns.norms, design.total_weight, number)
    gone = np.ones(design.p, dtype=bool)
    gone[np.asarray(space.layout.owner[kept])] = False
    without = replace(variances, weights=jnp.where(gone, 0.0, variances.weights))
    rows = np.repeat(np.arange(design.n), 1 if not weighted else np.asarray(design.weights, dtype=int))
    copies = replace(design, X=design.X[rows], y=design.y[rows], weights=None)
    Phi, S = explicit(copies, without)
    expected = log_likelihood((Phi * S) @ Phi.T, float(sigma) ** 2, copies.y)
    assert float(smaller.log_likelihood(variances, sigma)) == pytest.approx(expected, abs=1e-7)
    # What is left out is small, and not nothing.
    assert 1e-4 < abs(expected - float(space.log_likelihood(variances, sigma))) < float(others)


def test_is_not_near_where_all_matter() -> None:
    design, variances = sparse(1.0)
    assert not kernel_space(design).rough(variances, jnp.asarray(0.9))[1]


def test_weight_space_has_nothing_cheaper() -> None:
    space = weight_space(make_design(5, n=40, numbers=3, factors=[]))
    assert not space.has_rough
    assert space.rough(make_variances(5, 3, 2), jnp.asarray(1.0))[0] is space


@pytest.mark.parametrize(("log_lam", "near"), [(-3.0, True), (6.0, False)])
def test_rough_density_has_its_own_gradient_and_falls_back(log_lam: float, near: bool) -> None:
    design, prior = sparse(1.0)[0], SKIM()
    space = kernel_space(design)
    position = prior.sample(jax.random.key(2), design.n, design.p)
    # All different, as a small step must not change which columns lead.
    log_lams = log_lam + jnp.linspace(-0.5, 0.5, design.p)
    position |= {"log_lam": log_lams.at[:5].add(5.0), "log_sigma": jnp.asarray(0.0)}
    exact, rough = (log_density(prior, space, design.n, design.p, rough=rough) for rough in (False, True))
    flat, unravel = ravel_pytree(position)
    evaluate = jax.jit(lambda x: rough(unravel(x)))
    assert (float(evaluate(flat)) == float(jax.jit(exact)(position))) == (not near)
    assert float(evaluate(flat)) == pytest.approx(float(exact(position)), abs=1.0)
    steps = 1e-5 * jnp.eye(flat.size)[::9]
    differences = [(evaluate(flat + step) - evaluate(flat - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(jax.grad(evaluate)(flat)[::9], differences, rtol=1e-4, atol=1e-4)
