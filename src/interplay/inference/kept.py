"""What is kept of the draws of a run, in arrays that grow in place."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

AT_ONCE = 2**28
"""Bytes of an array that are reserved at once; the system gives memory when it is written to."""

MANY = 4000
"""Draws that are reserved room for, where that is not more than the bytes above."""


@dataclass
class _Store:
    buffers: dict[str, np.ndarray]
    used: int


class Kept(dict[str, np.ndarray]):
    """Arrays of what was kept of each draw, (c, i, …) each, by name.

    A longer one made by `more` shares its memory with the one that it was made of, which stays as it was: a
    long run is not copied again with each chunk. If two are made of one, the second is a copy.
    """

    _store: _Store | None = None

    def more(self, new: dict[str, np.ndarray]) -> "Kept":
        """The same with further draws."""
        start, stop = length(self), length(self) + length(new)
        store = self._store
        if store is None or store.used != start or any(b.shape[1] < stop for b in store.buffers.values()):
            store = _Store({name: _room(values, stop) for name, values in new.items()}, start)
            for name, values in self.items():
                store.buffers[name][:, :start] = values
        for name, values in new.items():
            store.buffers[name][:, start:stop] = values
        store.used = stop
        longer = Kept({name: buffer[:, :stop] for name, buffer in store.buffers.items()})
        longer._store = store
        return longer


def length(kept: Mapping[str, np.ndarray]) -> int:
    """Draws of each chain."""
    return next(iter(kept.values())).shape[1] if kept else 0


def _room(like: np.ndarray, least: int) -> np.ndarray:
    chains, draws, *shape = like.shape
    in_bytes = AT_ONCE * draws // max(like.nbytes, 1)
    return np.empty((chains, max(2 * least, min(MANY, in_bytes)), *shape), dtype=like.dtype)
