"""The problems that are timed: standard normal covariates, of which few matter."""

import numpy as np

from interplay.data.design import Design
from interplay.data.variable import Variable
from interplay.model.posterior import Posterior

ACTIVE = 5
"""Variables that matter in the response and in the sparse weights."""

SIGMA = 0.5
"""Noise standard deviation of the gradient's problems, for a response of unit variance."""

POSITION = (
    f"like a posterior draw: a draw from SKIM's prior with σ = {SIGMA}, η1 = φ, and λ = 1/φ for {ACTIVE} "
    "variables (η1 κ ≈ 1, where most others have η1 κ ≈ φ)"
)
"""Where gradients are taken, and effects are searched."""


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


def make_position(posterior: Posterior, seed: int) -> np.ndarray:
    """The position that `POSITION` describes."""
    n, p = posterior.design.n, posterior.p
    log_phi = np.log(ACTIVE / (p - ACTIVE) * SIGMA / np.sqrt(n))
    x = posterior.sample_prior(np.random.default_rng(seed))
    x[posterior.coordinates.index("log_sigma")] = np.log(SIGMA)
    x[posterior.coordinates.index("log_eta1")] = log_phi
    x[posterior.local[:ACTIVE]] = -log_phi
    return x
