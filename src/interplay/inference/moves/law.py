"""The law of one variable's share of the largest weight, with the coefficients of its features integrated out."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from interplay.inference.moves.explicit import log_prior_of_odds, log_share
from interplay.inference.moves.local import log_prior_above, log_prior_below

CELLS = 64
"""Cells of the table of half log odds."""

HIGHEST = 2.5
"""Upper end of the table; beyond it the share is nearly one."""

SMALL = 0.02
"""The table begins where each part of the log likelihood is about this small."""


@final
@dataclass(frozen=True, eq=False)
class ShareLaw:
    """The density of w given everything but the coefficients that are integrated out, with s = 1/(1 + e^{−2w}).

    The response is z = √s Σ_f β_f φ_f + √s φ_h + s ζ φ_q + rest, β and ζ standard normal, in which φ_h is the
    sum of features that keep their standardised coefficients, and φ_q the square. With H the precision of the
    rest, and the columns φ_f rotated so that φ_fᵀHφ_g = e_f [f = g], let

        K_ab = aᵀHb − s Σ_f (φ_fᵀHa)(φ_fᵀHb) / (1 + s e_f),    b = K_zq − √s K_hq

    Then log p(z | s) = √s K_zh − ½ (K_zz + s K_hh) − ½ Σ_f log(1 + s e_f) + ½ [s² b²/(1 + s² K_qq) − log(1 + s² K_qq)],
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
    """

    eigenvalues: Float[np.ndarray, " f"]
    projections: Float[np.ndarray, "3 f"]
    products: Float[np.ndarray, "3 3"]
    log_ratio: float

    def forms(self, share: Float[np.ndarray, " t"]) -> Float[np.ndarray, "6 t"]:
        """K of zz, zh, zq, hh, hq and qq at some shares."""
        z, h, q = self.projections
        both = np.stack([z * z, z * h, z * q, h * h, h * q, q * q])
        inverse = 1.0 / (1.0 + np.multiply.outer(self.eigenvalues, share))
        upper = np.array([self.products.ravel()[[0, 1, 2, 4, 5, 8]]]).T
        return upper - (both @ inverse) * share

    def log_likelihood(self, half_odds: Float[np.ndarray, " t"]) -> Float[np.ndarray, " t"]:
        """Log p(z | s) at some w."""
        share = np.exp(log_share(half_odds))
        root = np.sqrt(share)
        zz, zh, zq, hh, hq, qq = self.forms(share)
        growth = np.log1p(np.multiply.outer(share, self.eigenvalues)).sum(axis=1)
        b, squared = zq - root * hq, share * share
        of_square = squared * b * b / (1.0 + squared * qq) - np.log1p(squared * qq)
        return root * zh - 0.5 * (zz + share * hh + growth - of_square)

    def draw(self, old: float, random: np.random.Generator) -> tuple[float, float]:
        """A new w, and the probability that it was accepted.

        Independence Metropolis (Tierney 1994): proposals come from a table of cells, with tails as the prior,
        and log a = log p(w') q(w) − log p(w) q(w').
        """
        low = min(self._lowest(), -1.0, HIGHEST - 1.0)
        width = (HIGHEST - low) / CELLS
        middle = low + width * (np.arange(CELLS) + 0.5)
        places = np.concatenate([[low], middle, [HIGHEST, old]])
        values = self.log_likelihood(places)
        prior = log_prior_of_odds(places, self.log_ratio)
        log_mass = values[:-1].copy()
        log_mass[0] += log_prior_below(np.float64(low - self.log_ratio))
        log_mass[1:-1] += prior[1:-2] + math.log(width)
        log_mass[-1] += log_prior_above(np.float64(HIGHEST - self.log_ratio))
        mass = np.cumsum(np.exp(log_mass - log_mass.max()))
        cell = min(int(np.searchsorted(mass, random.random() * mass[-1], side="right")), CELLS + 1)
        new = self._within(cell, low, width, random.random())
        if not math.isfinite(new):
            return old, 0.0
        at_new = float(self.log_likelihood(np.array([new]))[0])

        def log_proposal(w: float) -> float:
            """Log density of the table over the prior's."""
            if w < low:
                return float(log_mass[0] - log_prior_below(np.float64(low - self.log_ratio)))
            if w >= HIGHEST:
                return float(log_mass[-1] - log_prior_above(np.float64(HIGHEST - self.log_ratio)))
            place = min(int((w - low) / width), CELLS - 1) + 1
            return float(log_mass[place]) - math.log(width) - float(log_prior_of_odds(np.float64(w), self.log_ratio))

        log_accept = at_new - log_proposal(new) - float(values[-1]) + log_proposal(old)
        rate = math.exp(min(log_accept, 0.0)) if math.isfinite(log_accept) else 0.0
        return (new, rate) if random.random() < rate else (old, rate)

    def coefficients(
        self, half_odds: float, random: np.random.Generator
    ) -> tuple[float, float, Float[np.ndarray, " f"]]:
        """√s, s ζ and √s β, with ζ and the rotated β drawn given s."""
        share = math.exp(log_share(np.float64(half_odds)))
        root = math.sqrt(share)
        _, _, zq, _, hq, qq = self.forms(np.array([share]))[:, 0]
        growth = 1.0 + share * share * qq
        zeta = share * (zq - root * hq) / growth + random.standard_normal() / math.sqrt(growth)
        z, h, q = self.projections
        spread = 1.0 + share * self.eigenvalues
        mean = root * (z - root * h - share * zeta * q) / spread
        beta = mean + random.standard_normal(mean.size) / np.sqrt(spread)
        return root, share * zeta, root * beta

    def _lowest(self) -> float:
        """Where the log likelihood begins to differ from that of no effect."""
        of_features = max(float(self.eigenvalues.max(initial=0.0)), float((self.projections[0] ** 2).max(initial=0.0)))
        _, _, zq = self.products[0]
        _, hh, _ = self.products[1]
        bounds = [SMALL / max(of_features, hh, 1e-30)]
        bounds.append((SMALL / max(abs(float(self.products[0, 1])), 1e-30)) ** 2)
        bounds.append(math.sqrt(SMALL / max(float(self.products[2, 2]), zq * zq, 1e-30)))
        return 0.5 * math.log(max(min(bounds), 1e-14))

    def _within(self, cell: int, low: float, width: float, place: float) -> float:
        """A point of a cell; in a tail the law is the prior's, arctan λ uniform."""
        with np.errstate(divide="ignore"):
            if cell == 0:
                return self.log_ratio + float(np.log(np.tan(place * np.arctan(np.exp(low - self.log_ratio)))))
            if cell == CELLS + 1:
                return self.log_ratio - float(
                    np.log(np.tan(place * np.arctan(np.exp(self.log_ratio - HIGHEST))))
                )
        return low + (cell - 1 + place) * width
