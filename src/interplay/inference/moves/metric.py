"""The metric of trajectories: the precision of the coordinates given all that a trajectory holds.

It is learned from forces and not from draws: the mean outer product of the force, E[f fᵀ], is the precision
of a density averaged over its draws, given whatever was held while the forces were taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from interplay.inference.moves.base import Lesson, Tuning

TRACKED = 96
"""Most local coordinates whose forces are tracked, those that were most often active."""

PRIOR_FORCES = 10.0
"""Weight of the first guess, in forces."""

GLOBAL_SCALE, LOCAL_SCALE = 0.3, 0.4
"""First guess of the conditional standard deviations of global and local coordinates, all logarithms."""

LARGEST_SCALE = 0.7
"""Largest standard deviation of a direction: posteriors are wider than they look to short trajectories."""

LARGEST_FORCE = 60.0
"""Components of a force are cut here, so that a start far out does not decide the metric."""


@dataclass(frozen=True, eq=False)
class Metric:
    """Sums of outer products of forces, by pairs of coordinates that moved together.

    Parameters
    ----------
    tracked
        Coordinates whose forces are tracked, the global ones first, (m,).
    sums, counts
        Σ f fᵀ and the number of forces, of each pair of tracked coordinates, (m, m).
    activity
        How often each coordinate moved, (D,).
    guess
        First guess of the standard deviation of each coordinate, (D,).
    """

    tracked: Int[np.ndarray, " m"]
    sums: Float[np.ndarray, "m m"]
    counts: Float[np.ndarray, "m m"]
    activity: Float[np.ndarray, " D"]
    guess: Float[np.ndarray, " D"]

    @classmethod
    def first(cls, dimension: int, local: Int[np.ndarray, " k"], noise_scale: float) -> "Metric":
        """Before anything is learned.

        Parameters
        ----------
        dimension, local
            Number of coordinates, and which of them are local.
        noise_scale
            First guess for the first coordinate, the log of the noise.
        """
        guess = np.full(dimension, GLOBAL_SCALE)
        guess[0] = noise_scale
        guess[local] = LOCAL_SCALE
        everywhere = np.setdiff1d(np.arange(dimension), local)
        m = everywhere.size
        return cls(everywhere, np.zeros((m, m)), np.zeros((m, m)), np.zeros(dimension), guess)

    @classmethod
    def from_arrays(cls, tuning: Tuning) -> "Metric":
        """The metric in a tuning."""
        names = ("tracked", "sums", "counts", "activity", "guess")
        return cls(*(tuning[name] for name in names))

    def arrays(self) -> dict[str, np.ndarray]:
        """The metric as a part of a tuning."""
        return dict(vars(self))

    def learned(self, lessons: Sequence[Lesson], local: Int[np.ndarray, " k"], keep: float) -> "Metric":
        """The metric after further forces, with those of before counted by `keep`."""
        activity = keep * self.activity
        for lesson in lessons:
            activity[lesson["coordinates"]] += 1.0
        everywhere = np.setdiff1d(np.arange(activity.size), local)
        order = local[np.argsort(-activity[local], kind="stable")]
        tracked = np.concatenate([everywhere, order[:TRACKED][activity[order[:TRACKED]] > 0]])
        place = np.full(activity.size, -1)
        place[self.tracked] = np.arange(self.tracked.size)
        old = place[tracked]
        there = np.ix_(old >= 0, old >= 0)
        m = tracked.size
        sums, counts = np.zeros((m, m)), np.zeros((m, m))
        known = np.ix_(old[old >= 0], old[old >= 0])
        sums[there], counts[there] = keep * self.sums[known], keep * self.counts[known]
        place[:] = -1
        place[tracked] = np.arange(m)
        for lesson in lessons:
            at = place[lesson["coordinates"]]
            inside = at >= 0
            force = np.clip(lesson["force"][inside], -LARGEST_FORCE, LARGEST_FORCE)
            block = np.ix_(at[inside], at[inside])
            sums[block] += np.multiply.outer(force, force)
            counts[block] += 1.0
        return Metric(tracked, sums, counts, activity, self.guess)

    def root(self, coordinates: Int[np.ndarray, " h"]) -> Float[np.ndarray, "h h"]:
        """A with A Aᵀ the covariance of some coordinates given all others: x = A z makes them round."""
        precision = np.diag(self.guess[coordinates] ** -2.0)
        place = np.full(self.guess.size, -1)
        place[self.tracked] = np.arange(self.tracked.size)
        at = place[coordinates]
        rows = np.flatnonzero(at >= 0)
        known, inside = np.ix_(at[rows], at[rows]), np.ix_(rows, rows)
        counts = self.counts[known]
        precision[inside] = (self.sums[known] + PRIOR_FORCES * precision[inside]) / (counts + PRIOR_FORCES)
        # Pairs are averaged over different forces, so that the matrix need not be positive definite.
        values, vectors = np.linalg.eigh(precision)
        values = np.maximum(values, LARGEST_SCALE**-2.0)
        return vectors / np.sqrt(values)
