"""Which columns carry the Gram matrix, for a likelihood from these alone."""

import math

import jax
import jax.numpy as jnp
from jax.scipy.special import factorial
from jaxtyping import Array, Float, Int

from interplay.model.layout import Layout
from interplay.model.variances import Variances

FEWEST = 64
"""Smallest number of leading columns that is worth a selection."""


def count(n: int, d: int) -> int:
    """How many of d columns lead.

    About as many as make the products cost what the factor does; more for more columns, of which each has
    less, and together not.
    """
    wanted = max(FEWEST, 5 * n // 8, math.isqrt(32 * d))
    return wanted if 2 * wanted < d else d


def shares(
    variances: Variances, layout: Layout, norms: Float[Array, "2 d"], rows: Float[Array, ""] | float | int
) -> Float[Array, " d"]:
    """About how much of the trace of the Gram matrix goes with each column.

    K is a polynomial in P = Σ_j w_j x_j x_jᵀ, entry by entry: to first order a column has its part of P times
    the polynomial's slope, which is taken at the average of P's diagonal.

    Parameters
    ----------
    variances, layout
        Prior variances, and which variable each column belongs to.
    norms
        ‖x_j‖² and ‖x_j²‖² of the columns, as the rows weigh.
    rows
        Number of rows, as they weigh.
    """
    weights = variances.weights[:, layout.owner]
    powers = jnp.arange(variances.degree)
    average = weights @ norms[0] / rows
    slopes = jnp.sum(variances.orders * average[:, None] ** powers / factorial(powers), axis=1)
    by_column, by_square = slopes @ weights, variances.squares @ weights**2
    if variances.mains is not None:
        by_column += jnp.abs(variances.mains[layout.owner])
    if variances.quadratics is not None:
        by_square += jnp.abs(variances.quadratics[layout.owner])
    return by_column * norms[0] + layout.square * by_square * norms[1]


def leading(
    variances: Variances,
    layout: Layout,
    norms: Float[Array, "2 d"],
    rows: Float[Array, ""] | float | int,
    keep: int,
) -> tuple[Int[Array, " h"], Float[Array, ""]]:
    """The columns with the largest shares, and the sum of the shares of all others."""
    parts = jax.lax.stop_gradient(shares(variances, layout, norms, rows))
    # In single precision this is not a sort.
    _, index = jax.lax.top_k(parts.astype(jnp.float32), keep)
    return index, jnp.sum(parts.at[index].set(0.0))
