"""The explicit features and prior variances that the paper's baselines need, and the effects from them."""

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.sparse import csr_array

from interplay.data.design import Design
from interplay.data.variable import Variable
from interplay.effects.mixture import Mixture
from interplay.model.layout import Layout
from interplay.model.terms import Term, as_arrays, is_square, marginal_prior, monomials
from interplay.model.variances import Variances
from interplay.results.tables import effect_table

Posterior = Callable[[np.ndarray, np.ndarray, float, np.ndarray, csr_array], tuple[np.ndarray, np.ndarray]]
"""From Φ, the diagonal of Σ_τ, σ², y and the directions of effects to their means and deviations."""


def explicit(
    design: Design, variances: Variances, *, quadratic: bool = True
) -> tuple[Float[np.ndarray, "n D"], Float[np.ndarray, " D"]]:
    """The feature matrix Φ and the diagonal of Σ_τ."""
    terms = monomials(design, variances.degree, quadratic=quadratic)
    return features(design, terms), _prior(design, variances, terms)


def features(design: Design, terms: Sequence[Term]) -> Float[np.ndarray, "n t"]:
    """Products of the columns of each term."""
    return np.column_stack([np.prod(design.X[:, list(term)], axis=1) for term in terms])


def posterior_table(
    design: Design,
    variances: Variances,
    sigma: Float[np.ndarray, " s"],
    posterior: Posterior,
    *,
    quadratic: bool = True,
) -> pd.DataFrame:
    """The effect table of all mains, interactions and squares, given draws of the hyperparameters.

    Parameters
    ----------
    design
        The data.
    variances, sigma
        Of each draw: variances with the draws as their leading axis, and the noise standard deviations.
    posterior
        How the posterior given one draw is computed.
    quadratic
        Whether there are squares.
    """
    terms = monomials(design, variances.degree, quadratic=quadratic)
    # A row of weight w counts as w copies of it.
    root = np.sqrt(design.row_weights)
    Phi, y = root[:, None] * features(design, terms), root * design.y
    along = effect_directions(design, terms, terms)

    def conditional(draw: int) -> tuple[np.ndarray, np.ndarray]:
        S = _prior(design, variances[draw], terms)
        return posterior(Phi, S, float(sigma[draw]) ** 2, y, along)

    draws = [conditional(draw) for draw in range(len(sigma))]
    # All but the intercept, which comes first.
    means, sds = (np.array(part)[:, 1:] for part in zip(*draws, strict=True))
    return effect_table(design, terms[1:], Mixture(means, sds))


def effect_directions(design: Design, effects: Sequence[Term], basis: Sequence[Term]) -> csr_array:
    """Each effect as a combination of the coefficients of monomials, (effects, basis).

    A product over the term's columns of the unit vectors √(L/(L−1)) (e_l − 1/L) of a factor's levels; between
    numbers an effect is its coefficient. Monomials that are not in the basis have a coefficient of zero.
    """
    owners, place = _owners(design), {term: k for k, term in enumerate(basis)}
    entries = [
        (row, place[monomial], _weight(owners, effect, monomial))
        for row, effect in enumerate(effects)
        for monomial in _levels(owners, effect)
        if monomial in place
    ]
    rows, columns, values = zip(*entries, strict=True) if entries else ((), (), ())
    return csr_array((values, (rows, columns)), shape=(len(effects), len(basis)))


def with_levels(design: Design, terms: Sequence[Term]) -> list[Term]:
    """The same terms, and those of all other levels of their factors."""
    owners = _owners(design)
    return list(dict.fromkeys(one for term in terms for one in _levels(owners, term)))


def _owners(design: Design) -> list[Variable]:
    return [design.variables[variable] for variable in design.owner]


def _levels(owners: Sequence[Variable], term: Term) -> list[Term]:
    if is_square(term):
        return [term]
    # Columns are sorted in every term and variables own neighbours, so these are sorted too.
    return list(product(*(range(owners[column].start, owners[column].stop) for column in term)))


def _weight(owners: Sequence[Variable], effect: Term, monomial: Term) -> float:
    weight = 1.0
    for own, other in zip(effect, monomial, strict=True):
        L = len(owners[own].levels)
        if L:
            weight *= math.sqrt(L / (L - 1)) * ((own == other) - 1.0 / L)
    return weight


def _prior(design: Design, variances: Variances, terms: Sequence[Term]) -> Float[np.ndarray, " D"]:
    return marginal_prior(variances, Layout.of(design), as_arrays(terms))
