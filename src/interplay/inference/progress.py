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
