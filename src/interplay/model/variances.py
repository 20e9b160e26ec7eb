"""The prior variances of all terms, held in O(p) numbers: where priors and kernels meet."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from interplay.model.trees import Leaf, record

ROUNDING = 1e-14
"""Relative size below which a difference of variances is rounding."""


@record("pairs")
class Variances:
    """The diagonal prior covariance S of the coefficients, as a sum of M product-form components.

    With w_m the weights of component m, the prior variances are

        S_()    = intercept
        S_(i)   = Σ_m orders[m, 0] w_mi              + mains[i]
        S_(ii)  = Σ_m squares[m] w_mi²               + quadratics[i]
        S_(T)   = Σ_m orders[m, |T| - 1] Π_{i∈T} w_mi   (+ nu[k] where T is pairs[k])

    for a set T of distinct variables. SKIM and the block-degree prior have one component, with
    w = κ², orders = (η1², η2²), squares = η3²; the paper's two-way kernel (Definition 4.2) has M1 of
    them, with w = λ², orders = (2, 2), squares = 1.

    Parameters
    ----------
    intercept
        Prior variance of the intercept, a scalar.
    weights
        Weights of the variables in each component, (M, p).
    orders
        Multiplier of the elementary symmetric polynomial of order 1, …, r in each component, (M, r).
    squares
        Multiplier of the sum of squares in each component, (M,).
    mains, quadratics
        Further variance of each main effect and of each quadratic effect, (p,), or None.
    nu
        Further variance of single pairs, (K,), or None.
    pairs
        The pairs that `nu` belongs to, as sorted tuples of variables.
    """

    intercept: Leaf
    weights: Leaf
    orders: Leaf
    squares: Leaf
    mains: Leaf | None = None
    quadratics: Leaf | None = None
    nu: Leaf | None = None
    pairs: tuple[tuple[int, int], ...] = ()

    @property
    def degree(self) -> int:
        """The largest number of distinct variables in a term with prior variance."""
        return self.orders.shape[-1]


def term_variances(
    variances: Variances, variables: Int[Array, "t q"], square: Bool[Array, " t"]
) -> Float[Array, " t"]:
    """Prior variance of each term, in O(M q) a term.

    Parameters
    ----------
    variances
        One draw of the prior variances.
    variables
        The distinct variables of each term, padded with -1 at the end.
    square
        Whether the term is the square of its one variable.
    """
    used = variables >= 0
    order = used.sum(axis=1)
    products = jnp.prod(jnp.where(used, variances.weights[:, variables], 1.0), axis=2)
    # One column more than the degree: zero variance for terms of an order that the prior does not have.
    by_order = jnp.pad(variances.orders, ((0, 0), (0, 1)))[:, jnp.clip(order - 1, 0, variances.degree)]
    first = jnp.clip(variables[:, 0], 0)

    product_form = jnp.sum(by_order * products, axis=0)
    if variances.mains is not None:
        product_form = _added(product_form, jnp.where(order == 1, variances.mains[first], 0.0))
    if variances.nu is not None:
        second = variables[:, min(1, variables.shape[1] - 1)]
        product_form = _added(product_form, jnp.where(order == 2, _named(variances, first, second), 0.0))
    squared = jnp.sum(variances.squares[:, None] * products**2, axis=0)
    if variances.quadratics is not None:
        squared = _added(squared, variances.quadratics[first])
    return jnp.where(order == 0, variances.intercept, jnp.where(square, squared, product_form))


def pair_variances(
    variances: Variances, left: Int[Array, " a"], right: Int[Array, " b"]
) -> Float[Array, "a b"]:
    """Prior variance of the interaction of every variable on the left with every one on the right."""
    weights = variances.weights
    S = jnp.einsum("m,ma,mb->ab", variances.orders[:, 1], weights[:, left], weights[:, right])
    if variances.nu is not None:
        low, high = jnp.minimum(left[:, None], right), jnp.maximum(left[:, None], right)
        S = _added(S, _named(variances, low, high))
    return S


def _added(a: Float[Array, "*s"], b: Float[Array, "*s"]) -> Float[Array, "*s"]:
    """Sum, where what rounding leaves of terms that should cancel is no variance."""
    total = a + b
    return jnp.where(jnp.abs(total) <= ROUNDING * (jnp.abs(a) + jnp.abs(b)), 0.0, total)


def _named(variances: Variances, low: Int[Array, "*s"], high: Int[Array, "*s"]) -> Float[Array, "*s"]:
    """The ν of each pair of variables, 0 where it is not named, by bisection in the sorted list of names."""
    p = variances.weights.shape[-1]
    keys = np.array([i * p + j for i, j in variances.pairs])
    order = np.argsort(keys)
    wanted = low.astype(jnp.int64) * p + high
    at = jnp.clip(jnp.searchsorted(jnp.asarray(keys[order]), wanted), 0, len(keys) - 1)
    return jnp.where(jnp.asarray(keys[order])[at] == wanted, jnp.asarray(variances.nu)[order][at], 0.0)
