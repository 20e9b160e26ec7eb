"""How much of the response's variance each kind of effect makes up."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from interplay.data.design import Design
from interplay.effects.conditional import Conditional
from interplay.inference.threads import SINGLE_THREAD
from interplay.model.marginal import Engine, Factor
from interplay.model.terms import Terms, as_arrays, mains, quadratics
from interplay.model.variances import Variances
from interplay.precision import double_precision


@double_precision
def variance_shares(conditional: Conditional, design: Design) -> Float[np.ndarray, "s 4"]:
    """Shares of main effects, quadratic effects, interactions and noise in each draw, adding up to one.

        share of a part = cov(f_part, f) / (var f + σ²),    f = f_main + f_quadratic + f_interaction

    with f the conditional mean at the data, and variances over its rows, by weight. The first two parts are
    known from their O(p) coefficients; what they leave of f is all interactions, so that none of the p²
    is computed.

    Parameters
    ----------
    conditional
        Posterior given the draws.
    design
        The data.
    """
    weights = np.ones(design.n) if design.weights is None else design.weights
    own = as_arrays(mains(design)), as_arrays(quadratics(design))
    X, share = jnp.asarray(design.X), jnp.asarray(weights / weights.sum())
    parts = conditional.over_draws(
        lambda factors, variances: _covariances(conditional.engine, factors, variances, X, share, *own)
    )
    total = np.column_stack([parts, np.asarray(conditional.sigma) ** 2])
    return total / total.sum(axis=1, keepdims=True)


@partial(jax.jit, compiler_options=SINGLE_THREAD)
def _covariances(
    engine: Engine,
    factors: Factor,
    variances: Variances,
    X: Float[Array, "n d"],
    share: Float[Array, " n"],
    main: Terms,
    square: Terms,
) -> Float[Array, "s 3"]:
    """Covariance of each part of f with the whole, over the rows."""
    # A level's column is √(L/(L−1)) times its part of ⟨x_g, u_l⟩: see `Layout.effect_scale`.
    levels = X / engine.layout.effect_scale
    squares = X[:, square.columns[:, 0]] ** 2

    def one(draw: tuple[Factor, Variances]) -> Array:
        whole = engine.predict(*draw, X)[0]
        first = levels @ engine.effects(*draw, main)[0]
        second = squares @ engine.effects(*draw, square)[0]
        parts = jnp.stack([first, second, whole - first - second])
        return parts @ (share * (whole - share @ whole))

    return jax.lax.map(one, (factors, variances))
