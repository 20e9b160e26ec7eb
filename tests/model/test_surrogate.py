"""The surrogate likelihood of leading columns: which they are, how near it comes, where it is not used."""

from dataclasses import replace

import numpy as np
import oracles
import pytest
from engines import rows
from strategies import make_design, make_variances

from interplay.data.design import Design
from interplay.model.engines import FeatureSpace, KernelSpace
from interplay.model.engines.kernel_space import FEWEST_LEADING, trace_shares
from interplay.model.families import Gaussian
from interplay.model.kernel import diagonal
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM
from interplay.model.variances import Crossed, Variances

WIDE = 2 * FEWEST_LEADING + 20
"""Columns enough for a selection."""


def sparse(tail: float, seed: int = 1) -> tuple[Design, Variances]:
    """Three variables that matter, one of them a factor, and many of a small weight."""
    design = make_design(seed, n=20, numbers=WIDE - 4, factors=[4])
    weights = np.full(design.p, tail)
    weights[[3, 50, design.p - 1]] = 1.0
    variances = make_variances(seed, design.p, 2, spread=0.2)
    return design, replace(variances, symmetric=(replace(variances.symmetric[0], weights=weights),))


def shares_of(space: KernelSpace, variances: Variances, total: float) -> np.ndarray:
    return trace_shares(variances, space.layout, space._columns.norms, float(total))


def test_selects_only_where_most_columns_can_go() -> None:
    narrow = KernelSpace(make_design(2, n=20, numbers=10, factors=[]))
    assert KernelSpace(sparse(0.1)[0]).has_surrogate
    assert not narrow.has_surrogate


@pytest.mark.parametrize(
    ("n", "d", "leading"),
    [(20, 2 * FEWEST_LEADING + 1, FEWEST_LEADING), (20, 10_000, 565), (4000, 10_000, 2500), (400, 500, 500)],
)
def test_number_of_leading_columns(n: int, d: int, leading: int) -> None:
    space = KernelSpace(make_design(2, n=9, numbers=2, factors=[]))
    # Only the shape is looked at.
    space._X = np.broadcast_to(0.0, (n, d))
    assert space._leading_count == leading


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("degree", [2, 3])
def test_shares_are_the_slopes_of_the_trace(degree: int, crossed: bool) -> None:
    # With entries of ±1 every row has the same part of each column, so that the average slope is exact but
    # for each column's part in its own slope.
    design = make_design(3, n=12, numbers=WIDE, factors=[])
    design = replace(design, X=np.sign(design.X))
    space = KernelSpace(design, tolerance=0.0)
    variances = make_variances(4, design.p, degree, components=2, extra=True, spread=0.3)
    variances = replace(
        variances, symmetric=tuple(replace(c, weights=c.weights / design.p) for c in variances.symmetric)
    )
    if crossed:
        weights = [c.weights for c in variances.symmetric]
        variances = replace(variances, crossed=(Crossed(*weights, np.asarray(2.0)),))

    def trace(factors: np.ndarray) -> float:
        changed = replace(
            variances,
            symmetric=tuple(replace(c, weights=c.weights * factors) for c in variances.symmetric),
            crossed=tuple(
                replace(c, left=c.left * factors, right=c.right * factors) for c in variances.crossed
            ),
            mains=variances.mains * factors,
            quadratics=variances.quadratics * factors,
        )
        return float(diagonal(changed, space.layout, design.X).sum())

    steps = 1e-5 * np.eye(design.p)
    slopes = [(trace(np.exp(e)) - trace(np.exp(-e))) / 2e-5 for e in steps]
    np.testing.assert_allclose(shares_of(space, variances, design.n), slopes, rtol=0.05)


def test_those_with_the_largest_shares_lead() -> None:
    design, variances = sparse(1e-4)
    space = KernelSpace(design)
    parts = shares_of(space, variances, design.n)
    columns = space._leading(variances, rows(design, 0.9))
    assert columns is not None
    assert columns.values.shape[1] == space._leading_count
    leads = np.isin(np.arange(design.p), columns.layout.owner)
    assert leads[[3, 50]].all()
    index = np.argsort(-parts)[: space._leading_count]
    np.testing.assert_array_equal(np.sort(columns.layout.owner), np.sort(space.layout.owner[index]))


