"""A library of modes: sets of variables, each with a distribution of the coordinates that make it up."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.linalg import solve_triangular
from scipy.special import gammaln

from interplay.inference.moves.base import Tuning
from interplay.inference.moves.local import Locals
from interplay.model.posterior import Posterior

DEGREES = 5.0
"""Degrees of freedom of the distributions, whose tails are wider than those of a mode."""

HELD = 0.7
"""A set is made of the variables that are active in more than this share of a run's draws."""

MOST_SETS = 8
"""Most sets of a library, the empty one included; those held for most draws are kept."""

FEWEST_DRAWS = 20
"""Draws with all members of a set active, from which its distribution is fitted to these alone."""

WIDER = 1.1
"""Factor of the covariance of draws: a proposal that is too narrow is worse than one too wide."""

LEAST_SD = 0.02
"""Standard deviation that is added to that of each coordinate."""

LARGEST_COORDINATE = 60.0
"""Beyond this, the log of anything is out of bounds; the distributions are cut off there."""


@dataclass(frozen=True, eq=False)
class Library:
    """Sets S_j of variables, each with a t₅ distribution f_j of (g, l_S), g being the global coordinates.

    Parameters
    ----------
    members
        Local coordinates of each set, ascending; free places have the number of local coordinates, (j, k).
    centres
        Centre of each distribution: global coordinates, then the members' in their order, (j, g + k).
    roots
        Lower Cholesky factors of their scale matrices; those of the identity in free places.
    """

    members: Int[np.ndarray, "j k"]
    centres: Float[np.ndarray, "j d"]
    roots: Float[np.ndarray, "j d d"]

    @classmethod
    def empty(cls) -> "Library":
        """The library without any set."""
        return cls(np.zeros((0, 0), dtype=int), np.zeros((0, 0)), np.zeros((0, 0, 0)))

    @classmethod
    def fitted(
        cls, posterior: Posterior, runs: Sequence[Float[np.ndarray, "i D"]], earlier: "Library | None" = None
    ) -> "Library":
        """The sets that the draws of some runs held, those of an earlier library, and the empty set."""
        known = {} if earlier is None else earlier.distributions(posterior)
        active = [active_variables(posterior, run) for run in runs]
        holders: dict[tuple[int, ...], list[int]] = {}
        for number, flags in enumerate(active):
            holders.setdefault(held_set(flags), []).append(number)
        every = list(range(len(runs)))
        by_length = sorted(holders, key=lambda found: -sum(len(runs[number]) for number in holders[found]))
        candidates = [
            found for found in [*by_length, *(found for found in known if found not in holders)] if found
        ]
        chosen = [*candidates[: MOST_SETS - 1], ()]
        fits = []
        for found in chosen:
            if found in known and found not in holders:
                fits.append(known[found])
                continue
            # Where no run held the empty set, its global coordinates are as wide as those of all runs.
            numbers, columns = holders.get(found, every), list(found)
            positions = np.concatenate([runs[number] for number in numbers])
            whole = np.concatenate([active[number] for number in numbers])[:, columns].all(axis=1)
            if np.count_nonzero(whole) >= FEWEST_DRAWS:
                positions = positions[whole]
            global_count = posterior.dimension - posterior.local.size
            coordinates = np.append(np.arange(global_count), posterior.local[columns])
            fits.append(_t_fit(positions[:, coordinates]))
        return cls._stacked(chosen, fits, posterior.local.size)

    @classmethod
    def from_arrays(cls, arrays: Tuning) -> "Library":
        """From what `arrays` gave."""
        return cls(arrays["members"], arrays["centres"], arrays["roots"])

    def arrays(self) -> Tuning:
        """The library as arrays by name."""
        return {"members": self.members, "centres": self.centres, "roots": self.roots}

    def __len__(self) -> int:
        """Number of sets."""
        return len(self.members)

    def distributions(self, posterior: Posterior) -> dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]]:
        """Centre and root of each set's distribution, by its members."""
        sets = [self.set_of(number, posterior.local.size) for number in range(len(self))]
        sizes = [posterior.dimension - posterior.local.size + found.size for found in sets]
        return {
            tuple(found.tolist()): (self.centres[number, :size], self.roots[number, :size, :size])
            for number, (found, size) in enumerate(zip(sets, sizes, strict=True))
        }

    def set_of(self, number: int, count: int) -> Int[np.ndarray, " s"]:
        """The local coordinates of a set, of so many."""
        row = self.members[number]
        return row[row < count]

    def draw(self, number: int, size: int, random: np.random.Generator) -> Float[np.ndarray, " z"]:
        """The first so many coordinates (g, l_S) of a draw from f_j."""
        root = self.roots[number, :size, :size]
        radius = math.sqrt(DEGREES / random.chisquare(DEGREES))
        return self.centres[number, :size] + radius * (root @ random.standard_normal(size))

    def log_density(self, number: int, z: Float[np.ndarray, " z"]) -> float:
        """Log f_j(g, l_S); −inf where it is cut off."""
        if np.max(np.abs(z)) > LARGEST_COORDINATE:
            return -math.inf
        d = z.size
        root = self.roots[number, :d, :d]
        white = solve_triangular(root, z - self.centres[number, :d], lower=True)
        log_constant = gammaln(0.5 * (DEGREES + d)) - gammaln(0.5 * DEGREES)
        log_constant -= 0.5 * d * math.log(DEGREES * math.pi) + float(np.sum(np.log(np.diagonal(root))))
        return float(log_constant - 0.5 * (DEGREES + d) * math.log1p(float(white @ white) / DEGREES))

    @classmethod
    def _stacked(
        cls,
        sets: Sequence[tuple[int, ...]],
        fits: Sequence[tuple[np.ndarray, np.ndarray]],
        count: int,
    ) -> "Library":
        largest = max(len(found) for found in sets)
        dimension = max(centre.size for centre, _ in fits)
        members = np.full((len(sets), largest), count)
        centres = np.zeros((len(sets), dimension))
        roots = np.tile(np.eye(dimension), (len(sets), 1, 1))
        for number, (found, (centre, root)) in enumerate(zip(sets, fits, strict=True)):
            d = centre.size
            members[number, : len(found)] = found
            centres[number, :d], roots[number, :d, :d] = centre, root
        return cls(members, centres, roots)


def active_variables(posterior: Posterior, positions: Float[np.ndarray, "i D"]) -> Bool[np.ndarray, "i k"]:
    """Which local coordinates are active in each draw."""
    return np.stack([Locals.at(posterior, x).active for x in positions])


def held_set(active: Bool[np.ndarray, "i k"]) -> tuple[int, ...]:
    """The local coordinates that are active in most draws."""
    return tuple(np.flatnonzero(active.mean(axis=0) > HELD).tolist())


def _t_fit(z: Float[np.ndarray, "i d"]) -> tuple[Float[np.ndarray, " d"], Float[np.ndarray, "d d"]]:
    """Centre and root of a t₅ distribution with the draws' mean and covariance, shrunk to its diagonal.

    Of few draws correlations are mostly noise, and d draws or less have a singular covariance.
    """
    n, d = z.shape
    covariance = np.cov(z.T).reshape(d, d)
    kept = n / (n + 2.0 * d)
    covariance = kept * covariance + (1.0 - kept) * np.diag(np.diag(covariance))
    covariance = WIDER * covariance + LEAST_SD**2 * np.eye(d)
    # The covariance of t₅ is 5/3 of its scale matrix.
    scale = (DEGREES - 2.0) / DEGREES * covariance
    return z.mean(axis=0), np.linalg.cholesky(scale)
