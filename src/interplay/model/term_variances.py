"""Prior variances of single terms, and the chain rule back from them.

A term is a product of distinct variables, or the square of one, which is that variable twice. Its prior
variance is a multiplier of the component, by the order of the term, times the product of the weights.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from interplay.model.variances import Crossed, Symmetric, Variances, added, gathered, of_named, spread


class _Terms(NamedTuple):
    """Terms as products of places: variables, padded with −1; a square has its variable twice.

    `order` has one number more than the largest order for squares.
    """

    places: Int[np.ndarray, "t q"]
    order: Int[np.ndarray, " t"]
    square: Bool[np.ndarray, " t"]

    @property
    def main(self) -> Bool[np.ndarray, " t"]:
        return self.order == 1

    @property
    def pair(self) -> Bool[np.ndarray, " t"]:
        return self.order == 2


def term_variances(
    variances: Variances, variables: Int[np.ndarray, "t q"], square: Bool[np.ndarray, " t"]
) -> Float[np.ndarray, "*s t"]:
    """Prior variance of each term, in O(q) a term and component.

    Parameters
    ----------
    variances
        Of one draw, or of several.
    variables
        The distinct variables of each term, padded with -1 at the end.
    square
        Whether the term is the square of its one variable.
    """
    terms, p = _as_places(variables, square), variances.p
    total = np.where(terms.order == 0, np.asarray(variances.intercept)[..., None], 0.0)
    for component in variances.symmetric:
        factors = _padded(component, p)[..., terms.places]
        total = total + _multipliers(component, terms) * factors.prod(axis=-1)
    first, second = terms.places[:, 0], terms.places[:, 1]
    for crossed in variances.crossed:
        left, right = _sides(crossed, p)
        both = left[..., first] * right[..., second] + left[..., second] * right[..., first]
        total = total + np.where(terms.pair, np.asarray(crossed.scale)[..., None] * both, 0.0)
    if variances.mains is not None:
        total = added(total, np.where(terms.main, variances.mains[..., first], 0.0))
    if variances.quadratics is not None:
        total = added(total, np.where(terms.square, variances.quadratics[..., first], 0.0))
    if variances.nu is not None:
        named = of_named(variances, variances.nu, first, second)
        total = added(total, np.where(terms.pair, named, 0.0))
    return total


def pull_back_terms(
    variances: Variances,
    variables: Int[np.ndarray, "t q"],
    square: Bool[np.ndarray, " t"],
    by_term: Float[np.ndarray, " t"],
) -> Variances:
    """The derivative of a function of one draw's term variances with respect to the components.

    Parameters
    ----------
    variances, variables, square
        As in `term_variances`.
    by_term
        The function's derivative with respect to the prior variance of each term.
    """
    terms, p = _as_places(variables, square), variances.p
    first, second = terms.places[:, 0], terms.places[:, 1]

    nu = None
    if variances.nu is not None:
        index = {named: k for k, named in enumerate(variances.pairs)}
        names = zip(first[terms.pair].tolist(), second[terms.pair].tolist(), strict=True)
        which = np.array([index.get(named, -1) for named in names], dtype=int)
        nu = _added_up(which, by_term[terms.pair], len(index))
    return Variances(
        intercept=np.asarray(by_term[terms.order == 0].sum()),
        symmetric=tuple(_by_component(c, terms, by_term, p) for c in variances.symmetric),
        crossed=tuple(_by_crossed(c, terms, by_term, p) for c in variances.crossed),
        mains=None if variances.mains is None else _added_up(first[terms.main], by_term[terms.main], p),
        quadratics=None
        if variances.quadratics is None
        else _added_up(first[terms.square], by_term[terms.square], p),
        nu=nu,
        pairs=variances.pairs,
        p=p,
    )


def _by_component(component: Symmetric, terms: _Terms, by_term: Float[np.ndarray, " t"], p: int) -> Symmetric:
    factors = _padded(component, p)[terms.places]
    by_order = np.bincount(
        terms.order, weights=by_term * factors.prod(axis=1), minlength=terms.places.shape[1] + 2
    )
    scaled = by_term * _multipliers(component, terms)
    by_weight = _added_up(terms.places.ravel(), (scaled[:, None] * _products_of_others(factors)).ravel(), p)
    degree = component.orders.shape[-1]
    orders = np.zeros(degree)
    known = by_order[1 : min(degree, terms.places.shape[1]) + 1]
    orders[: known.size] = known
    return Symmetric(
        gathered(by_weight, component.variables), orders, np.asarray(by_order[-1]), component.variables
    )


def _by_crossed(component: Crossed, terms: _Terms, by_term: Float[np.ndarray, " t"], p: int) -> Crossed:
    left, right = _sides(component, p)
    (i, j), g = terms.places[terms.pair, :2].T, by_term[terms.pair]
    scaled = component.scale * g
    by_left = _added_up(i, scaled * right[j], p) + _added_up(j, scaled * right[i], p)
    by_right = _added_up(i, scaled * left[j], p) + _added_up(j, scaled * left[i], p)
    return Crossed(
        gathered(by_left, component.left_variables),
        gathered(by_right, component.right_variables),
        np.asarray(g @ (left[i] * right[j] + left[j] * right[i])),
        component.left_variables,
        component.right_variables,
    )


def _as_places(variables: Int[np.ndarray, "t q"], square: Bool[np.ndarray, " t"]) -> _Terms:
    order = (variables >= 0).sum(axis=1)
    count = max(variables.shape[1], 2)
    places = np.full((len(variables), count), -1)
    places[:, : variables.shape[1]] = variables
    if square.any():
        places[square, 1] = places[square, 0]
        order[square] = count + 1
    return _Terms(places, order, square)


def _multipliers(component: Symmetric, terms: _Terms) -> Float[np.ndarray, "*s t"]:
    """The factor of each term in front of its weights; none of the intercept."""
    orders, most = component.orders, terms.places.shape[1]
    table = np.zeros((*orders.shape[:-1], most + 2))
    known = min(orders.shape[-1], most)
    table[..., 1 : known + 1] = orders[..., :known]
    table[..., -1] = component.squares
    return table[..., terms.order]


def _padded(component: Symmetric, p: int) -> Float[np.ndarray, "*s q"]:
    """Weights of all variables, and a 1 at the end, which the place −1 refers to."""
    weights = spread(component.weights, component.variables, p)
    padded = np.ones((*weights.shape[:-1], p + 1))
    padded[..., :p] = weights
    return padded


def _products_of_others(factors: Float[np.ndarray, "t q"]) -> Float[np.ndarray, "t q"]:
    """In each place the product of all others, without a division: weights may be zero."""
    if factors.shape[1] == 2:
        return factors[:, ::-1]
    others = [np.delete(factors, place, axis=1).prod(axis=1) for place in range(factors.shape[1])]
    return np.stack(others, axis=1)


def _added_up(index: Int[np.ndarray, " k"], values: Float[np.ndarray, " k"], size: int) -> np.ndarray:
    """Σ of the values of each index from 0 to size − 1; those of −1 are left out."""
    return np.bincount(index + 1, weights=values, minlength=size + 1)[1:].astype(float, copy=False)


def _sides(component: Crossed, p: int) -> tuple[np.ndarray, np.ndarray]:
    left = spread(component.left, component.left_variables, p)
    return left, spread(component.right, component.right_variables, p)
