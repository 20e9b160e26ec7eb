"""Scales of weak variables moved together with their coefficients, at standardised coefficients held."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from interplay.inference.moves.explicit import Explicit, log_prior_of_odds
from interplay.model.posterior import Posterior
from interplay.model.priors.base import Scale

POINTS = 16
"""Points of the lattice along a direction."""

FINEST, COARSEST = 0.02, 0.5
"""Bounds of the distance of its points, drawn on the log scale."""


class Moved(NamedTuple):
    """The end of the move: position, coefficients, their score, and the share of directions that moved."""

    position: Float[np.ndarray, " D"]
    theta: Float[np.ndarray, " f"]
    score: Float[np.ndarray, " f"]
    rate: float


class _Line(NamedTuple):
    """The group that acts: s_i → a² s_i of weak variables, and shifts of the global coordinates.

    Faint coefficients scale with S^½, so that the residual sum of squares is a quadratic form in one factor
    for each class of them, by kind and number of weak variables. The others are held, and enter by their sum
    of θ²/S in each class.
    """

    posterior: Posterior
    explicit: Explicit
    t: Float[np.ndarray, " g"]
    log_share: Float[np.ndarray, " w"]
    strong: Float[np.ndarray, " s"]
    kinds: np.ndarray
    powers: np.ndarray
    linear: Float[np.ndarray, " c"]
    quadratic: Float[np.ndarray, "c c"]
    held_kinds: np.ndarray
    held_powers: np.ndarray
    held_counts: Float[np.ndarray, " k"]
    held_sums: Float[np.ndarray, " k"]
    scale: Scale

    def factors(
        self, log_a: Float[np.ndarray, " l"], shift: Float[np.ndarray, "l g"]
    ) -> Float[np.ndarray, "l c"]:
        """The factor of each class of coefficients, less one."""
        change = shift @ self.explicit.scales.multiplier_gradients.T
        return np.expm1(0.5 * change[:, self.kinds] + np.multiply.outer(log_a, self.powers))

    def weak_odds(self, log_a: Float[np.ndarray, " l"]) -> tuple[np.ndarray, np.ndarray]:
        """W of the weak variables, and the log Jacobian Σ log (1 − s)/(1 − s') up to a constant."""
        log_s = self.log_share + 2.0 * log_a[:, None]
        # Past a share of one there is nothing: NaN becomes a density of zero.
        rest = np.log(np.where(log_s < -1e-10, -np.expm1(np.minimum(log_s, 0.0)), np.nan))
        return 0.5 * (log_s - rest), -rest.sum(axis=1)

    def log_density(
        self, log_a: Float[np.ndarray, " l"], shift: Float[np.ndarray, "l g"]
    ) -> Float[np.ndarray, " l"]:
        """Log density times the Jacobian, at elements of the group."""
        with np.errstate(invalid="ignore"):
            return self._log_density(log_a, shift)

    def _log_density(
        self, log_a: Float[np.ndarray, " l"], shift: Float[np.ndarray, "l g"]
    ) -> Float[np.ndarray, " l"]:
        scales = self.explicit.scales
        w, log_jacobian = self.weak_odds(log_a)
        ratio = (scales.log_ratio + shift @ scales.ratio_gradient)[:, None]
        value = log_jacobian + log_prior_of_odds(w, ratio).sum(axis=1)
        value += log_prior_of_odds(self.strong, ratio).sum(axis=1)
        value += self.posterior.prior.log_density_of_globals(self.t + shift, self.scale)
        change = (shift @ scales.multiplier_gradients.T)[:, self.held_kinds]
        change += np.multiply.outer(2.0 * log_a, self.held_powers)
        value -= 0.5 * (change @ self.held_counts + np.expm1(-change) @ self.held_sums)
        d = self.factors(log_a, shift)
        value += (
            d @ self.linear - 0.5 * np.einsum("lc,cd,ld->l", d, self.quadratic, d)
        ) / self.explicit.noise
        return np.where(np.isnan(value), -np.inf, value)


def move_weak(
    posterior: Posterior,
    x: Float[np.ndarray, " D"],
    theta: Float[np.ndarray, " f"],
    score: Float[np.ndarray, " f"],
    weak: Bool[np.ndarray, " p"],
    faint: Bool[np.ndarray, " f"],
    random: np.random.Generator,
) -> Moved:
    """Gibbs steps on random lattices along the directions of a group that scales weak variables.

    A point is drawn by its density from a lattice through the current one, which stands at a random place of
    it. The lattice is as probable from any of its points, so that this leaves the density as it is. Liu and
    Sabatti (2000), Generalised Gibbs sampler, for moves along a group.

    Parameters
    ----------
    posterior, x, theta, score
        The model, the position, the coefficients and their score.
    weak
        Variables whose shares are scaled together.
    faint
        Features whose coefficients go with their prior standard deviations.
    random
        Random numbers.
    """
    explicit = Explicit.at(posterior, x)
    incidence, scales = explicit.incidence, explicit.scales
    f, first = posterior.family_count, x.size - posterior.local.size
    powers = np.append(weak, False)[incidence.places].sum(axis=1)
    most = incidence.places.shape[1] + 1
    code = incidence.kind * most + powers
    scaled, held = faint & (incidence.kind > 0), ~faint & (incidence.kind > 0)
    classes, member = np.unique(code[scaled], return_inverse=True)
    T = np.zeros((theta.size, classes.size))
    T[np.flatnonzero(scaled), member] = theta[scaled]
    products = explicit.coefficients.products(T)
    held_classes, member = np.unique(code[held], return_inverse=True)
    standardised = theta[held] ** 2 * np.exp(-explicit.log_variances[held])
    line = _Line(
        posterior,
        explicit,
        x[f:first],
        explicit.log_share[weak],
        explicit.half_odds[~weak],
        *np.divmod(classes, most),
        T.T @ score,
        T.T @ products,
        *np.divmod(held_classes, most),
        np.bincount(member, minlength=held_classes.size).astype(float),
        np.bincount(member, weights=standardised, minlength=held_classes.size),
        posterior.scale(x),
    )
    log_a, shift, rate = 0.0, np.zeros(first - f), 0.0
    directions = _directions(scales.ratio_gradient)
    for direction in directions:
        spacing = FINEST * (COARSEST / FINEST) ** random.random()
        here = int(random.integers(POINTS))
        steps = spacing * (np.arange(POINTS) - here)
        along_a = log_a + steps * direction[0]
        along_t = shift + np.multiply.outer(steps, direction[1:])
        value = line.log_density(along_a, along_t)
        there = int(np.argmax(value + random.gumbel(size=POINTS)))
        log_a, shift = float(along_a[there]), along_t[there]
        rate += (there != here) / len(directions)
    d = line.factors(np.array([log_a]), shift[None])[0]
    moved = x.copy()
    moved[f:first] += shift
    half_odds = explicit.half_odds.copy()
    half_odds[weak] = line.weak_odds(np.array([log_a]))[0][0]
    moved[posterior.local] = half_odds - posterior.local_scales(moved).log_ratio
    return Moved(moved, theta + T @ d, score - products @ d, rate)


def _directions(ratio_gradient: Float[np.ndarray, " g"]) -> Float[np.ndarray, "m h"]:
    """Log a, each global coordinate, and log a with the global scale, which holds λ of weak variables."""
    size = ratio_gradient.size + 1
    together = np.zeros((1, size))
    together[0, [0, 1 + int(np.argmax(ratio_gradient))]] = 1.0
    return np.concatenate([np.eye(size), together])
