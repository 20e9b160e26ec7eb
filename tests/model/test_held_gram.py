"""The likelihood with the weights of most columns held, and evaluations that are made from one another."""

from dataclasses import replace

import numpy as np
import pytest
from engines import rows
from numpy.testing import assert_allclose
from strategies import make_design, make_variances, mapped, ravel

from interplay.data.design import Design
from interplay.model.engines.kernel_space import KernelSpace
from interplay.model.families import Working
from interplay.model.variances import Variances

FORMS = [
    {"degree": 2},
    {"degree": 3},
    {"degree": 2, "components": 2, "crossed": 1, "subsets": True},
    {"degree": 2, "extra": True, "pairs": 3},
]


def problem(form: dict, *, weighted: bool = False) -> tuple[Design, Variances, Working, KernelSpace]:
    design = make_design(1, n=18, numbers=4, factors=[3], binaries=1)
    if weighted:
        design = replace(design, weights=np.linspace(0.5, 2.0, design.n))
    variances = make_variances(2, design.p, spread=0.5, **form)
    return design, variances, rows(design, 0.8), KernelSpace(design, tolerance=0.0)


def changed(variances: Variances, moving: np.ndarray, seed: int = 0) -> Variances:
    """Other weights of some variables; multipliers change too."""
    random = np.random.default_rng(seed)
    factor = np.where(moving, np.exp(random.normal(size=moving.size)), 1.0)

    def of(weights: np.ndarray, variables: np.ndarray | None) -> np.ndarray:
        return weights * (factor if variables is None else factor[variables])

    return replace(
        variances,
        symmetric=tuple(
            replace(c, weights=of(c.weights, c.variables), orders=1.3 * c.orders) for c in variances.symmetric
        ),
        crossed=tuple(
            replace(c, left=of(c.left, c.left_variables), right=of(c.right, c.right_variables))
            for c in variances.crossed
        ),
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_an_evaluation_from_another_is_the_one_from_nothing(form: dict, weighted: bool) -> None:
    _, variances, working, space = problem(form, weighted=weighted)
    near = space.factor(variances, working)
    for moving in (np.arange(variances.p) == 2, np.arange(variances.p) < 4):
        other = changed(variances, moving)
        assert_allclose(
            space.factor(other, working, near).value, space.factor(other, working).value, rtol=1e-11
        )
        lower, alpha = space.resolvent(other, working, near) or (None, None)
        assert_allclose(np.tril(lower), np.tril(space.factor(other, working).lower), rtol=1e-9, atol=1e-11)
        assert_allclose(alpha, space.factor(other, working).alpha, rtol=1e-8)


@pytest.mark.parametrize("form", FORMS[:3])
def test_held_columns_leave_value_and_derivatives_as_they_are(form: dict) -> None:
    _, variances, working, space = problem(form)
    moving = np.array([True, False, True, False, True, False])[: variances.p]
    columns = np.flatnonzero(space.layout.columns_of(moving))
    held = space.hold(space.factor(variances, working), columns)
    other = changed(variances, moving)
    exact, found = space.gradient(other, working), held.gradient(other, working)
    assert_allclose(found.value, exact.value, rtol=1e-10)
    assert_allclose(found.by_log_variance, exact.by_log_variance, rtol=1e-8)
    assert exact.by_variances is not None
    assert found.by_variances is not None
    # Derivatives by weights are those of the variables that move; those by multipliers are whole.
    for one, two in zip(exact.by_variances.symmetric, found.by_variances.symmetric, strict=True):
        mine = moving if one.variables is None else moving[one.variables]
        assert_allclose(two.weights[mine], one.weights[mine], rtol=1e-7, atol=1e-9)
        assert_allclose(two.weights[~mine], 0.0, atol=1e-12)
        assert_allclose(two.orders, one.orders, rtol=1e-8)
        assert_allclose(two.squares, one.squares, rtol=1e-8)
    for one, two in zip(exact.by_variances.crossed, found.by_variances.crossed, strict=True):
        assert_allclose(two.scale, one.scale, rtol=1e-8)
    assert_allclose(found.by_variances.intercept, exact.by_variances.intercept, rtol=1e-8)


def test_single_precision_is_near() -> None:
    design, variances, working, _ = problem(FORMS[0])
    double, single = (KernelSpace(design, precision=p, tolerance=0.0) for p in ("float64", "float32"))
    columns = np.arange(3)
    gradients = [
        space.hold(space.factor(variances, working), columns).gradient(variances, working).by_variances
        for space in (double, single)
    ]
    flat = [ravel(mapped(found, lambda a: np.asarray(a, dtype=float)))[0] for found in gradients if found]
    assert_allclose(flat[1], flat[0], rtol=1e-3, atol=1e-4 * np.abs(flat[0]).max())
