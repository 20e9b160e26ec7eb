"""The prior variances of all terms, held in O(p) numbers: where priors and kernels meet.

S is a sum of components, each a product form over a set of variables. A prior adds components, and kernels,
engines, moves and searches follow from them.
"""

from dataclasses import dataclass, field, fields, replace
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Float, Int

ROUNDING = 1e-14
"""Relative size below which a difference of variances is rounding."""


Scalar = float | Float[np.ndarray, "*s"]
"""One number for each draw; of a single draw, also NumPy's own scalar, which is a float and not an array."""


@dataclass(frozen=True, eq=False)
class Symmetric:
    """Σ_r orders[r−1] e_r(z) + squares Σ_g z_g² of one set of variables, z_g = weights_g ⟨x_g, x̃_g⟩.

    A main effect has prior variance orders[0] w_i, an interaction of q variables orders[q−1] Π w_i, and a
    quadratic effect squares w_i². Every array may have leading axes, one entry for each draw.

    Parameters
    ----------
    weights
        Of the variables of the set, (k,).
    orders
        Multiplier of the elementary symmetric polynomial of order 1, …, r, (r,).
    squares
        Multiplier of the sum of squares, over numbers only, a scalar.
    variables
        The set, sorted, (k,); None for all variables.
    """

    weights: Float[np.ndarray, "*s k"]
    orders: Float[np.ndarray, "*s r"]
    squares: Scalar
    variables: Int[np.ndarray, " k"] | None = None


@dataclass(frozen=True, eq=False)
class Crossed:
    """scale [e1(a) e1(b) − Σ_g a_g b_g] of two sets of variables, a_g = left_g ⟨x_g, x̃_g⟩, b_g likewise.

    An interaction of i and j has prior variance scale (left_i right_j + left_j right_i), where a weight
    outside its set is 0; the second term takes out the square of a variable that is in both sets.

    Parameters
    ----------
    left, right
        Weights of the variables of the two sets, (k,) and (l,).
    scale
        A scalar.
    left_variables, right_variables
        The sets, sorted; None for all variables.
    """

    left: Float[np.ndarray, "*s k"]
    right: Float[np.ndarray, "*s l"]
    scale: Scalar
    left_variables: Int[np.ndarray, " k"] | None = None
    right_variables: Int[np.ndarray, " l"] | None = None


@dataclass(frozen=True, eq=False)
class Variances:
    """The diagonal prior covariance S of the coefficients.

    Parameters
    ----------
    intercept
        Prior variance of the intercept, a scalar.
    symmetric, crossed
        The components.
    mains, quadratics
        Further variance of each main effect and of each quadratic effect, (p,), or None.
    nu, pairs
        Further variance of single pairs, (K,), and these pairs as sorted tuples of variables.
    p
        Number of variables.
    """

    intercept: Scalar
    symmetric: tuple[Symmetric, ...]
    crossed: tuple[Crossed, ...] = ()
    mains: Float[np.ndarray, "*s p"] | None = None
    quadratics: Float[np.ndarray, "*s p"] | None = None
    nu: Float[np.ndarray, "*s K"] | None = None
    pairs: tuple[tuple[int, int], ...] = ()
    p: int = field(kw_only=True)

    @property
    def degree(self) -> int:
        """The largest number of distinct variables in a term with prior variance."""
        by_component = [component.orders.shape[-1] for component in self.symmetric]
        return max([*by_component, 2 if self.crossed or self.pairs else 1])

    def __getitem__(self, index: Any) -> "Variances":
        """Some of the draws, or one of them."""
        return _mapped(self, lambda array: array[index])

    def taken(self, members: Int[np.ndarray, "*b k"]) -> "Variances":
        """S of the terms within sets of variables, whose members become the variables 0, …, k − 1.

        Parameters
        ----------
        members
            Variables of each set, padded with p; leading axes go with those of the variances.
        """
        k, p = members.shape[-1], self.p

        def pick(values: np.ndarray, variables: np.ndarray | None = None) -> np.ndarray:
            everywhere = spread(values, variables, p)
            padded = np.concatenate([everywhere, np.zeros((*everywhere.shape[:-1], 1))], axis=-1)
            return np.take_along_axis(padded, members, axis=-1)

        nu: np.ndarray | None = None
        pairs: tuple[tuple[int, int], ...] = ()
        if self.nu is not None and k > 1:
            pairs = tuple(combinations(range(k), 2))
            i, j = np.array(pairs, dtype=int).reshape(-1, 2).T
            low = np.minimum(members[..., i], members[..., j])
            nu = of_named(self, self.nu, low, np.maximum(members[..., i], members[..., j]))
        return Variances(
            intercept=self.intercept,
            symmetric=tuple(
                Symmetric(pick(c.weights, c.variables), c.orders, c.squares) for c in self.symmetric
            ),
            crossed=tuple(
                Crossed(pick(c.left, c.left_variables), pick(c.right, c.right_variables), c.scale)
                for c in self.crossed
            ),
            mains=None if self.mains is None else pick(self.mains),
            quadratics=None if self.quadratics is None else pick(self.quadratics),
            nu=nu,
            pairs=pairs,
            p=k,
        )


def spread(values: np.ndarray, variables: Int[np.ndarray, " k"] | None, p: int) -> np.ndarray:
    """Weights of all variables, 0 outside the set."""
    if variables is None:
        return values
    everywhere = np.zeros((*values.shape[:-1], p), dtype=values.dtype)
    everywhere[..., variables] = values
    return everywhere


