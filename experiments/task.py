"""Tasks and their records: one piece of work, what came of it, and the file that it is kept in."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from interplay._support.files import written_whole

Status = Literal["done", "no answer", "time limit", "memory limit", "not available", "failed"]

FINAL = ("done", "no answer", "time limit", "memory limit")
"""What is a result. The rest is tried again by the next run."""

SPARED = "not begun, as an easier task took "
"""How the note begins of a task that was spared."""

SECONDS, GIGABYTES = 600.0, 8.0
"""What a method may take by default, its libraries and data included."""


class NoAnswerError(Exception):
    """A method came to its end, and says why it has nothing to report."""


@dataclass(frozen=True)
class Task:
    """One method on one data set.

    Parameters
    ----------
    experiment
        The folder that its record is kept in.
    data
        Which data: `kind` and what this kind needs, in plain values; see `experiments.data.make`.
    method
        Its name in tables and plots.
    work
        The function that does it, as `module:function`; see `experiments.child`.
    options
        Further arguments of it, in plain values.
    seconds, gigabytes
        Where it is stopped.
    cost
        About how many seconds it will take: cheap tasks come first.
    timed
        Whether nothing else may run at the same time.
    easier
        Name of a task of this experiment that takes less: where that was stopped, this is not begun.
    """

    experiment: str
    data: Mapping[str, Any]
    method: str
    work: str
    options: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = SECONDS
    gigabytes: float = GIGABYTES
    cost: float = 1.0
    timed: bool = False
    easier: str = ""

    @property
    def name(self) -> str:
        """Data and method in one word, which is the name of its file."""
        data = "-".join(_word(key, value) for key, value in self.data.items())
        return f"{data}--{self.method}".replace(", ", "-").replace(" ", "-").lower()

    def path(self, folder: Path) -> Path:
        """Its file below the folder of results."""
        return folder / self.experiment / f"{self.name}.json"


@dataclass(frozen=True)
class Record:
    """What came of a task.

    Parameters
    ----------
    task
        The task.
    status, note
        How it ended, and why where it did not end well.
    threads
        Threads that it had, each with a core.
    cost
        `seconds`, `processor_seconds`, `peak_bytes`, `loaded_bytes`; see `experiments.measure`. Where it was
        stopped, or ended without an answer, what the whole process had taken until then.
    values
        What was found; see the work.
    provenance
        Versions, processor, source and date.
    """

    task: Task
    status: Status
    note: str
    threads: int
    cost: Mapping[str, float]
    values: Mapping[str, Any]
    provenance: Mapping[str, Any]

    @property
    def done(self) -> bool:
        """Whether it came to its end."""
        return self.status == "done"


def read(folder: Path, task: Task) -> Record | None:
    """The record of a task, or None if there is none."""
    return _read(task.path(folder))


def spared(folder: Path, task: Task) -> Record | None:
    """The record of a task that need not be begun, as an easier one was stopped; otherwise None."""
    easier = _read(folder / task.experiment / f"{task.easier}.json") if task.easier else None
    if easier is None or not easier.status.endswith("limit"):
        return None
    stopped = easier.note.removeprefix(SPARED)
    return Record(task, easier.status, SPARED + stopped, easier.threads, {}, {}, easier.provenance)


def _read(path: Path) -> Record | None:
    if not path.exists():
        return None
    values = json.loads(path.read_text())
    return Record(**(values | {"task": Task(**values["task"])}))


def records(folder: Path, tasks: Iterable[Task]) -> list[Record]:
    """The records that there are, in the order of their tasks."""
    return [record for task in tasks if (record := read(folder, task)) is not None]


def write(folder: Path, record: Record) -> None:
    """Keep a record: the file is there whole or not at all."""
    # A line for each part: short files, and changes that can be read.
    parts = {
        name: json.dumps(value, ensure_ascii=False, allow_nan=False)
        for name, value in plain(asdict(record)).items()
    }
    text = "{\n" + ",\n".join(f'"{name}": {part}' for name, part in parts.items()) + "\n}\n"
    path = record.task.path(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as file:
        file.write_text(text)


def plain(value: Any) -> Any:
    """The same without numbers that JSON does not have."""
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _word(key: str, value: Any) -> str:
    if key == "kind":
        return str(value)
    return f"{key}{value:g}" if isinstance(value, int | float) else f"{key}{value}"
