"""The log density that a sampler sees."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from strategies import make_design

from interplay.model.density import log_density
from interplay.model.marginal import engine
from interplay.model.priors import SKIM, BlockDegree, Prior


@pytest.mark.parametrize("prior", [SKIM(), SKIM(degree=3, quadratic=False), BlockDegree()])
@pytest.mark.parametrize("n", [10, 120])
def test_is_prior_plus_likelihood_with_its_gradient(prior: Prior, n: int) -> None:
    made = make_design(31, n=n, numbers=3, factors=[3])
    space = engine(made, prior)
    density = log_density(prior, space, made.n, made.p)
    position = prior.sample(jax.random.key(0), made.n, made.p)
    values = prior.constrain(position, made.n, made.p)
    likelihood = space.log_likelihood(prior.variances(values, made.p), values["sigma"])
    assert float(density(position)) == pytest.approx(
        float(prior.log_density(position, made.n, made.p) + likelihood)
    )
    flat, unravel = ravel_pytree(position)
    evaluate = jax.jit(lambda x: density(unravel(x)))
    steps = 1e-5 * jnp.eye(flat.size)
    differences = [(evaluate(flat + step) - evaluate(flat - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(jax.grad(evaluate)(flat), differences, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e4])
def test_nowhere_an_exception(bad: float) -> None:
    prior = SKIM()
    made = make_design(32, n=10, numbers=3, factors=[])
    density = log_density(prior, engine(made, prior), made.n, made.p)
    position = prior.sample(jax.random.key(1), made.n, made.p)
    position["log_sigma"] = jnp.asarray(bad)
    value, gradient = jax.jit(jax.value_and_grad(density))(position)
    assert value == -jnp.inf
    assert not np.any(ravel_pytree(gradient)[0])


def test_second_evaluation_is_not_traced_again() -> None:
    traces = 0
    prior = SKIM()
    made = make_design(33, n=10, numbers=3, factors=[])
    density = log_density(prior, engine(made, prior), made.n, made.p)

    @jax.jit
    def evaluate(position: dict) -> jax.Array:
        nonlocal traces
        traces += 1
        return density(position)

    for seed in range(3):
        evaluate(prior.sample(jax.random.key(seed), made.n, made.p))
    assert traces == 1


@pytest.mark.user_settings
def test_single_precision_is_refused() -> None:
    made = make_design(34, n=10, numbers=3, factors=[])
    with pytest.raises(RuntimeError, match="64-bit"):
        log_density(SKIM(), engine(made, SKIM()), made.n, made.p)


def test_a_prior_that_does_not_fit_is_refused() -> None:
    made = make_design(34, n=10, numbers=3, factors=[])
    with pytest.raises(ValueError, match="must be below 3"):
        log_density(SKIM(expected_mains=9), engine(made, SKIM()), made.n, made.p)
