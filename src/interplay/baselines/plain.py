"""PLAIN: the marginal model as one would write it in NumPyro, with automatic gradients."""

from collections.abc import Callable
from itertools import combinations_with_replacement

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from interplay.baselines.nuts import NUTS, Chains, dist, numpyro, run
from interplay.data.design import Design
from interplay.model.priors.skim import SKIM


def model(design: Design, prior: SKIM) -> Callable[[], None]:
    """SKIM with the coefficients integrated out, as a NumPyro model (Appendix D of the paper).

    With z_g = κ_g² ⟨x_g, x̃_g⟩ the kernel is c² + η1² Σ z_g + η2² Σ_{g<h} z_g z_h + η3² Σ_{g numeric} z_g²,
    through the products X diag(κ²) Xᵀ and F diag(κ⁴) Fᵀ; then y ~ N(0, K + σ²I). Its sites are
    `sigma m_sq xi_sq psi_sq eta1 lam` and, from these, `eta2 eta3 kappa`.

    Parameters
    ----------
    design
        The data.
    prior
        SKIM, with pairs as its highest order.
    """
    prior.check(design.p)
    if prior.degree != 2:
        raise ValueError(
            f"The plain model has pairs and no higher interactions; got SKIM(degree={prior.degree})."
            " Expected SKIM(degree=2)."
        )
    if design.weights is not None:
        raise ValueError("The plain model has no weights of rows. Make the design without them.")
    n, p = design.n, design.p
    s = min(5.0, p / 2) if prior.expected_mains is None else float(prior.expected_mains)
    X, y, owner = design.X, design.y, design.owner
    F, F_owner = squared_features(design)
    numeric = [variable.start for variable in design.variables if variable.kind == "numeric"]
    squares = X[:, numeric] ** 2

    def skim() -> None:
        sigma = numpyro.sample("sigma", dist.HalfNormal(prior.noise_scale))
        m_sq = numpyro.sample("m_sq", dist.InverseGamma(prior.main_shape, prior.main_scale))
        interaction = dist.InverseGamma(prior.interaction_shape, prior.interaction_scale)
        xi_sq = numpyro.sample("xi_sq", interaction)
        eta1 = numpyro.sample("eta1", dist.HalfCauchy(s / (p - s) * sigma / np.sqrt(n)))
        lam = numpyro.sample("lam", dist.HalfCauchy(jnp.ones(p)))
        kappa = numpyro.deterministic("kappa", jnp.sqrt(m_sq / (m_sq + (eta1 * lam) ** 2)) * lam)
        eta2 = numpyro.deterministic("eta2", eta1**2 * jnp.sqrt(xi_sq) / m_sq)
        w = kappa**2
        K1 = (X * w[owner]) @ X.T
        K2 = (F * w[F_owner] ** 2) @ F.T
        K = prior.intercept_scale**2 + eta1**2 * K1 + 0.5 * eta2**2 * (K1**2 - K2)
        if prior.quadratic:
            psi_sq = numpyro.sample("psi_sq", interaction)
            eta3 = numpyro.deterministic("eta3", eta1**2 * jnp.sqrt(psi_sq) / m_sq)
            K += eta3**2 * (squares * w[owner[numeric]] ** 2) @ squares.T
        covariance = K + sigma**2 * jnp.eye(n)
        numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(n), covariance_matrix=covariance), obs=y)

    return skim


def plain(
    design: Design,
    prior: SKIM,
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
    design, prior
        As in `model`.
    seed, chains, warmup, draws, target_accept
        Of NUTS.

    Returns
    -------
    Chains
        With draws of all sites, so of `eta1 eta2 eta3 kappa intercept_scale sigma` that make `Variances`.
    """
    kernel = NUTS(model(design, prior), target_accept_prob=target_accept)
    sampled = run(kernel, seed=seed, chains=chains, warmup=warmup, draws=draws)
    fixed = {"intercept_scale": np.full((chains, draws), float(prior.intercept_scale))}
    if not prior.quadratic:
        fixed["eta3"] = np.zeros((chains, draws))
    return Chains(sampled.draws | fixed, sampled.divergences, sampled.gradients)


def squared_features(design: Design) -> tuple[Float[np.ndarray, "n f"], Int[np.ndarray, " f"]]:
    """Features F with ⟨f_g, f̃_g⟩ = ⟨x_g, x̃_g⟩², and the variable of each: all products within a variable."""
    columns, owners = [], []
    for g, variable in enumerate(design.variables):
        for a, b in combinations_with_replacement(range(variable.start, variable.stop), 2):
            columns.append(design.X[:, a] * design.X[:, b] * (1.0 if a == b else np.sqrt(2.0)))
            owners.append(g)
    return np.column_stack(columns), np.array(owners)