def gathered(values: np.ndarray, variables: Int[np.ndarray, " k"] | None) -> np.ndarray:
    """Of values of all variables, those of the set: the transpose of `spread`."""
    return values if variables is None else values[..., variables]


def mean_pair_variances(
    variances: Variances,
    left: Int[np.ndarray, " a"],
    right: Int[np.ndarray, " b"],
    by: Float[np.ndarray, " s"],
) -> Float[np.ndarray, "a b"]:
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
    mean = np.zeros((left.size, right.size))
    for a, b, scale in _pair_products(variances):
        mean += (a[:, left] * (by * scale)[:, None]).T @ b[:, right] / len(by)
    if variances.nu is not None:
        mean = added(mean, _all_named(variances, (by[:, None] * variances.nu).mean(axis=0), left, right))
    return mean


def mean_pair_squares(
    variances: Variances,
    left: Int[np.ndarray, " a"],
    right: Int[np.ndarray, " b"],
    by: Float[np.ndarray, " s"],
) -> Float[np.ndarray, "a b"]:
    """No less than the mean of the squared prior variance, times `by`: just that with a single product.

    The square of a sum of k numbers is at most k times the sum of their squares.
    """
    products = _pair_products(variances)
    mean = np.zeros((left.size, right.size))
    for a, b, scale in products:
        mean += (a[:, left] ** 2 * (by * scale**2)[:, None]).T @ b[:, right] ** 2 / len(by)
    if variances.nu is not None:
        mean += _all_named(variances, (by[:, None] * variances.nu**2).mean(axis=0), left, right)
    return (len(products) + (variances.nu is not None)) * mean


def pair_variances_with(variances: Variances, members: Int[np.ndarray, "s k"]) -> Float[np.ndarray, "s k p"]:
    """Prior variance of the interaction of some variables with every variable, in each draw.

    Parameters
    ----------
    variances
        Of each draw.
    members
        Variables for each draw, padded with p, whose interactions have none.
    """
    p = variances.p
    inside = np.minimum(members, p - 1)
    total = np.zeros((*members.shape, p))
    for a, b, scale in _pair_products(variances):
        of_member = np.take_along_axis(a, inside, axis=-1) * scale[:, None]
        total += of_member[:, :, None] * b[:, None, :]
    if variances.nu is not None:
        every = np.broadcast_to(np.arange(p), total.shape)
        low = np.minimum(inside[:, :, None], every).reshape(len(members), -1)
        high = np.maximum(inside[:, :, None], every).reshape(len(members), -1)
        total = added(total, of_named(variances, variances.nu, low, high).reshape(total.shape))
    return np.where((members < p)[:, :, None], total, 0.0)


def _pair_products(variances: Variances) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The variance of a pair as a sum of products a_i b_j: (a, b, factor of each draw) of each product."""
    p = variances.p
    products: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for c in variances.symmetric:
        if c.orders.shape[-1] >= 2:
            weights = spread(c.weights, c.variables, p)
            products.append((weights, weights, c.orders[..., 1]))
    for cross in variances.crossed:
        left = spread(cross.left, cross.left_variables, p)
        right = spread(cross.right, cross.right_variables, p)
        scale = np.asarray(cross.scale)
        products += [(left, right, scale), (right, left, scale)]
    return products


def _all_named(
    variances: Variances,
    nu: Float[np.ndarray, " k"],
    left: Int[np.ndarray, " a"],
    right: Int[np.ndarray, " b"],
) -> Float[np.ndarray, "a b"]:
    low, high = np.minimum(left[:, None], right), np.maximum(left[:, None], right)
    return of_named(variances, nu, low, high)


def of_named(
    variances: Variances,
    nu: Float[np.ndarray, "*s k"],
    low: Int[np.ndarray, "*b"],
    high: Int[np.ndarray, "*b"],
) -> Float[np.ndarray, "*c"]:
    """The ν of each pair of variables, 0 where it is not named, by bisection in the sorted list of names."""
    keys = np.array([i * variances.p + j for i, j in variances.pairs])
    order = np.argsort(keys)
    wanted = low.astype(np.int64) * variances.p + high
    at = np.clip(np.searchsorted(keys[order], wanted), 0, len(keys) - 1)
    nu = nu[..., order]
    # Positions with leading axes of their own go with the draws; those without are the same for all draws.
    values = np.take_along_axis(nu, at, axis=-1) if at.ndim == nu.ndim > 1 else nu[..., at]
    return np.where(keys[order][at] == wanted, values, 0.0)


def added(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Sum, where what rounding leaves of terms that should cancel is no variance."""
    total = a + b
    return np.where(np.abs(total) <= ROUNDING * (np.abs(a) + np.abs(b)), 0.0, total)


def _mapped(record: Any, function: Any) -> Any:
    """A record with a function applied to every array of numbers in it; sets and names stay."""
    changed: dict[str, Any] = {}
    for entry in fields(record):
        value = getattr(record, entry.name)
        if entry.name.endswith("variables") or entry.name in ("pairs", "p") or value is None:
            continue
        changed[entry.name] = (
            tuple(_mapped(part, function) for part in value)
            if isinstance(value, tuple)
            else function(np.asarray(value))
        )
    return replace(record, **changed)
