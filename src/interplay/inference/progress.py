"""Progress of a run: what is known of it, and where to show it."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column


@dataclass(frozen=True)
class Stage:
    """How far a run is.

    Parameters
    ----------
    phase
        What it does now.
    done
        The part of the phase that is done, from 0 to 1.
    draws, chains
        Draws of each chain so far, and chains.
    r_hat, ess
        The worst of the quantities that are watched.
    divergences
        Iterations that diverged, in all chains.
    seconds_left
        Estimate of what is left, once there is one.
    """

    phase: Literal["start", "warm-up", "sampling", "checking"]
    done: float
    draws: int = 0
    chains: int = 0
    r_hat: float = math.nan
    ess: float = math.nan
    divergences: int = 0
    seconds_left: float | None = None

    def __str__(self) -> str:
        """What is known beside the phase."""
        if self.phase == "start":
            return "looking for variables that matter"
        if not self.draws:
            return ""
        words = (
            f"{self.draws} draws × {self.chains} chains, R-hat {self.r_hat:.3f}, ESS {self.ess:.0f},"
            f" {self.divergences} divergent"
        )
        return words + ("" if self.seconds_left is None else f", about {duration(self.seconds_left)} left")


LEAST_TO_FORECAST = 100
"""Draws of each chain below which the growth of effective draws says too little of the time left."""


class Forecast:
    """Time left of sampling, from the last half of its draws.

    Where a number of draws is wanted, they take as long as those before. Otherwise the smallest effective
    sample size goes on to grow as it did.

    Parameters
    ----------
    draws
        Draws of each chain that are wanted, or None where effective draws are.
    ess
        Effective draws that are wanted then.
    max_draws
        Draws at which sampling ends at the latest.
    """

    def __init__(self, draws: int | None, ess: float, max_draws: int) -> None:
        self._draws, self._ess, self._max_draws = draws, ess, max_draws
        self._seen: list[tuple[int, float, float]] = []

    def seconds_left(self, draws: int, seconds: float, ess: float) -> float | None:
        """Seconds left after so many draws, seconds and effective draws; None where nothing can be said.

        It is to be told of every check, the beginning of sampling included.
        """
        if self._seen and draws <= self._seen[-1][0]:
            # The run was restarted.
            self._seen.clear()
        self._seen.append((draws, seconds, ess))
        past = min(self._seen, key=lambda point: abs(point[0] - draws / 2))
        if past[0] == draws:
            return None
        pace, growth = (
            (now - then) / (draws - past[0]) for now, then in ((seconds, past[1]), (ess, past[2]))
        )
        if self._draws is not None:
            return pace * max(self._draws - draws, 0)
        if draws < LEAST_TO_FORECAST or not growth > 0.0 or ess >= self._ess:
            return None
        return pace * max(min((self._ess - ess) / growth, self._max_draws - draws), 0.0)


Report = Callable[[Stage], None]
"""Called with each stage of a run."""


def silent(stage: Stage) -> None:
    """Where nobody sees it."""


@contextmanager
def reporting(show: bool | Report, console: Console | None = None) -> Iterator[Report]:
    """A progress bar where somebody can see it, or the function that was given."""
    if callable(show):
        yield show
        return
    console = console or Console(stderr=True)
    if not show or not (console.is_terminal or console.is_jupyter):
        yield silent
        return
    if console.is_jupyter:
        yield _in_notebook()
        return
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description:<9}"),
        BarColumn(bar_width=10),
        TimeElapsedColumn(),
        # In a narrow terminal these go on in a second line, rather than being cut.
        TextColumn("{task.fields[words]}", table_column=Column(no_wrap=False)),
        console=console,
    )
    with bar:
        task = bar.add_task("start", total=1.0, words="")
        yield lambda stage: bar.update(task, description=stage.phase, completed=stage.done, words=str(stage))


def _in_notebook() -> Report:
    """One line, updated in its place; rich would need ipywidgets for that."""
    from IPython.display import display

    began = time.monotonic()
    line = display({"text/plain": "start"}, raw=True, display_id=True)

    def report(stage: Stage) -> None:
        parts = (f"{stage.phase} {stage.done:.0%}", duration(time.monotonic() - began), str(stage))
        line.update({"text/plain": " · ".join(part for part in parts if part)}, raw=True)

    return report


def duration(seconds: float) -> str:
    """A time span as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
