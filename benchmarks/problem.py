"""The problems that are timed: standard normal covariates, and prior variances sparse or even."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from interplay.data.design import Design
from interplay.data.variable import Variable
from interplay.model.priors import SKIM
from interplay.model.variances import Variances

ACTIVE = 5
"""Variables that matter in the response and in the sparse weights."""

SIGMA = 0.5
"""Noise standard deviation of the gradient's problems, for a response of unit variance."""

WEIGHTS = {
    "sparse": (
        f"like a posterior draw: a draw of the hyperparameters from SKIM's prior with σ = {SIGMA}, η1 = φ, "
        f"and λ = 1/φ for {ACTIVE} variables (η1 κ ≈ 1, where most others have η1 κ ≈ φ)"
    ),
    "even": "all weights equal, as under the block-degree prior: nothing can be truncated",
}
"""The kinds of weights, and what they are."""


def make_design(n: int, p: int, seed: int) -> Design:
    """Standardised normal covariates, and a response of a few of them and their pairs.

    Made in place, without the reading of a table, so that the data in memory are X and y alone.
    """
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p))
    X -= X.mean(axis=0)
    X /= X.std(axis=0)
    active = X[:, :ACTIVE]
    total = active.sum(axis=1)
    pairs = 0.5 * (total**2 - (active**2).sum(axis=1))
    y = total + pairs + random.standard_normal(n)
    y = (y - y.mean()) / y.std()
    return Design(
        X=X,
        y=y,
        variables=tuple(Variable(f"x{i}", "numeric", i, i + 1) for i in range(p)),
        centres=np.zeros(p),
        scales=np.ones(p),
        response="y",
        response_centre=0.0,
        response_scale=1.0,
        impute=None,
        left_out=(),
        fills=np.zeros(p),
    )


def make_variances(kind: str, n: int, p: int, seed: int) -> Variances:
    """Prior variances with weights of one of the kinds in `WEIGHTS`."""
    return _sparse(n, p, seed) if kind == "sparse" else _even(p)


@partial(jax.jit, static_argnames=("n", "p"))
def _sparse(n: int, p: int, seed: int) -> Variances:
    prior = SKIM(expected_mains=ACTIVE)
    phi = ACTIVE / (p - ACTIVE) * SIGMA / np.sqrt(n)
    position = prior.sample(jax.random.key(seed), n, p)
    position |= {
        "log_sigma": jnp.log(SIGMA),
        "log_eta1": jnp.log(phi),
        "log_lam": position["log_lam"].at[:ACTIVE].set(-jnp.log(phi)),
    }
    return prior.variances(prior.constrain(position, n, p), p)


def _even(p: int) -> Variances:
    # Mains, pairs and squares each bring about as much to the variance of the response.
    return Variances(
        intercept=jnp.asarray(1.0),
        weights=jnp.ones((1, p)),
        orders=jnp.array([[1.0 / p, 1.0 / p**2]]),
        squares=jnp.array([1.0 / p**2]),
    )
