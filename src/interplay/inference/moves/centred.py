"""The density of all scales given the coefficients, which the rows enter by two numbers only."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float, Int

from interplay.model.engines.coefficients import Incidence
from interplay.model.posterior import Density, Posterior

LARGEST_COORDINATE = 60.0
"""Beyond this, the log of anything is out of bounds."""


@final
@dataclass(frozen=True, eq=False)
class ByVariable:
    """Squared coefficients, added up by the variables of their features.

    Parameters
    ----------
    mains, squares
        Of each variable, (p,).
    pairs
        Of each pair of variables, symmetric with a zero diagonal, (p, p).
    higher
        Of each product of three and more variables, by order: their variables (m, q), and values (m,).
    """

    mains: Float[np.ndarray, " p"]
    pairs: Float[np.ndarray, "p p"]
    squares: Float[np.ndarray, " p"]
    higher: tuple[tuple[Int[np.ndarray, "m q"], Float[np.ndarray, " m"]], ...]

    @classmethod
    def of(cls, incidence: Incidence, theta: Float[np.ndarray, " D"]) -> "ByVariable":
        """Of some coefficients."""
        p, places, degree = incidence.p, incidence.places, incidence.degree
        value = theta * theta

        def by_variable(some: np.ndarray) -> np.ndarray:
            return np.bincount(places[some, 0], weights=value[some], minlength=p)

        two = incidence.of_kind[2]
        flat = np.bincount(places[two, 0] * p + places[two, 1], weights=value[two], minlength=p * p)
        pairs = flat.reshape(p, p)
        higher = tuple(
            (places[incidence.of_kind[order], :order], value[incidence.of_kind[order]])
            for order in range(3, degree + 1)
        )
        squares = incidence.of_kind[degree + 1]
        return cls(by_variable(incidence.of_kind[1]), pairs + pairs.T, by_variable(squares), higher)


@final
@dataclass(frozen=True, eq=False)
class CentredTarget:
    """Log density of the family's parameters, the global coordinates and w, given the coefficients.

        log p(x) − ½ Σ_f [log S_f + θ_f²/S_f] − ½ (n log v + |z − Φθ|²_W / v)

    with log S_f a multiplier plus Σ log s_i. In w = log λ + log ratio, the log odds of the shares, the global
    scale moves against its prior alone.

    Parameters
    ----------
    posterior
        The model.
    incidence
        Which variables each feature is made of.
    theta_squared
        Squared coefficients.
    residual
        Weighted sum of squares of the residual.
    rows
        Number of rows.
    """

    posterior: Posterior
    incidence: Incidence
    theta_squared: ByVariable
    residual: float
    rows: int

    def place(self, x: Float[np.ndarray, " D"]) -> Float[np.ndarray, " D"]:
        """The coordinates of a position: local ones become w."""
        z = x.copy()
        z[self.posterior.local] += self.posterior.local_scales(x).log_ratio
        return z

    def position(self, z: Float[np.ndarray, " D"]) -> Float[np.ndarray, " D"]:
        """The position at some coordinates."""
        x = z.copy()
        x[self.posterior.local] -= self.posterior.local_scales(z).log_ratio
        return x

    def density(self, z: Float[np.ndarray, " D"]) -> Density:
        """The value, up to a constant, and its gradient."""
        posterior, given, incidence = self.posterior, self.theta_squared, self.incidence
        if not max(z.max(), -z.min()) < LARGEST_COORDINATE:
            return Density(-math.inf, np.zeros(z.size))
        f, first = posterior.family_count, z.size - posterior.local.size
        u, t, w = z[:f], z[f:].copy(), z[first:]
        scales = posterior.prior.local_scales(t)
        t[first - f :] -= scales.log_ratio
        inverse = 1.0 + np.exp(-2.0 * w)
        of_kind = np.exp(-scales.log_multipliers)
        # Σ θ²/S over the features of each kind, and over those of each variable.
        together = np.zeros(of_kind.size)
        by_main = given.mains * inverse
        by_main *= of_kind[1]
        by_pair = given.pairs @ inverse
        by_pair *= inverse
        by_pair *= of_kind[2]
        together[1], together[2] = by_main.sum(), 0.5 * by_pair.sum()
        by_variable = by_main + by_pair
        for order, (places, squared) in enumerate(given.higher, start=3):
            values = squared * inverse[places].prod(axis=1) * of_kind[order]
            together[order] = values.sum()
            for place in range(order):
                by_variable += np.bincount(places[:, place], weights=values, minlength=w.size)
        if of_kind.size > incidence.degree + 1:
            by_square = given.squares * inverse
            by_square *= inverse
            by_square *= of_kind[-1]
            together[-1] = by_square.sum()
            by_variable += 2.0 * by_square
        counts, memberships = incidence.counts[: of_kind.size], incidence.memberships
        log_variance, by_parameters = posterior.log_variance(u)
        squares = self.residual * math.exp(-log_variance)
        value, gradient = posterior.log_prior_and_factor(u, t)
        value += 0.5 * float(memberships @ np.log(inverse) - counts @ scales.log_multipliers - together.sum())
        value -= 0.5 * (self.rows * log_variance + squares)
        gradient[:f] += 0.5 * (squares - self.rows) * by_parameters
        # At given w, log λ moves against the ratio.
        gradient[f:first] -= scales.ratio_gradient * gradient[first:].sum()
        gradient[f:first] += 0.5 * (together - counts) @ scales.multiplier_gradients
        by_variable -= memberships
        by_variable *= 1.0 - 1.0 / inverse
        gradient[first:] += by_variable
        if not math.isfinite(value):
            return Density(-math.inf, np.zeros(z.size))
        return Density(value, gradient)
