"""Times of several calls, taken in turns."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median


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


def summarise(seconds: list[float]) -> Times:
    """Median and least of times in seconds."""
    return Times(1e3 * median(seconds), 1e3 * min(seconds), len(seconds))


def timed(call: Callable[[], object]) -> Callable[[], float]:
    """A call that gives the seconds it took."""

    def run() -> float:
        before = time.perf_counter()
        call()
        return time.perf_counter() - before

    return run


def interleave(calls: Mapping[str, Callable[[], float]], effort: Effort) -> dict[str, Times]:
    """Make the calls in rounds, one after the other, so that noise of the machine hits all alike.

    Each gives the seconds that it took, and is made once before, to be compiled and to touch its memory.
    """
    for call in calls.values():
        call()
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    start = time.perf_counter()
    for rounds in range(effort.most):
        if rounds >= effort.least and time.perf_counter() - start > effort.seconds:
            break
        for name, call in calls.items():
            seconds[name].append(call())
    return {name: summarise(values) for name, values in seconds.items()}
