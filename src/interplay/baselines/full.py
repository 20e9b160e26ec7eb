"""FULL: all coefficients and hyperparameters sampled together by NUTS, O(n p²) a gradient."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd
from jax.scipy.stats import norm
from jaxtyping import Array, Float
from numpyro.infer import init_to_sample

from interplay.baselines.explicit import effect_directions, features
from interplay.baselines.hyperpriors import Hyperparameters, hyperparameters
from interplay.baselines.nuts import NUTS, dist, numpyro, run
from interplay.data.design import Design
from interplay.effects.mixture import Mixture
from interplay.model.families import Gaussian
from interplay.model.priors import Prior
from interplay.model.terms import Term, is_square, monomials
from interplay.results.tables import effect_table

GAUSSIAN = Gaussian()
"""The family by default."""

COEFFICIENTS = "z"
"""Name of the whitened coefficients beside the hyperparameters' names."""

SYMBOLS = ("sigma", "eta1", "eta2", "eta3", "kappa", "intercept_scale", "eta_higher")
"""Hyperparameters that are kept of the draws, where the prior has them."""


@dataclass(frozen=True)
class Full:
    """Draws from the joint posterior of effects and hyperparameters.

    Parameters
    ----------
    terms
        The effects: intercept, mains, interactions and squares.
    effects
        Draws of each, (chains, draws, t).
    hyperparameters
        Draws in the paper's symbols, (chains, draws, …).
    divergences, gradients
        As in `interplay.baselines.nuts.Chains`.
    """

    terms: tuple[Term, ...]
    effects: Float[np.ndarray, "c s t"]
    hyperparameters: dict[str, np.ndarray]
    divergences: int
    gradients: int

    def table(self, design: Design) -> pd.DataFrame:
        """The effect table of all draws, without the intercept, which is the first of the terms."""
        draws = self.effects.reshape(-1, len(self.terms))[:, 1:]
        return effect_table(design, self.terms[1:], Mixture(draws, np.zeros_like(draws)))


def full(
    design: Design,
    prior: Prior,
    family: Gaussian = GAUSSIAN,
    *,
    seed: int = 0,
    chains: int = 4,
    warmup: int = 1000,
    draws: int = 1000,
    target_accept: float = 0.9,
) -> Full:
    """Sample p(θ, τ, σ | y) with every coefficient explicit: the paper's FULL (Section 7).

    With Φ the explicit features and S_τ their prior variances, the coefficients are whitened,

        z ~ N(0, I)    θ = S_τ^½ z    y ~ N(Φθ, σ²I)

    and the effects are linear in θ: θ itself for numbers, ⟨u_l, θ_g⟩ for level l of a factor g.

    Parameters
    ----------
    design
        The data.
    prior, family
        SKIM or BlockDegree, and normal noise.
    seed, chains, warmup, draws, target_accept
        Of NUTS; the chains start at draws from the prior with θ = 0.
    """
    terms = monomials(design, prior.degree, quadratic=prior.quadratic)
    kernel = NUTS(
        joint_model(design, prior, family), target_accept_prob=target_accept, init_strategy=partial(_start)
    )
    sampled = run(kernel, seed=seed, chains=chains, warmup=warmup, draws=draws)
    directions = effect_directions(design, terms, terms)
    coefficients = sampled.draws["theta"].reshape(-1, len(terms))
    return Full(
        terms=tuple(terms),
        effects=(directions @ coefficients.T).T.reshape(chains, draws, len(terms)),
        hyperparameters={name: sampled.draws[name] for name in SYMBOLS if name in sampled.draws},
        divergences=sampled.divergences,
        gradients=sampled.gradients,
    )


def joint_model(design: Design, prior: Prior, family: Gaussian = GAUSSIAN) -> Callable[[], None]:
    """p(y, z, τ, σ) as a NumPyro model, with sites of the hyperparameters, `z` and, from these, `theta`."""
    prior.check(design.p)
    terms = monomials(design, prior.degree, quadratic=prior.quadratic)
    Phi, root = features(design, terms), _prior_root(design, prior, terms)
    y, weights = design.y, design.row_weights

    def joint() -> None:
        drawn = hyperparameters(prior, family, design.total_weight, design.p)
        z = numpyro.sample(COEFFICIENTS, dist.Normal().expand([len(terms)]).to_event(1))
        theta = numpyro.deterministic("theta", root(drawn) * z)
        # A row of weight w counts as w copies of it.
        numpyro.factor("y", jnp.sum(weights * norm.logpdf(y, Phi @ theta, drawn["sigma"])))

    return joint


def _prior_root(
    design: Design, prior: Prior, terms: list[Term]
) -> Callable[[Hyperparameters], Float[Array, " t"]]:
    """Prior standard deviation of each term: c, η1 κ_i, η2 κ_i κ_j, …, and η3 κ_i² of a square."""
    width = max(len(term) for term in terms)
    # A term of fewer variables is filled up with one of weight 1, which stands at the end.
    variables = np.full((len(terms), width), design.p)
    scale = np.zeros(len(terms), dtype=int)
    for row, term in enumerate(terms):
        variables[row, : len(term)] = design.owner[list(term)]
        scale[row] = prior.degree + 1 if is_square(term) else len(term)

    def root(drawn: Hyperparameters) -> Float[Array, " t"]:
        higher = drawn.get("eta_higher", jnp.zeros(0))
        orders = [jnp.array([drawn["intercept_scale"], drawn["eta1"], drawn["eta2"]]), higher]
        scales = jnp.concatenate([*orders, jnp.reshape(drawn["eta3"], 1)])
        kappa = jnp.append(drawn["kappa"], 1.0)
        return scales[scale] * jnp.prod(kappa[variables], axis=1)

    return root


def _start(site: dict[str, Any]) -> Any:
    """Where a chain starts: a draw from the prior, with coefficients of zero."""
    if site["name"] == COEFFICIENTS:
        return jnp.zeros(site["fn"].shape())
    return init_to_sample(site)
