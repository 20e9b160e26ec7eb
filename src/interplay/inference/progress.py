"""Progress of a run, in a terminal or a notebook; nothing elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column

Report = Callable[[str, float, str], None]
"""Called with the phase, the part of it that is done, and what is known so far."""


def silent(phase: str, done: float, words: str) -> None:
    """Where nobody sees it."""


@contextmanager
def reporting(show: bool, console: Console | None = None) -> Iterator[Report]:
    """A progress bar where somebody can see it."""
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
        yield lambda phase, done, words: bar.update(task, description=phase, completed=done, words=words)


def _in_notebook() -> Report:
    """One line, updated in its place; rich would need ipywidgets for that."""
    from IPython.display import display

    began = time.monotonic()
    line = display({"text/plain": "start"}, raw=True, display_id=True)

    def report(phase: str, done: float, words: str) -> None:
        parts = (f"{phase} {done:.0%}", duration(time.monotonic() - began), words)
        line.update({"text/plain": " · ".join(part for part in parts if part)}, raw=True)

    return report


def duration(seconds: float) -> str:
    """A time span as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
