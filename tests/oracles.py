"""The slow, explicit, obviously right versions of everything: features, prior variances, posteriors."""

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
from scipy.stats import multivariate_normal

from interplay.data.design import Design
from interplay.model.variances import Variances


def monomials(design: Design, degree: int = 2) -> list[tuple[int, ...]]:
    """Columns of every explicit feature, with (i, i) for a square."""
    owned = [list(range(v.start, v.stop)) for v in design.variables]
    terms: list[tuple[int, ...]] = [()]
    for order in range(1, degree + 1):
        for chosen in combinations(range(design.p), order):
            terms += list(product(*(owned[g] for g in chosen)))
    terms += [(v.start, v.start) for v in design.variables if v.kind == "numeric"]
    return terms


def features(X: np.ndarray, terms: list[tuple[int, ...]]) -> np.ndarray:
    """Φ: one column for each monomial."""
    return np.column_stack([np.prod(X[:, list(term)], axis=1) for term in terms])


def prior_variance(variances: Variances, variables: tuple[int, ...]) -> float:
    """S of one monomial, given the variables of its columns."""
    if len(variables) == 0:
        return float(variances.intercept)
    square = len(variables) == 2 and variables[0] == variables[1]
    total = 0.0
    for c in variances.symmetric:
        weight = _weight_of(c.weights, c.variables)
        if square:
            total += float(c.squares) * weight(variables[0]) ** 2
        elif len(variables) <= len(c.orders):
            total += float(c.orders[len(variables) - 1]) * float(np.prod([weight(v) for v in variables]))
    if square:
        return total + (0.0 if variances.quadratics is None else float(variances.quadratics[variables[0]]))
    if len(variables) == 1:
        return total + (0.0 if variances.mains is None else float(variances.mains[variables[0]]))
    if len(variables) == 2:
        i, j = variables
        for c in variances.crossed:
            left = _weight_of(c.left, c.left_variables)
            right = _weight_of(c.right, c.right_variables)
            total += float(c.scale) * (left(i) * right(j) + left(j) * right(i))
        if variances.nu is not None:
            total += sum(
                float(nu)
                for pair, nu in zip(variances.pairs, variances.nu, strict=True)
                if tuple(sorted(variables)) == pair
            )
    return total


def _weight_of(weights: np.ndarray, variables: np.ndarray | None) -> Callable[[int], float]:
    """The weight of a variable, 0 outside the set."""
    members = range(len(weights)) if variables is None else variables.tolist()
    by_variable = dict(zip(members, weights.tolist(), strict=True))
    return lambda variable: by_variable.get(variable, 0.0)


def prior(design: Design, variances: Variances, terms: list[tuple[int, ...]]) -> np.ndarray:
    """The diagonal of S."""
    return np.array([prior_variance(variances, tuple(int(design.owner[c]) for c in term)) for term in terms])


def log_likelihood(K: np.ndarray, noise: float, y: np.ndarray) -> float:
    """scipy's multivariate normal."""
    return float(multivariate_normal(np.zeros(len(y)), K + noise * np.eye(len(y))).logpdf(y))


def posterior(Phi: np.ndarray, S: np.ndarray, noise: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the coefficients in weight space, for S > 0."""
    covariance = np.linalg.inv(np.diag(1.0 / S) + Phi.T @ Phi / noise)
    return covariance @ Phi.T @ y / noise, covariance


def level_direction(design: Design, column: int) -> np.ndarray:
    """The unit vector u_l of an effect in the space of the coefficients of its variable's columns."""
    variable = design.variables[design.owner[column]]
    u = np.zeros(design.d)
    if not variable.levels:
        u[column] = 1.0
        return u
    L = len(variable.levels)
    u[variable.start : variable.stop] = -1.0 / L
    u[column] += 1.0
    return u * np.sqrt(L / (L - 1))


def directions(design: Design, terms: list[tuple[int, ...]], basis: list[tuple[int, ...]]) -> np.ndarray:
    """The effects as combinations of the coefficients of the explicit features."""
    R = np.zeros((len(terms), len(basis)))
    for a, term in enumerate(terms):
        for b, monomial in enumerate(basis):
            if len(term) != len(monomial):
                continue
            if len(term) == 2 and (term[0] == term[1]) != (monomial[0] == monomial[1]):
                continue
            if len(term) == 2 and term[0] == term[1]:
                R[a, b] = float(term == monomial)
                continue
            R[a, b] = np.prod([level_direction(design, c)[m] for c, m in zip(term, monomial, strict=True)])
    return R
