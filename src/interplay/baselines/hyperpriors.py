"""SKIM and the block-degree prior stated in NumPyro: an independent reference for `interplay.model`.

Nothing here is computed by `interplay.model`, from which only the settings of priors and families come.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from interplay.baselines.nuts import dist, numpyro
from interplay.model.families import Gaussian
from interplay.model.priors import SKIM, BlockDegree, Prior
from interplay.model.settings import Number

Hyperparameters = dict[str, Array]
"""`sigma eta1 eta2 eta3 kappa intercept_scale`, and `eta_higher` past pairs."""


def hyperparameters(prior: Prior, family: Gaussian, n: Number, p: int) -> Hyperparameters:
    """Sample the noise and the hyperparameters of a prior, inside a NumPyro model.

    Parameters
    ----------
    prior, family
        Their settings.
    n, p
        Rows, the sum of their weights if they have any, and variables.
    """
    sigma = numpyro.sample("sigma", dist.HalfNormal(family.noise_scale))
    match prior:
        case SKIM():
            drawn = _skim(prior, sigma, n, p)
        case BlockDegree():
            drawn = _block_degree(prior, p)
        case _:
            raise TypeError(f"{type(prior).__name__} is not stated in NumPyro. Expected SKIM or BlockDegree.")
    intercept_scale = numpyro.deterministic("intercept_scale", jnp.asarray(float(prior.intercept_scale)))
    return drawn | {"sigma": sigma, "intercept_scale": intercept_scale}


def _skim(prior: SKIM, sigma: Array, n: Number, p: int) -> Hyperparameters:
    """Section 6 and Appendix D of the paper; `m_sq xi_sq psi_sq lam` are sampled too."""
    s = min(5.0, p / 2) if prior.expected_mains is None else float(prior.expected_mains)
    interaction = dist.InverseGamma(prior.interaction_shape, prior.interaction_scale)
    m_sq = numpyro.sample("m_sq", dist.InverseGamma(prior.main_shape, prior.main_scale))
    xi_sq = numpyro.sample("xi_sq", interaction.expand([prior.degree - 1]).to_event(1))
    eta1 = numpyro.sample("eta1", dist.HalfCauchy(s / (p - s) * sigma / np.sqrt(n)))
    lam = numpyro.sample("lam", dist.HalfCauchy(jnp.ones(p)).to_event(1))
    kappa = numpyro.deterministic("kappa", jnp.sqrt(m_sq / (m_sq + (eta1 * lam) ** 2)) * lam)
    orders = np.arange(2, prior.degree + 1)
    eta = (eta1 / jnp.sqrt(m_sq)) ** orders * jnp.sqrt(xi_sq)
    eta3 = 0.0
    if prior.quadratic:
        eta3 = eta1**2 * jnp.sqrt(numpyro.sample("psi_sq", interaction)) / m_sq
    return {"eta1": eta1, "kappa": kappa} | _orders(eta, eta3)


def _block_degree(prior: BlockDegree, p: int) -> Hyperparameters:
    """Appendix C.1 of the paper; the orders 2, 3, … are sampled together as `eta`, and η3 as `psi`."""
    eta1 = numpyro.sample("eta1", dist.HalfNormal(prior.main_scale))
    interaction = dist.HalfNormal(prior.interaction_scale)
    eta = numpyro.sample("eta", interaction.expand([prior.degree - 1]).to_event(1))
    values = {"eta1": eta1, "kappa": numpyro.deterministic("kappa", jnp.ones(p))}
    if not prior.quadratic:
        return values | _orders(eta, 0.0)
    psi = numpyro.sample("psi", dist.HalfNormal(prior.quadratic_scale))
    return values | _orders(eta, psi)


def _orders(eta: Array, eta3: Array | float) -> Hyperparameters:
    values = {
        "eta2": numpyro.deterministic("eta2", eta[0]),
        "eta3": numpyro.deterministic("eta3", jnp.asarray(eta3)),
    }
    return values | ({"eta_higher": numpyro.deterministic("eta_higher", eta[1:])} if eta.size > 1 else {})
