"""Progress of a run, in a terminal or a notebook; nothing elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

Report = Callable[[str, float, str], None]
"""Called with the phase, the part of it that is done, and what is known so far."""


@contextmanager
def reporting(show: bool, console: Console | None = None) -> Iterator[Report]:
    """A progress bar where somebody can see it."""
    console = console or Console(stderr=True)
    if not show or not (console.is_terminal or console.is_jupyter):
        yield lambda phase, done, words: None
        return
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description:<9}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("{task.fields[words]}"),
        console=console,
    )
    with bar:
        task = bar.add_task("start", total=1.0, words="")
        yield lambda phase, done, words: bar.update(task, description=phase, completed=done, words=words)


def duration(seconds: float) -> str:
    """A time span as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
