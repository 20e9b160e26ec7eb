"""Bounds on pairs: never below what the exact posterior gives, and the means of the closer ones exact."""

from dataclasses import replace

import numpy as np
import pytest
from draws import conditional_of
from strategies import make_design, make_variances, stacked

from interplay.data.design import Design
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.effects.pair_bounds import PairBounds
from interplay.model.engines import KernelSpace
from interplay.model.families import Working
from interplay.model.terms import interactions
from interplay.model.variances import Symmetric, Variances

FORMS = [
    pytest.param({"numbers": 7, "factors": []}, {}, id="numbers"),
    pytest.param({"numbers": 4, "factors": [3, 2]}, {}, id="factors"),
    pytest.param({"numbers": 5, "factors": [3]}, {"components": 3}, id="components"),
    pytest.param({"numbers": 6, "factors": []}, {"components": 2, "pairs": 3}, id="named pairs"),
    pytest.param({"numbers": 6, "factors": []}, {"crossed": 2}, id="crossed"),
]


def problem(
    columns: dict, form: dict, spread: float, weights: str, draws: int = 5
) -> tuple[Design, Conditional]:
    made = make_design(4, n=16, **columns)
    random = np.random.default_rng(5)
    if weights == "of the data":
        made = replace(made, weights=random.uniform(0.5, 3.0, size=16))
    stack = [make_variances(seed, made.p, 2, spread=spread, **form) for seed in range(draws)]
    # Named pairs are the same in all draws.
    stack = [replace(one, pairs=stack[0].pairs) for one in stack]
    sigma = np.random.default_rng(6).uniform(0.3, 2.0, size=draws).tolist()
    engine = KernelSpace(made, tolerance=0.0)
    if weights == "of each draw":
        working = tuple(Working(made.y, s**2, random.uniform(0.2, 3.0, size=16)) for s in sigma)
        return made, Conditional(engine, stacked(stack), working)
    return made, conditional_of(engine, made, stack, sigma)


@pytest.mark.parametrize("weights", ["none", "of the data", "of each draw"])
@pytest.mark.parametrize("spread", [0.3, 3.0])
@pytest.mark.parametrize(("columns", "form"), FORMS)
def test_no_posterior_is_beyond_the_bounds(columns: dict, form: dict, spread: float, weights: str) -> None:
    made, conditional = problem(columns, form, spread, weights)
    terms = interactions(made, range(made.p))
    exact = Mixture(*conditional.effects(terms))
    bounds = PairBounds(made.X, conditional)

    everything = np.arange(made.d)
    i, j = np.array(terms).T
    mean_bound, ratio_bound = (bound[i, j] for bound in bounds.bounds(everything, everything))
    assert np.all(np.abs(exact.mean) <= mean_bound)
    assert np.all(np.abs(exact.mean) / exact.sd <= ratio_bound)

    mean, least_sd = bounds.moments(np.array(terms))
    np.testing.assert_allclose(mean, exact.mean, rtol=1e-7, atol=1e-12)
    assert np.all(least_sd <= exact.sd * (1 + 1e-9))
    # The closer bound must be worth its while.
    assert np.all(np.abs(mean) / least_sd <= ratio_bound * (1 + 1e-9))


def test_the_bound_is_reached_where_one_pair_is_all_there_is() -> None:
    made = make_design(4, n=9, numbers=2, factors=[])
    phi = made.X[:, 0] * made.X[:, 1]
    made = replace(made, y=phi / phi.std())
    component = Symmetric(np.ones(2), np.array([0.0, 0.4]), np.zeros(()))
    only = Variances(np.zeros(()), (component,), p=2)
    conditional = conditional_of(KernelSpace(made), made, [only], [0.7])
    mixture = Mixture(*conditional.effects([(0, 1)]))
    mean_bound, ratio_bound = PairBounds(made.X, conditional).bounds(np.array([0]), np.array([1]))
    np.testing.assert_allclose(mean_bound[0], np.abs(mixture.mean))
    np.testing.assert_allclose(ratio_bound[0], np.abs(mixture.mean) / mixture.sd)
