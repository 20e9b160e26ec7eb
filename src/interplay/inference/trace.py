"""What is kept of the draws of a run, in arrays that grow in place."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

SPARSE = 5
"""Standard deviations of main effects are computed, and kept, for one in so many draws."""

MAX_BYTES = 2**28
"""Most memory that an array preallocates; the system gives it when it is written to."""

PREALLOCATED = 4000
"""Preallocate for this many draws, up to `MAX_BYTES`."""


class Growing:
    """An array (chains, draws, …) with room for further draws.

    A longer one made by `extended` shares its memory with the one that it was made of, which stays as it was:
    a long run is not copied again with each chunk. If two are made of one, the second is a copy.
    """

    def __init__(self, values: np.ndarray) -> None:
        self._buffer = values
        self._used = [values.shape[1]]
        self.values = values

    def extended(self, further: np.ndarray) -> "Growing":
        """The array with further draws."""
        start, stop = self.values.shape[1], self.values.shape[1] + further.shape[1]
        longer = Growing.__new__(Growing)
        if self._used[0] == start and self._buffer.shape[1] >= stop:
            longer._buffer, longer._used = self._buffer, self._used
        else:
            longer._buffer, longer._used = _room(further, stop), [start]
            longer._buffer[:, :start] = self.values
        longer._buffer[:, start:stop] = further
        longer._used[0] = stop
        longer.values = longer._buffer[:, :stop]
        return longer


@dataclass(frozen=True, eq=False)
class Draw:
    """What is kept of consecutive draws, each array (c, i, …).

    Parameters
    ----------
    hyperparameters
        By the names of the prior and of the family.
    main_mean
        Conditional mean of the main effect of every column.
    main_sd
        Conditional standard deviation, of every fifth draw.
    log_density
        Of the posterior.
    statistics
        What the moves recorded.
    """

    hyperparameters: Mapping[str, np.ndarray]
    main_mean: Float[np.ndarray, "c i d"]
    main_sd: Float[np.ndarray, "c j d"]
    log_density: Float[np.ndarray, "c i"]
    statistics: Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Trace:
    """All draws of a run; empty before the first."""

    _hyperparameters: Mapping[str, Growing] = field(default_factory=dict)
    _main_mean: Growing | None = None
    _main_sd: Growing | None = None
    _log_density: Growing | None = None
    _statistics: Mapping[str, Growing] = field(default_factory=dict)
    _limit: int | None = None

    def __len__(self) -> int:
        """Draws of each chain."""
        length = 0 if self._log_density is None else self._log_density.values.shape[1]
        return length if self._limit is None else min(length, self._limit)

    def extended(self, further: Draw) -> "Trace":
        """The trace with further draws."""
        if self._log_density is None or self._main_mean is None or self._main_sd is None:
            return Trace(
                {name: Growing(values) for name, values in further.hyperparameters.items()},
                Growing(further.main_mean),
                Growing(further.main_sd),
                Growing(further.log_density),
                {name: Growing(values) for name, values in further.statistics.items()},
            )
        return Trace(
            {k: self._hyperparameters[k].extended(v) for k, v in further.hyperparameters.items()},
            self._main_mean.extended(further.main_mean),
            self._main_sd.extended(further.main_sd),
            self._log_density.extended(further.log_density),
            {k: self._statistics[k].extended(v) for k, v in further.statistics.items()},
        )

    def first(self, draws: int) -> "Trace":
        """The first so many draws."""
        return Trace(
            self._hyperparameters, self._main_mean, self._main_sd, self._log_density, self._statistics, draws
        )

    @property
    def hyperparameters(self) -> dict[str, np.ndarray]:
        """Draws of the hyperparameters and of the family's parameters, (c, i, …) each."""
        return {name: growing.values[:, : len(self)] for name, growing in self._hyperparameters.items()}

    @property
    def statistics(self) -> dict[str, Float[np.ndarray, "c i"]]:
        """What the moves recorded in each iteration."""
        return {name: growing.values[:, : len(self)] for name, growing in self._statistics.items()}

    @property
    def main_mean(self) -> Float[np.ndarray, "c i d"]:
        """Conditional means of the main effects."""
        return self._filled(self._main_mean)[:, : len(self)]

    @property
    def main_sd(self) -> Float[np.ndarray, "c j d"]:
        """Their conditional standard deviations, of every fifth draw."""
        return self._filled(self._main_sd)[:, : -(-len(self) // SPARSE)]

    @property
    def log_density(self) -> Float[np.ndarray, "c i"]:
        """Log posterior density."""
        return self._filled(self._log_density)[:, : len(self)]

    def as_draw(self) -> Draw:
        """All of it in one piece."""
        return Draw(self.hyperparameters, self.main_mean, self.main_sd, self.log_density, self.statistics)

    @staticmethod
    def _filled(growing: Growing | None) -> np.ndarray:
        if growing is None:
            raise ValueError("The trace has no draws yet.")
        return growing.values


def _room(like: np.ndarray, least: int) -> np.ndarray:
    chains, draws, *shape = like.shape
    in_bytes = MAX_BYTES * max(draws, 1) // max(like.nbytes, 1)
    return np.empty((chains, max(2 * least, min(PREALLOCATED, in_bytes)), *shape), dtype=like.dtype)