@pytest.mark.parametrize("weighted", [False, True])
def test_is_the_likelihood_of_the_leading_columns(weighted: bool) -> None:
    design, variances = sparse(3e-4)
    if weighted:
        design = replace(design, weights=np.linspace(1.0, 3.0, design.n).round())
    space, sigma = KernelSpace(design, tolerance=0.0), 0.9
    working = rows(design, sigma)
    columns = space._leading(variances, working)
    assert columns is not None
    assert columns.values.shape[1] < design.d
    gone = np.ones(design.p, dtype=bool)
    gone[columns.layout.owner] = False
    (component,) = variances.symmetric
    without = replace(
        variances, symmetric=(replace(component, weights=np.where(gone, 0.0, component.weights)),)
    )
    copies = np.repeat(np.arange(design.n), design.row_weights.astype(int))
    copied = replace(design, X=design.X[copies], y=design.y[copies], weights=None)
    left = np.flatnonzero(~gone)
    basis = monomials_of(copied, left)
    Phi, S = oracles.features(copied.X, basis), oracles.prior(copied, without, basis)
    expected = oracles.log_likelihood((Phi * S) @ Phi.T, sigma**2, copied.y)
    factor = Gaussian().log_factor(np.log([sigma]), design)[0]
    surrogate = space.gradient(variances, working, surrogate=True)
    assert surrogate.value + factor == pytest.approx(expected, abs=1e-7)
    # What is left out is small, and not nothing.
    parts = shares_of(space, variances, float(design.row_weights.sum()))
    others = np.sort(parts)[: design.d - columns.values.shape[1]].sum()
    assert 1e-4 < abs(surrogate.value - space.log_likelihood(variances, working).value) < others


def monomials_of(design: Design, variables: np.ndarray) -> list[tuple[int, ...]]:
    """The explicit features of some of the variables."""
    return [
        t for t in oracles.monomials(design) if set(design.owner[list(t)].tolist()) <= set(variables.tolist())
    ]


def test_is_exact_where_the_others_have_no_weight() -> None:
    design, variances = sparse(0.0)
    space = KernelSpace(design, tolerance=0.0)
    working = rows(design, 0.9)
    assert space._leading(variances, working) is not None
    exact, surrogate = (space.gradient(variances, working, surrogate=s) for s in (False, True))
    assert surrogate.value == pytest.approx(exact.value, abs=1e-10)
    assert surrogate.by_log_variance == pytest.approx(exact.by_log_variance, abs=1e-9)
    one, other = exact.by_variances.symmetric[0], surrogate.by_variances.symmetric[0]
    np.testing.assert_allclose(other.orders, one.orders, rtol=1e-9)
    np.testing.assert_allclose(other.squares, one.squares, rtol=1e-9)
    np.testing.assert_allclose(other.weights[[3, 50, -1]], one.weights[[3, 50, -1]], rtol=1e-9)
    np.testing.assert_allclose(surrogate.by_variances.intercept, exact.by_variances.intercept, rtol=1e-9)


def test_is_the_gradient_itself_where_all_columns_lead() -> None:
    design = make_design(2, n=20, numbers=10, factors=[3])
    variances = make_variances(3, design.p, 2)
    space, working = KernelSpace(design), rows(design, 0.7)
    exact, surrogate = (space.gradient(variances, working, surrogate=s) for s in (False, True))
    assert surrogate.value == exact.value
    assert surrogate.by_log_variance == exact.by_log_variance
    np.testing.assert_array_equal(
        surrogate.by_variances.symmetric[0].weights, exact.by_variances.symmetric[0].weights
    )


def test_is_not_used_where_all_matter() -> None:
    design, variances = sparse(1.0)
    space, working = KernelSpace(design), rows(design, 0.9)
    assert space._leading(variances, working) is None
    exact, surrogate = (space.gradient(variances, working, surrogate=s) for s in (False, True))
    assert surrogate.value == exact.value


def test_feature_space_has_nothing_cheaper() -> None:
    design, variances = make_design(5, n=40, numbers=3, factors=[]), make_variances(5, 3, 2)
    space, working = FeatureSpace(design), rows(design, 1.0)
    assert not space.has_surrogate
    exact, surrogate = (space.gradient(variances, working, surrogate=s) for s in (False, True))
    assert surrogate.value == exact.value


@pytest.mark.parametrize(("log_lam", "near"), [(-3.0, True), (6.0, False)])
def test_surrogate_density_has_its_own_gradient_and_falls_back(log_lam: float, near: bool) -> None:
    design, prior = sparse(1.0)[0], SKIM()
    posterior = Posterior(design, prior, Gaussian(), KernelSpace(design))
    x = posterior.sample_prior(np.random.default_rng(2))
    # All different, as a small step must not change which columns lead.
    x[posterior.local] = log_lam + np.linspace(-0.5, 0.5, design.p)
    x[posterior.local[:5]] += 5.0
    x[0], x[1] = 0.0, -3.0
    surrogate = posterior.gradient(x, surrogate=True)
    exact = posterior.gradient(x)
    assert exact.value == posterior.log_density(x)
    assert (surrogate.value == exact.value) == (not near)
    assert surrogate.value == pytest.approx(exact.value, abs=1.0)
    steps = 1e-5 * np.eye(x.size)[::9]
    differences = [
        (posterior.gradient(x + e, surrogate=True).value - posterior.gradient(x - e, surrogate=True).value)
        / 2e-5
        for e in steps
    ]
    np.testing.assert_allclose(surrogate.gradient[::9], differences, rtol=1e-4, atol=1e-4)
