"""The law of one variable's share of the largest weight, with its coefficients integrated out."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from jaxtyping import Float

from interplay.inference.moves.explicit import log_prior_of_odds

CELLS = 64
"""Cells of the table of half log odds."""

HIGHEST = 2.5
"""Upper end of the table; beyond it the share is nearly one."""

MIDDLE = np.arange(CELLS) + 0.5
TWO_BY_PI = 2.0 / math.pi
UPPER = np.array([0, 1, 2, 4, 5, 8])
"""The upper triangle of a 3 × 3 matrix, row by row."""

SMALL = 0.02
"""The table begins where each part of the log likelihood is about this small."""


@final
@dataclass(frozen=True, eq=False)
class ShareLaw:
    """The density of w given all but the coefficients that are integrated out, with s = 1/(1 + e^{−2w}).

    The response is z = √s Σ_f β_f φ_f + √s φ_h + s ζ φ_q + rest, β and ζ standard normal, in which φ_h is the
    sum of features that keep their standardised coefficients, and φ_q the square. With H the precision of the
    rest, and the columns φ_f rotated so that φ_fᵀHφ_g = e_f [f = g], let

        K_ab = aᵀHb − s Σ_f (φ_fᵀHa)(φ_fᵀHb) / (1 + s e_f),    b = K_zq − √s K_hq

        log p(z | s) = √s K_zh − ½ (K_zz + s K_hh) − ½ Σ_f log(1 + s e_f)
                       + ½ [s² b² / (1 + s² K_qq) − log(1 + s² K_qq)]

    and w has the prior of log λ + log ratio.

    Parameters
    ----------
    eigenvalues
        e, (f,).
    projections
        φ_fᵀHa for a = z, φ_h and φ_q, (3, f).
    products
        aᵀHb for these, (3, 3); that of z with itself may be left out.
    log_ratio
        Log of the ratio of the local scales.
    has_square
        Whether there is a square.
    """

    eigenvalues: Float[np.ndarray, " f"]
    projections: Float[np.ndarray, "3 f"]
    products: Float[np.ndarray, "3 3"]
    log_ratio: float
    has_square: bool

    def log_likelihood(self, half_odds: Float[np.ndarray, " t"]) -> Float[np.ndarray, " t"]:
        """Log p(z | s) at some w."""
        share = 1.0 / (1.0 + np.exp(-2.0 * half_odds))
        growth = 1.0 + np.multiply.outer(self.eigenvalues, share)
        zz, zh, zq, hh, hq, qq = self._forms(share, growth)
        root = np.sqrt(share)
        value = root * zh - 0.5 * (zz + share * hh + np.log(growth).sum(axis=0))
        if self.has_square:
            b, squared = zq - root * hq, share * share
            # A Schur complement, which is not negative but for its rounding.
            of_square = 1.0 + squared * np.maximum(qq, 0.0)
            value += 0.5 * (squared * b * b / of_square - np.log(of_square))
        return value

    def at(self, half_odds: float) -> float:
        """Log p(z | s) at one w."""
        share = 1.0 / (1.0 + math.exp(-2.0 * half_odds))
        growth = 1.0 + share * self.eigenvalues
        zz, zh, zq, hh, hq, qq = self._forms_at(share, growth)
        root = math.sqrt(share)
        value = root * zh - 0.5 * (zz + share * hh + float(np.log(growth).sum()))
        if self.has_square:
            b, squared = zq - root * hq, share * share
            of_square = 1.0 + squared * max(qq, 0.0)
            value += 0.5 * (squared * b * b / of_square - math.log(of_square))
        return value

    def draw(self, old: float, random: np.random.Generator) -> tuple[float, float]:
        """A new w, and the probability that it was accepted.

        Independence Metropolis (Tierney 1994): proposals come from a table q of cells, with tails as the
        prior, and log a = log p(w') q(w) − log p(w) q(w').
        """
        low, ratio = self._lowest(), self.log_ratio
        width = (HIGHEST - low) / CELLS
        places = np.empty(CELLS + 3)
        places[0], places[-2], places[-1] = low, HIGHEST, old
        places[1:-2] = low + width * MIDDLE
        values = self.log_likelihood(places)
        prior = log_prior_of_odds(places, ratio)
        # Logs of the prior masses of the tails, and of the density of the prior in them.
        below = math.log(TWO_BY_PI * math.atan(math.exp(low - ratio)))
        above = math.log(TWO_BY_PI * math.atan(math.exp(ratio - HIGHEST)))
        log_mass = values[:-1].copy()
        log_mass[1:-1] += prior[1:-2]
        log_mass[1:-1] += math.log(width)
        log_mass[0] += below
        log_mass[-1] += above
        mass = np.exp(log_mass - log_mass.max()).cumsum()
        one, other, third = random.random(3).tolist()
        cell = min(int(mass.searchsorted(one * mass[-1], side="right")), CELLS + 1)
        new = self._within(cell, low, width, other)
        if not math.isfinite(new):
            return old, 0.0
        log_accept = self.at(new) - float(values[-1])
        for w, sign, its_prior in ((new, -1.0, None), (old, 1.0, float(prior[-1]))):
            # Log density of the table, over the prior's.
            if w < low:
                log_accept += sign * float(values[0])
            elif w >= HIGHEST:
                log_accept += sign * float(values[-2])
            else:
                place = min(int((w - low) / width), CELLS - 1) + 1
                at = float(log_prior_of_odds(np.array(w), ratio)) if its_prior is None else its_prior
                log_accept += sign * (float(log_mass[place]) - math.log(width) - at)
        rate = math.exp(min(log_accept, 0.0)) if math.isfinite(log_accept) else 0.0
        return (new, rate) if third < rate else (old, rate)

    def coefficients(
        self, half_odds: float, random: np.random.Generator
    ) -> tuple[float, float, Float[np.ndarray, " f"]]:
        """√s, s ζ and √s β, with ζ and the rotated β drawn given s."""
        share = 1.0 / (1.0 + math.exp(-2.0 * half_odds))
        root = math.sqrt(share)
        spread = 1.0 + share * self.eigenvalues
        _, _, zq, _, hq, qq = self._forms_at(share, spread)
        growth = 1.0 + share * share * max(qq, 0.0)
        zeta = share * (zq - root * hq) / growth + random.standard_normal() / math.sqrt(growth)
        z, h, q = self.projections
        mean = root * (z - root * h - share * zeta * q) / spread
        beta = mean + random.standard_normal(mean.size) / np.sqrt(spread)
        return root, share * zeta, root * beta

    def _forms(
        self, share: Float[np.ndarray, " t"], growth: Float[np.ndarray, "f t"]
    ) -> Float[np.ndarray, "6 t"]:
        upper = self.products.ravel()[UPPER][:, None]
        return upper - (self._both @ (1.0 / growth)) * share

    def _forms_at(self, share: float, growth: Float[np.ndarray, " f"]) -> list[float]:
        return (self.products.ravel()[UPPER] - share * (self._both @ (1.0 / growth))).tolist()

    @cached_property
    def _both(self) -> Float[np.ndarray, "6 f"]:
        return self.projections[UPPER // 3] * self.projections[UPPER % 3]

    def _lowest(self) -> float:
        """Where the log likelihood begins to differ from that of no effect, at most −1."""
        (_, zh, zq), (_, hh, _), (_, _, qq) = self.products.tolist()
        most = max(
            float(self.eigenvalues.max(initial=0.0)), float((self.projections[0] ** 2).max(initial=0.0)), hh
        )
        least = min(SMALL / max(most, SMALL), math.sqrt(SMALL / max(qq, zq * zq, SMALL)))
        least = min(least, (SMALL / max(abs(zh), SMALL)) ** 2)
        return min(0.5 * math.log(max(least, 1e-14)), -1.0)

    def _within(self, cell: int, low: float, width: float, place: float) -> float:
        """A point of a cell; in a tail the law is the prior's, arctan λ uniform."""
        if cell == 0:
            return self.log_ratio + _log(math.tan(place * math.atan(math.exp(low - self.log_ratio))))
        if cell == CELLS + 1:
            return self.log_ratio - _log(math.tan(place * math.atan(math.exp(self.log_ratio - HIGHEST))))
        return low + (cell - 1 + place) * width


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf
