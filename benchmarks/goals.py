"""What the figures are held against; whether a goal is met is computed from the figures alone."""

from dataclasses import dataclass

from benchmarks.gradient import Gradient
from benchmarks.scaling import Curve
from benchmarks.search import Search
from benchmarks.table import Table

AS_FAST = 1.0
"""Within how many times version 0.1.0 a gradient is to be, at every size."""

NEAR = 1.5
"""Within how many times the bare products of the same sizes it is to be, at the largest size."""

SEARCH_GIGABYTES = 2.0
"""The most memory that a search through all pairs may take."""

LINEAR = 1.05
"""The exponent of p in time and memory that counts as linear."""


@dataclass(frozen=True)
class Goal:
    """A figure, its bound and whether it is met."""

    name: str
    at: str
    bound: str
    measured: float
    met: bool


def judge(gradients: list[Gradient], curves: list[Curve], found: Search) -> list[Goal]:
    """Hold the ratios of gradients, and the slopes, against the goals."""
    largest = max(gradients, key=lambda g: g.n * g.p)
    ours = curves[0]
    last = ours.points[-1].p
    upper, decade = (f"p = {start} … {last}" for start in (ours.slope.fit_from, ours.slope.decade_from))
    time, memory = "interplay: exponent of p in time", "interplay: exponent of p in memory"
    return [
        *(
            at_most(
                f"gradient: interplay / 0.1.0{'' if g.old_measured else ' (as committed)'}",
                _size(g),
                g.to_old,
                AS_FAST,
            )
            for g in gradients
            if g.to_old is not None
        ),
        at_most("gradient: interplay / limit", _size(largest), largest.to_limit, NEAR),
        at_most(time, upper, ours.slope.time, LINEAR),
        at_most(time, decade, ours.slope.time_last_decade, LINEAR),
        at_most(memory, decade, ours.slope.memory_last_decade, LINEAR),
        at_most(
            "search through all pairs: peak memory, GB",
            f"N = {found.n}, p = {found.p}, {found.draws} draws",
            found.bytes / 1e9,
            SEARCH_GIGABYTES,
        ),
    ]


def at_least(name: str, at: str, measured: float, bound: float) -> Goal:
    """A figure that is to be no smaller than a bound."""
    return Goal(name, at, f"≥ {bound:g}", measured, measured >= bound)


def at_most(name: str, at: str, measured: float, bound: float, *, strictly: bool = False) -> Goal:
    """A figure that is to be no larger than a bound, or smaller."""
    met = measured < bound if strictly else measured <= bound
    return Goal(name, at, f"{'<' if strictly else '≤'} {bound:g}", measured, met)


def goals_table(goals: list[Goal], note: str) -> Table:
    """The goals and whether they are met."""
    rows = [[g.name, g.at, g.bound, f"{g.measured:.3g}", "met" if g.met else "unmet"] for g in goals]
    return Table("Goals", note, ["figure", "at", "goal", "measured", ""], rows)


def _size(gradient: Gradient) -> str:
    return f"N = {gradient.n}, p = {gradient.p}"
