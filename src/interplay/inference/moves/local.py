"""Which variables are active, and the conditional laws of their local coordinates, tabulated.

A variable is active where its signal-to-noise ratio u_g Σ_n ⟨x_ng, x_ng⟩ / v_n is at least `ACTIVE`: below it
the data say little of a variable, and its local coordinate nearly follows its prior.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from interplay.model.posterior import Posterior
from interplay.model.priors.base import LocalScales

ACTIVE = 9.0
"""Signal-to-noise ratio from which a variable counts as active."""

CELL = 0.2
"""Width of a cell of the local coordinate log λ."""

BELOW, ABOVE = 15, 40
"""Cells below and above the edge between inactive and active; beyond them is a tail on each side."""

LARGEST_SHARE = 0.5
"""Largest share of the limit at which the edge stands, where all variables would be inactive."""

LEAST_DETERMINANT = 1e-3
"""Least 1 + δ e of a feature: where a weight falls, the approximate form may leave what is defined."""


@dataclass(frozen=True, eq=False)
class Locals:
    """The local coordinates at a position: their weights, and which variables are active.

    Parameters
    ----------
    values
        Local coordinates l = log λ, (k,).
    scales
        How they act.
    log_signal
        Log of the signal-to-noise ratio of each, (k,).
    edges
        Local coordinate at which the ratio is `ACTIVE`, (k,).
    """

    values: Float[np.ndarray, " k"]
    scales: LocalScales
    log_signal: Float[np.ndarray, " k"]
    edges: Float[np.ndarray, " k"]

    @classmethod
    def at(cls, posterior: Posterior, x: Float[np.ndarray, " D"]) -> "Locals":
        """The local coordinates of a position."""
        scales, values = posterior.local_scales(x), x[posterior.local]
        log_gain = posterior.log_gain(x)
        # u = ACTIVE / gain, or a half of the limit where that is less.
        log_share = np.minimum(math.log(ACTIVE) - log_gain - scales.log_limit, math.log(LARGEST_SHARE))
        edges = scales.local(scales.log_limit + log_share)
        return cls(values, scales, scales.log_weight(values) + log_gain, edges)

    @property
    def active(self) -> Bool[np.ndarray, " k"]:
        """Which are active."""
        return self.values >= self.edges

    @property
    def weights(self) -> Float[np.ndarray, " k"]:
        """The weights u."""
        return np.exp(self.scales.log_weight(self.values))


def log_prior(local: Float[np.ndarray, "*s"]) -> Float[np.ndarray, "*s"]:
    """Log density of log λ for `λ ~ C⁺(0, 1)`."""
    return math.log(2.0 / math.pi) + local - np.logaddexp(0.0, 2.0 * local)


def log_prior_below(local: Float[np.ndarray, "*s"]) -> Float[np.ndarray, "*s"]:
    """Log of the prior probability that log λ is below a value."""
    return np.log(2.0 / math.pi * np.arctan(np.exp(local)))


def log_prior_above(local: Float[np.ndarray, "*s"]) -> Float[np.ndarray, "*s"]:
    """Log of the prior probability that log λ is above a value."""
    return np.log(2.0 / math.pi * np.arctan(np.exp(-local)))


@dataclass(frozen=True, eq=False)
class Evidence:
    """About how the log likelihood depends on the weight u of single variables, all others as they are.

        ℓ(u) = ½ Σ_f [δ q_f² / (1 + δ e_f) − log(1 + δ e_f)],    δ = u − u₀

    K is linear in one weight, quadratic effects aside, so that this is exact where e and q are the
    eigenvalues of ΦᵀHΦ and the projections of Φᵀα on its eigenvectors, with Φ all features of the variable,
    scaled by the root of their prior variance for a weight of one, and H = (K + V)⁻¹, α = H z at u = u₀.

    Parameters
    ----------
    squares, determinants
        q² and e, in rows of features of one variable each, (m, f).
    owner
        Variable of each row, from 0 to c − 1, sorted, (m,).
    reference
        The weight u₀ of each variable, (c,).
    """

    squares: Float[np.ndarray, "m f"]
    determinants: Float[np.ndarray, "m f"]
    owner: Int[np.ndarray, " m"]
    reference: Float[np.ndarray, " c"]

    def log_likelihood(self, weights: Float[np.ndarray, "c t"]) -> Float[np.ndarray, "c t"]:
        """ℓ at some weights of each variable."""
        change = (weights - self.reference[:, None])[self.owner][:, :, None]
        growth = np.maximum(1.0 + change * self.determinants[:, None, :], LEAST_DETERMINANT)
        quadratic = np.sum(change * self.squares[:, None, :] / growth, axis=2)
        # Few factors of moderate size: their product does not overflow, and one logarithm is enough.
        by_row = 0.5 * (quadratic - np.log(np.prod(growth, axis=2)))
        starts = np.searchsorted(self.owner, np.arange(len(self.reference)))
        return np.add.reduceat(by_row, starts, axis=0)


@dataclass(frozen=True, eq=False)
class Tables:
    """The conditional laws of local coordinates, as tables of cells around the edge, with tails as the prior.

    Parameters
    ----------
    edges
        Edge between inactive and active of each variable, (c,).
    log_mass
        Log of the mass of the lower tail, the cells below the edge, those above it, and the upper tail,
        (c, BELOW + ABOVE + 2); of inactive laws only the first BELOW + 1.
    """

    edges: Float[np.ndarray, " c"]
    log_mass: Float[np.ndarray, "c t"]

    @classmethod
    def of(
        cls,
        evidence: Evidence,
        scales: LocalScales,
        edges: Float[np.ndarray, " c"],
        *,
        inactive_only: bool = False,
    ) -> "Tables":
        """Prior mass times exp ℓ at the middle of each cell."""
        above = 0 if inactive_only else ABOVE
        bounds = edges[:, None] + CELL * np.arange(-BELOW, above + 1)
        middle = bounds[:, :-1] + 0.5 * CELL
        places = [bounds[:, :1] - 1.0, middle]
        masses = [log_prior_below(bounds[:, :1]), _log_prior_between(bounds)]
        if not inactive_only:
            places.append(bounds[:, -1:] + 0.5)
            masses.append(log_prior_above(bounds[:, -1:]))
        weights = np.exp(scales.log_weight(np.concatenate(places, axis=1)))
        return cls(edges, np.concatenate(masses, axis=1) + evidence.log_likelihood(weights))

    @property
    def log_inactive(self) -> Float[np.ndarray, " c"]:
        """Log of the mass below the edge."""
        return np.logaddexp.reduce(self.log_mass[:, : BELOW + 1], axis=1)

    @property
    def log_active(self) -> Float[np.ndarray, " c"]:
        """Log of the mass above the edge."""
        return np.logaddexp.reduce(self.log_mass[:, BELOW + 1 :], axis=1)

    def taken(self, rows: Int[np.ndarray, " r"]) -> "Tables":
        """The laws of some of the variables."""
        return Tables(self.edges[rows], self.log_mass[rows])

    def draw(self, active: Bool[np.ndarray, " c"], random: np.random.Generator) -> Float[np.ndarray, " c"]:
        """A local coordinate of each variable, given whether it is active."""
        cells = np.arange(self.log_mass.shape[1])
        allowed = (cells > BELOW) == active[:, None]
        log_mass = np.where(allowed, self.log_mass, -np.inf)
        mass = np.cumsum(np.exp(log_mass - log_mass.max(axis=1, keepdims=True)), axis=1)
        wanted = random.random(len(mass)) * mass[:, -1]
        cell = np.minimum((mass <= wanted[:, None]).sum(axis=1), cells.size - 1)
        within = random.random(len(mass))
        low, high = self.edges - BELOW * CELL, self.edges + ABOVE * CELL
        # In a tail the law is the prior's: arctan λ is uniform.
        with np.errstate(divide="ignore"):
            below = np.log(np.tan(within * np.arctan(np.exp(low))))
            above = -np.log(np.tan(within * np.arctan(np.exp(-high))))
        inside = low + (cell - 1 + within) * CELL
        # Rounding must not carry a draw over the edge.
        below_edge = np.minimum(inside, np.nextafter(self.edges, -np.inf))
        inside = np.where(active, np.maximum(inside, self.edges), below_edge)
        return np.where(cell == 0, below, np.where(cell == BELOW + ABOVE + 1, above, inside))

    def log_density(self, local: Float[np.ndarray, " c"]) -> Float[np.ndarray, " c"]:
        """Log density of local coordinates, each given whether it is active."""
        active = local >= self.edges
        low, high = self.edges - BELOW * CELL, self.edges + ABOVE * CELL
        cell = np.floor((local - low) / CELL).astype(int) + 1
        cell = np.where(active, np.clip(cell, BELOW + 1, BELOW + ABOVE), np.clip(cell, 1, BELOW))
        in_lower, in_upper = local < low, local >= high
        cell = np.where(in_lower, 0, np.where(in_upper, BELOW + ABOVE + 1, cell))
        log_mass = np.take_along_axis(self.log_mass, cell[:, None], axis=1)[:, 0]
        flat = np.full(local.shape, -math.log(CELL))
        flat = np.where(in_lower, log_prior(local) - log_prior_below(low), flat)
        flat = np.where(in_upper, log_prior(local) - log_prior_above(high), flat)
        total = (
            self.log_inactive
            if self.log_mass.shape[1] == BELOW + 1
            else np.where(active, self.log_active, self.log_inactive)
        )
        return log_mass + flat - total


def background_weight(scales: LocalScales, gain: float) -> float:
    """About the mean over the prior of min(u, 1/gain): what a variable adds that the data say nothing of.

    With t² for t²/(1 + t²), v₀ = 1 / (limit gain), at most a half, and T = √(v₀ / (1 − v₀)) / ratio, that is
    limit [(2/π) ratio² (T − arctan T) + v₀ (1 − (2/π) arctan T)].
    """
    limit, ratio = math.exp(scales.log_limit), math.exp(scales.log_ratio)
    share = min(1.0 / (limit * gain), LARGEST_SHARE)
    edge = math.sqrt(share / (1.0 - share)) / ratio
    below = 2.0 / math.pi * ratio**2 * (edge - math.atan(edge))
    return limit * (below + share * (1.0 - 2.0 / math.pi * math.atan(edge)))


def with_background(
    posterior: Posterior, x: Float[np.ndarray, " D"], members: Int[np.ndarray, " m"]
) -> Float[np.ndarray, " D"]:
    """The position with some variables at the background weight."""
    scales = posterior.local_scales(x)
    gain = math.exp(float(np.mean(posterior.log_gain(x))))
    background = x.copy()
    background[posterior.local[members]] = scales.local(np.log(background_weight(scales, gain)))
    return background


def _log_prior_between(bounds: Float[np.ndarray, "c t"]) -> Float[np.ndarray, "c u"]:
    """Log of the prior mass between consecutive bounds of log λ."""
    left, right = bounds[:, :-1], bounds[:, 1:]
    # Differences of arctan cancel where λ is large, those of arctan 1/λ where it is small.
    small = np.arctan(np.exp(right)) - np.arctan(np.exp(left))
    large = np.arctan(np.exp(-left)) - np.arctan(np.exp(-right))
    return np.log(2.0 / math.pi * np.where(left > 0, large, small))
