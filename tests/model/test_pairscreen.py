"""Bounds on pairs: never below what the exact posterior gives, and the means of the closer ones exact."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from strategies import make_design, make_variances

from interplay.data.design import Design
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.model.kernelspace import kernel_space
from interplay.model.terms import interactions
from interplay.precision import double_precision

FORMS = [
    pytest.param({"numbers": 7, "factors": []}, {}, id="numbers"),
    pytest.param({"numbers": 4, "factors": [3, 2]}, {}, id="factors"),
    pytest.param({"numbers": 5, "factors": [3]}, {"components": 3}, id="components"),
    pytest.param({"numbers": 6, "factors": []}, {"components": 2, "pairs": 3}, id="named pairs"),
]


def problem(
    columns: dict, form: dict, spread: float, weighted: bool, draws: int = 5
) -> tuple[Design, Conditional]:
    made = make_design(4, n=16, **columns)
    if weighted:
        made = replace(made, weights=np.random.default_rng(5).uniform(0.5, 3.0, size=16))
    stack = [make_variances(seed, made.p, 2, spread=spread, **form) for seed in range(draws)]
    # Named pairs are the same in all draws.
    stack = [replace(one, pairs=stack[0].pairs) for one in stack]
    variances = jax.tree.map(lambda *leaves: jnp.stack(leaves), *stack)
    sigma = np.random.default_rng(6).uniform(0.3, 2.0, size=draws)
    return made, Conditional(kernel_space(made, stack[0].pairs), variances, sigma)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spread", [0.3, 3.0])
@pytest.mark.parametrize(("columns", "form"), FORMS)
@double_precision
def test_no_posterior_is_beyond_the_bounds(columns: dict, form: dict, spread: float, weighted: bool) -> None:
    made, conditional = problem(columns, form, spread, weighted)
    terms = interactions(made, range(made.p))
    exact = Mixture(*conditional.effects(terms))
    screen = conditional.pair_screen()
    assert screen is not None

    everything = jnp.arange(made.d)
    i, j = np.array(terms).T
    mean_bound, ratio_bound = (np.asarray(bound)[i, j] for bound in screen.bounds(everything, everything))
    assert np.all(np.abs(exact.mean) <= mean_bound)
    assert np.all(np.abs(exact.mean) / exact.sd <= ratio_bound)

    mean, least_sd = screen.moments(jnp.asarray(terms))
    np.testing.assert_allclose(mean, exact.mean, rtol=1e-7, atol=1e-12)
    assert np.all(least_sd <= exact.sd * (1 + 1e-9))
    # The closer bound must be worth its while.
    assert np.all(np.abs(mean) / least_sd <= ratio_bound * (1 + 1e-9))


@double_precision
def test_the_bound_is_reached_where_one_pair_is_all_there_is() -> None:
    made = make_design(4, n=9, numbers=2, factors=[])
    phi = np.asarray(made.X[:, 0] * made.X[:, 1])
    made = replace(made, y=phi / phi.std())
    only = make_variances(0, 2, 2)
    only = replace(
        only,
        intercept=jnp.zeros(()),
        orders=jnp.array([[0.0, 0.4]]),
        squares=jnp.zeros(1),
        weights=jnp.ones((1, 2)),
    )
    variances = jax.tree.map(lambda leaf: leaf[None], only)
    conditional = Conditional(kernel_space(made), variances, np.array([0.7]))
    screen = conditional.pair_screen()
    assert screen is not None
    mixture = Mixture(*conditional.effects([(0, 1)]))
    mean_bound, ratio_bound = screen.bounds(jnp.array([0]), jnp.array([1]))
    np.testing.assert_allclose(mean_bound[0], np.abs(mixture.mean))
    np.testing.assert_allclose(ratio_bound[0], np.abs(mixture.mean) / mixture.sd)
