"""What is kept of the draws of a run, in arrays that grow in place."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

SPARSE = 5
"""Standard deviations of main effects are computed, and kept, for one in so many draws."""

AT_ONCE = 2**28
"""Bytes of an array that are reserved at once; the system gives memory when it is written to."""

MANY = 4000
"""Draws that are reserved room for, where that is not more than the bytes above."""


@dataclass
class _Store:
    buffers: dict[str, np.ndarray]
    used: int

    def has_room(self, stop: dict[str, int]) -> bool:
        return all(buffer.shape[1] >= stop[name] for name, buffer in self.buffers.items())


class Kept(dict[str, np.ndarray]):
    """Arrays of what was kept of each draw, (c, i, …) each, by name; `main_sd` of every fifth.

    A longer one made by `more` shares its memory with the one that it was made of, which stays as it was: a
    long run is not copied again with each chunk. If two are made of one, the second is a copy.
    """

    _store: _Store | None = None

    def more(self, new: dict[str, np.ndarray]) -> "Kept":
        """The same with further draws."""
        start = {name: self[name].shape[1] if self else 0 for name in new}
        stop = {name: start[name] + values.shape[1] for name, values in new.items()}
        store = self._store
        if store is None or store.used != length(self) or not store.has_room(stop):
            store = _Store({name: _room(values, stop[name]) for name, values in new.items()}, length(self))
            for name, values in self.items():
                store.buffers[name][:, : start[name]] = values
        for name, values in new.items():
            store.buffers[name][:, start[name] : stop[name]] = values
        store.used += length(new)
        longer = Kept({name: buffer[:, : stop[name]] for name, buffer in store.buffers.items()})
        longer._store = store
        return longer

    def first(self, draws: int) -> "Kept":
        """What belongs to the first so many draws."""
        ends = {name: -(-draws // SPARSE) if name == "main_sd" else draws for name in self}
        return Kept({name: values[:, : ends[name]] for name, values in self.items()})


def length(kept: Mapping[str, np.ndarray]) -> int:
    """Draws of each chain."""
    return kept["sigma"].shape[1] if kept else 0


def _room(like: np.ndarray, least: int) -> np.ndarray:
    chains, draws, *shape = like.shape
    in_bytes = AT_ONCE * draws // max(like.nbytes, 1)
    return np.empty((chains, max(2 * least, min(MANY, in_bytes)), *shape), dtype=like.dtype)
