"""The slow, explicit, obviously right versions of everything: features, prior variances, posteriors."""

from itertools import combinations, product

import numpy as np
from scipy.stats import multivariate_normal

from interplay.data.design import Design
from interplay.model.variances import Variances


def monomials(design: Design, degree: int = 2) -> list[tuple[int, ...]]:
    """Columns of every explicit feature, with (i, i) for a square."""
    owned = [list(range(v.start, v.stop)) for v in design.variables]
    found: list[tuple[int, ...]] = [()]
    for order in range(1, degree + 1):
        for chosen in combinations(range(design.p), order):
            found += list(product(*(owned[g] for g in chosen)))
    found += [(v.start, v.start) for v in design.variables if v.kind == "numeric"]
    return found


def features(X: np.ndarray, terms: list[tuple[int, ...]]) -> np.ndarray:
    """Φ: one column for each monomial."""
    return np.column_stack([np.prod(X[:, list(term)], axis=1) for term in terms])


def prior_variance(variances: Variances, variables: tuple[int, ...]) -> float:
    """S of one monomial, given the variables of its columns."""
    total = 0.0
    weights, orders = np.asarray(variances.weights), np.asarray(variances.orders)
    if len(variables) == 0:
        return float(variances.intercept)
    if len(variables) == 2 and variables[0] == variables[1]:
        for m in range(len(weights)):
            total += float(variances.squares[m]) * weights[m, variables[0]] ** 2
        if variances.quadratics is not None:
            total += float(variances.quadratics[variables[0]])
        return total
    for m in range(len(weights)):
        if len(variables) <= orders.shape[1]:
            term = orders[m, len(variables) - 1]
            for variable in variables:
                term *= weights[m, variable]
            total += term
    if len(variables) == 1 and variances.mains is not None:
        total += float(variances.mains[variables[0]])
    if variances.nu is not None:
        for pair, nu in zip(variances.pairs, np.asarray(variances.nu), strict=True):
            if tuple(sorted(variables)) == pair:
                total += float(nu)
    return total


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
