"""FULL: all coefficients and hyperparameters sampled together by NUTS, O(n p²) a gradient."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jax.scipy.stats import norm
from jaxtyping import Array, Float

from interplay.baselines.explicit import effect_directions, features
from interplay.baselines.nuts import NUTS, run
from interplay.data.design import Design
from interplay.effects.mixture import Mixture
from interplay.model.layout import layout
from interplay.model.priors.base import Hyperparameters, Position, Prior
from interplay.model.terms import Term, as_arrays, marginal_prior, monomials
from interplay.precision import double_precision
from interplay.results.tables import effect_table

COEFFICIENTS = "z"
"""Name of the whitened coefficients beside the prior's own names."""


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


@double_precision
def full(
    design: Design,
    prior: Prior,
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
    prior
        Any prior.
    seed, chains, warmup, draws, target_accept
        Of NUTS; the chains start at draws from the prior with θ = 0.
    """
    prior.check(design.p)
    density = joint_density(design, prior)
    terms = monomials(design, prior.degree, quadratic=prior.quadratic)
    keys = jax.random.split(jax.random.key(seed), chains)
    start = jax.vmap(lambda key: prior.sample(key, design.total_weight, design.p))(keys)
    sampled = run(
        NUTS(potential_fn=lambda point: -density(point), target_accept_prob=target_accept),
        seed=seed,
        chains=chains,
        warmup=warmup,
        draws=draws,
        start=start | {COEFFICIENTS: jnp.zeros((chains, len(terms)))},
    )
    root = _prior_root(design, prior, terms)
    directions = jnp.asarray(effect_directions(design, terms, terms).toarray())

    def one(point: Position) -> tuple[Float[Array, " t"], Hyperparameters]:
        position, z = _parted(point)
        hyperparameters = prior.constrain(position, design.total_weight, design.p)
        return directions @ (root(hyperparameters) * z), hyperparameters

    effects, hyperparameters = jax.jit(jax.vmap(jax.vmap(one)))(sampled.draws)
    return Full(
        terms=tuple(terms),
        effects=np.asarray(effects),
        hyperparameters={name: np.asarray(value) for name, value in hyperparameters.items()},
        divergences=sampled.divergences,
        gradients=sampled.gradients,
    )


def joint_density(design: Design, prior: Prior) -> Callable[[Position], Float[Array, ""]]:
    """Log p(y, z, τ, σ) as a function of the prior's unconstrained position with `z` beside it.

    Build and use it in double precision.
    """
    terms = monomials(design, prior.degree, quadratic=prior.quadratic)
    root = _prior_root(design, prior, terms)
    Phi = jnp.asarray(features(design, terms))
    y = jnp.asarray(design.y)
    weights = 1.0 if design.weights is None else jnp.asarray(design.weights)

    def density(point: Position) -> Float[Array, ""]:
        position, z = _parted(point)
        hyperparameters = prior.constrain(position, design.total_weight, design.p)
        sigma = hyperparameters["sigma"]
        coefficients = jnp.sum(norm.logpdf(z))
        likelihood = jnp.sum(weights * norm.logpdf(y, Phi @ (root(hyperparameters) * z), sigma))
        return prior.log_density(position, design.total_weight, design.p) + coefficients + likelihood

    return density


def _prior_root(
    design: Design, prior: Prior, terms: list[Term]
) -> Callable[[Hyperparameters], Float[Array, " t"]]:
    columns, arrays = layout(design, prior.pairs), as_arrays(terms)

    def root(hyperparameters: Hyperparameters) -> Float[Array, " t"]:
        S = marginal_prior(prior.variances(hyperparameters, design.p), columns, arrays)
        # The derivative of a square root at a variance of zero would be no number.
        return jnp.where(S > 0, jnp.sqrt(jnp.where(S > 0, S, 1.0)), 0.0)

    return root


def _parted(point: Position) -> tuple[Position, Float[Array, " t"]]:
    return {name: value for name, value in point.items() if name != COEFFICIENTS}, point[COEFFICIENTS]
