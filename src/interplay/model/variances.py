"""The prior variances of all terms, held in O(p) numbers: where priors and kernels meet."""

from dataclasses import replace

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


def mean_pair_variances(
    variances: Variances, left: Int[Array, " a"], right: Int[Array, " b"], by: Float[Array, " s"]
) -> Float[Array, "a b"]:
    """Mean over a stack of draws of the prior variance, times `by`, of each variable's interaction with each.

    Parameters
    ----------
    variances
        Of each draw; every array has the draws as its first axis.
    left, right
        Variables.
    by
        A factor of each draw, not negative.
    """
    mean = _mean_products(variances.weights, by[:, None] * variances.orders[:, :, 1], left, right)
    if variances.nu is not None:
        mean = _added(mean, _all_named(variances, (by[:, None] * variances.nu).mean(axis=0), left, right))
    return mean


def mean_pair_squares(
    variances: Variances, left: Int[Array, " a"], right: Int[Array, " b"], by: Float[Array, " s"]
) -> Float[Array, "a b"]:
    """No less than the mean of the squared prior variance, times `by`: just that with a single component.

    The square of a sum of k numbers is at most k times the sum of their squares.
    """
    parts = variances.weights.shape[1] + (variances.nu is not None)
    squares = by[:, None] * variances.orders[:, :, 1] ** 2
    mean = _mean_products(variances.weights**2, squares, left, right)
    if variances.nu is not None:
        mean += _all_named(variances, (by[:, None] * variances.nu**2).mean(axis=0), left, right)
    return parts * mean


def _mean_products(
    weights: Float[Array, "s m p"],
    factors: Float[Array, "s m"],
    left: Int[Array, " a"],
    right: Int[Array, " b"],
) -> Float[Array, "a b"]:
    rows = weights.reshape(-1, weights.shape[-1])
    return (rows[:, left] * factors.reshape(-1, 1)).T @ rows[:, right] / len(weights)


def _all_named(
    variances: Variances, nu: Float[Array, " k"], left: Int[Array, " a"], right: Int[Array, " b"]
) -> Float[Array, "a b"]:
    low, high = jnp.minimum(left[:, None], right), jnp.maximum(left[:, None], right)
    return _named(replace(variances, nu=nu), low, high)


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
