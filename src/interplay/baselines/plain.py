"""Marginal NUTS: the marginal model as one would write it in NumPyro, with automatic gradients."""

from collections.abc import Callable
from itertools import combinations_with_replacement

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from interplay.baselines.hyperpriors import hyperparameters
from interplay.baselines.nuts import NUTS, Chains, dist, numpyro, run
from interplay.data.design import Design
from interplay.model.families import Gaussian
from interplay.model.priors.skim import SKIM

GAUSSIAN = Gaussian()
"""The family by default."""


def model(design: Design, prior: SKIM, family: Gaussian = GAUSSIAN) -> Callable[[], None]:
    """SKIM with the coefficients integrated out, as a NumPyro model (Appendix D of the paper).

    With z_g = κ_g² ⟨x_g, x̃_g⟩ the kernel is c² + η1² Σ z_g + η2² Σ_{g<h} z_g z_h + η3² Σ_{g numeric} z_g²,
    through the products X diag(κ²) Xᵀ and F diag(κ⁴) Fᵀ; then y ~ N(0, K + σ²I). Its sites are
    `sigma m_sq xi_sq psi_sq eta1 lam` and, from these, `eta2 eta3 kappa intercept_scale`.

    Parameters
    ----------
    design
        The data.
    prior, family
        SKIM, with pairs as its highest order, and normal noise.
    """
    prior.check(design.p)
    if prior.degree != 2:
        raise ValueError(
            f"The marginal model has pairs and no higher interactions; got SKIM(degree={prior.degree})."
            " Expected SKIM(degree=2)."
        )
    if design.weights is not None:
        raise ValueError("The marginal model has no weights of rows. Make the design without them.")
    n, p = design.n, design.p
    X, y, owner = design.X, design.y, design.owner
    F, F_owner = squared_features(design)
    numeric = [variable.start for variable in design.variables if variable.kind == "numeric"]
    squares = X[:, numeric] ** 2

    def skim() -> None:
        drawn = hyperparameters(prior, family, n, p)
        w = drawn["kappa"] ** 2
        K1 = (X * w[owner]) @ X.T
        K2 = (F * w[F_owner] ** 2) @ F.T
        K = drawn["intercept_scale"] ** 2 + drawn["eta1"] ** 2 * K1 + 0.5 * drawn["eta2"] ** 2 * (K1**2 - K2)
        if prior.quadratic:
            K += drawn["eta3"] ** 2 * (squares * w[owner[numeric]] ** 2) @ squares.T
        covariance = K + drawn["sigma"] ** 2 * jnp.eye(n)
        numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(n), covariance_matrix=covariance), obs=y)

    return skim


def marginal_nuts(
    design: Design,
    prior: SKIM,
    family: Gaussian = GAUSSIAN,
    *,
    seed: int = 0,
    chains: int = 4,
    warmup: int = 1000,
    draws: int = 1000,
    target_accept: float = 0.9,
) -> Chains:
    """Sample the hyperparameters p(τ, σ | y) of `model` by NumPyro's NUTS.

    Parameters
    ----------
    design, prior, family
        As in `model`.
    seed, chains, warmup, draws, target_accept
        Of NUTS.

    Returns
    -------
    Chains
        With draws of all sites, so of `eta1 eta2 eta3 kappa intercept_scale sigma` that make `Variances`.
    """
    kernel = NUTS(model(design, prior, family), target_accept_prob=target_accept)
    return run(kernel, seed=seed, chains=chains, warmup=warmup, draws=draws)


def squared_features(design: Design) -> tuple[Float[np.ndarray, "n f"], Int[np.ndarray, " f"]]:
    """Features F with ⟨f_g, f̃_g⟩ = ⟨x_g, x̃_g⟩², and the variable of each: all products within a variable."""
    columns, owners = [], []
    for g, variable in enumerate(design.variables):
        for a, b in combinations_with_replacement(range(variable.start, variable.stop), 2):
            columns.append(design.X[:, a] * design.X[:, b] * (1.0 if a == b else np.sqrt(2.0)))
            owners.append(g)
    return np.column_stack(columns), np.array(owners)
