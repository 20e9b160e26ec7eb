"""A job: one folder, with the data, what is asked of them, how far it is, and the fit."""

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from interplay._support.files import written_whole

State = Literal["new", "queued", "running", "stopping", "stopped", "failed", "done"]

ACTIVE = ("queued", "running", "stopping")
"""States in which a job is still to be worked on."""

LONGEST_TITLE = 80


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is known of a job beside its files.

    Parameters
    ----------
    id
        Name of its folder, made here and never taken from a client.
    title
        What the data are called, to be shown and for nothing else.
    created, queued, started
        When; 0 for not yet.
    state
        Where it stands. A job that was stopped before its first draw is "stopped", and can go on.
    request
        The fields of `interplay.app.request.Request`.
    message
        Why it failed, or what is to be known of the result.
    """

    id: str
    title: str
    created: float
    queued: float = 0.0
    started: float = 0.0
    state: State = "new"
    request: Mapping[str, Any] | None = None
    message: str = ""


@dataclass(frozen=True)
class Files:
    """The files in the folder of a job, all under fixed names."""

    folder: Path

    @property
    def job(self) -> Path:
        """The record, written by the server."""
        return self.folder / "job.json"

    @property
    def data(self) -> Path:
        """The data as they came."""
        return self.folder / "data.csv"

    @property
    def columns(self) -> Path:
        """What was found in the data."""
        return self.folder / "columns.json"

    @property
    def progress(self) -> Path:
        """One line for each stage, written by the worker."""
        return self.folder / "progress.jsonl"

    @property
    def outcome(self) -> Path:
        """How it ended, written by the worker."""
        return self.folder / "outcome.json"

    @property
    def checkpoint(self) -> Path:
        """The run so far."""
        return self.folder / "run.nc"

    @property
    def fit(self) -> Path:
        """The fit."""
        return self.folder / "fit.nc"

    @property
    def results(self) -> Path:
        """What the page shows of the fit at first, worked out once."""
        return self.folder / "results.json"

    @property
    def table(self) -> Path:
        """The effect table."""
        return self.folder / "effects.csv"

    @property
    def report(self) -> Path:
        """The report, once asked for."""
        return self.folder / "report.html"

    @property
    def log(self) -> Path:
        """What the worker printed."""
        return self.folder / "worker.log"


def write_json(path: Path, value: Any) -> None:
    """Write a value whole, or not at all."""
    with written_whole(path) as file:
        file.write_text(json.dumps(value), encoding="utf-8")


def read_json(path: Path) -> Any:
    """The value in a file, or None where there is no such file or it is not whole."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def save(job: Job, files: Files) -> None:
    """Write the record."""
    write_json(files.job, asdict(job))


def load(files: Files) -> Job | None:
    """The record in a folder, or None where there is none."""
    values = read_json(files.job)
    try:
        return Job(**{**values, "id": files.folder.name})
    except TypeError:
        return None


def new_title(name: str) -> str:
    """A name from a client, made fit to be shown: the last part of a path, without control characters."""
    last = re.split(r"[/\\]", name)[-1]
    printable = "".join(character for character in last if character.isprintable()).strip()
    return printable[:LONGEST_TITLE] or "data"


def stages(files: Files) -> list[dict[str, Any]]:
    """All stages that the worker has told of; a last line that is still being written is left out."""
    try:
        lines = files.progress.read_text(encoding="utf-8").split("\n")
    except OSError:
        return []
    return [json.loads(line) for line in lines[:-1] if line]


def progress(told: list[dict[str, Any]]) -> tuple[dict[str, Any] | None, list[list[int | float | None]]]:
    """The last stage, and draws, R-hat and ESS so far; a run that was begun anew is told from there."""
    history: list[list[int | float | None]] = []
    last = None
    for stage in told:
        if not stage["draws"] and stage["phase"] == "checking" and last is not None:
            stage = {**last, "phase": "checking", "done": 1.0}
        elif stage["draws"]:
            again = history and stage["draws"] <= (history[-1][0] or 0)
            history = [*([] if again else history), [stage["draws"], stage["r_hat"], stage["ess"]]]
        last = stage
    return last, history


def tell(files: Files, stage: Mapping[str, Any]) -> None:
    """Add a stage, in one write."""
    line = json.dumps({"at": time.time(), **stage}) + "\n"
    descriptor = os.open(files.progress, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)
