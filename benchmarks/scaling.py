"""The paper's Figure 1: time and memory of one marginal likelihood as the number of variables grows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.method import METHODS, Method
from benchmarks.probe import ROWS, Probe, probe
from benchmarks.timing import Times, summarise

MEMORY_LIMIT = 4e9
"""Bytes beyond which a method is not tried."""

TIME_LIMIT = 60.0
"""Seconds beyond which a method is not tried."""

ONCE = 1.0
"""Seconds of one evaluation from which a point is measured in the first round alone."""


@dataclass(frozen=True)
class Point:
    """A method at one number of variables: times in milliseconds, peak memory in bytes, log likelihood."""

    p: int
    times: Times
    bytes: float
    value: float


@dataclass(frozen=True)
class Slope:
    """Exponents of p in time and memory, from `fit_from` on and over the last decade of p."""

    fit_from: int
    decade_from: int
    time: float
    time_last_decade: float
    memory: float
    memory_last_decade: float


@dataclass(frozen=True)
class Curve:
    """A method over all numbers of variables that it can do, and why it stops."""

    method: str
    points: list[Point]
    stopped: str | None
    slope: Slope


def measure(grid: Sequence[int], extra: Mapping[str, Sequence[int]], rounds: int, seed: int) -> list[Curve]:
    """Measure all methods at all sizes, in rounds.

    Parameters
    ----------
    grid
        Numbers of variables.
    extra
        Further ones for some methods, between those that they can do.
    rounds
        How many fresh processes for each point.
    seed
        Of the data.
    """
    grids = {name: sorted({*grid, *extra.get(name, ())}) for name in METHODS}
    probes: dict[tuple[str, int], list[Probe]] = {}
    stopped = {name: _first_pass(name, grids[name], seed, probes) for name in METHODS}
    for _ in range(1, rounds):
        for (name, p), found in probes.items():
            if median(found[0].seconds) < ONCE:
                found.append(probe(name, p, seed))
    return [_curve(name, probes, stopped[name]) for name in METHODS]


def disagreement(curves: list[Curve]) -> float:
    """Largest relative difference between the methods' log likelihoods of the same data."""
    reference = {point.p: point.value for point in curves[0].points}
    shared = [point for curve in curves[1:] for point in curve.points if point.p in reference]
    return max(abs(point.value / reference[point.p] - 1.0) for point in shared)


def _first_pass(
    name: str, grid: Sequence[int], seed: int, probes: dict[tuple[str, int], list[Probe]]
) -> str | None:
    """Go up the grid while the next point is expected to fit; give the reason to stop."""
    method = METHODS[name]
    last: tuple[int, float] | None = None
    for p in grid:
        if method.needs(ROWS, p) > MEMORY_LIMIT:
            return f"p = {p} needs {method.needs(ROWS, p) / 1e9:.0f} GB"
        if last and last[1] * (p / last[0]) ** method.time_exponent > TIME_LIMIT:
            return f"p = {p} takes more than {TIME_LIMIT:.0f} s"
        found = probe(name, p, seed)
        probes[name, p] = [found]
        last = p, median(found.seconds)
    return None


def _curve(name: str, probes: dict[tuple[str, int], list[Probe]], stopped: str | None) -> Curve:
    points = [
        Point(
            p=p,
            times=summarise([second for one in found for second in one.seconds]),
            bytes=median(one.bytes for one in found),
            value=found[0].value,
        )
        for (method, p), found in probes.items()
        if method == name
    ]
    return Curve(name, points, stopped, _slope(METHODS[name], points))


def _slope(method: Method, points: list[Point]) -> Slope:
    # In a quick run there is nothing past `fit_from`: then all points count.
    fit_from = method.fit_from if points[-1].p > method.fit_from else points[0].p
    upper = [point for point in points if point.p >= fit_from]
    decade = [point for point in points if 10 * point.p >= points[-1].p]
    return Slope(
        fit_from=fit_from,
        decade_from=decade[0].p,
        time=_exponent(upper, [point.times.median for point in upper]),
        time_last_decade=_exponent(decade, [point.times.median for point in decade]),
        memory=_exponent(upper, [point.bytes for point in upper]),
        memory_last_decade=_exponent(decade, [point.bytes for point in decade]),
    )


def _exponent(points: list[Point], values: list[float]) -> float:
    return float(np.polyfit(np.log([point.p for point in points]), np.log(values), 1)[0])
