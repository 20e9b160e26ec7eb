"""Times of several calls, taken in turns."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

import jax


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    Parameters
    ----------
    least, most
        Bounds on the number of rounds.
    seconds
        No further round after so many seconds, once there are `least`.
    """

    least: int
    most: int
    seconds: float


@dataclass(frozen=True)
class Times:
    """Median and least time of a call, in milliseconds, and the number of runs."""

    median: float
    least: float
    runs: int

    def __rmul__(self, factor: float) -> "Times":
        return Times(factor * self.median, factor * self.least, self.runs)


def summarise(seconds: list[float]) -> Times:
    """Median and least of times in seconds."""
    return Times(1e3 * median(seconds), 1e3 * min(seconds), len(seconds))


def interleave(calls: Mapping[str, Callable[[], object]], effort: Effort) -> dict[str, Times]:
    """Time the calls in rounds, one after the other, so that noise of the machine hits all alike.

    Each is called once before, to be compiled.
    """
    for call in calls.values():
        jax.block_until_ready(call())
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    start = time.perf_counter()
    for done in range(effort.most):
        if done >= effort.least and time.perf_counter() - start > effort.seconds:
            break
        for name, call in calls.items():
            before = time.perf_counter()
            jax.block_until_ready(call())
            seconds[name].append(time.perf_counter() - before)
    return {name: summarise(values) for name, values in seconds.items()}
