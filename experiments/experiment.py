"""An experiment: its tasks, and what is shown of their records."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.table import Table

from experiments.task import Record, Task


@dataclass(frozen=True)
class Experiment:
    """One result of the paper, or one beyond it.

    Parameters
    ----------
    name, title
        Its name on the command line, and its heading.
    about
        What is done, and what the paper has, with the place.
    tasks
        From whether the run is a quick one to the tasks.
    tables, draw
        From the records that there are to tables, and to a picture in a file.
    picture
        What the picture shows, in words.
    """

    name: str
    title: str
    about: str
    tasks: Callable[[bool], list[Task]]
    tables: Callable[[list[Record]], list[Table]]
    draw: Callable[[list[Record], Path], None]
    picture: str
