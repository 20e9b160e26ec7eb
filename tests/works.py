"""Small works for the tests of the harness; each notes in a file that it was begun, and by which worker."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.task import NoAnswerError, Task

Values = tuple[dict[str, Any], dict[str, float]]


def task(work: str, seed: int = 0, **settings: object) -> Task:
    """A task that does one of the works below."""
    return Task("tests", {"kind": "none", "seed": seed}, work, f"works:{work}", **settings)


def naps(folder: Path, work: str, seconds: float) -> list[Task]:
    """Four tasks that note in a folder that they were begun."""
    options = {"log": str(folder / "log"), "seconds": seconds}
    return [task(work, seed, options=options, cost=float(seed)) for seed in range(4)]


def _begin(log: str, data: Mapping[str, Any]) -> None:
    with Path(log).open("a") as file:
        file.write(f"{data['seed']} {os.getppid()}\n")


def nap(data: Mapping[str, Any], threads: int, log: str, seconds: float) -> Values:
    _begin(log, data)
    time.sleep(seconds)
    return {"doubled": 2 * data["seed"]}, {"seconds": seconds, "peak_bytes": 1.0}


def nap_once(data: Mapping[str, Any], threads: int, log: str, seconds: float) -> Values:
    """Seed 1 is long the first time, so that its worker can be lost."""
    first = data["seed"] == 1 and "\n1 " not in Path(log).read_text()
    return nap(data, threads, log, seconds if first else 0.0)


def cores(data: Mapping[str, Any], threads: int) -> Values:
    return {"cores": len(os.sched_getaffinity(0))}, {"seconds": 0.0, "peak_bytes": 1.0}


def told(data: Mapping[str, Any], threads: int) -> Values:
    """The settings that the process was started with."""
    return {"settings": sorted(os.environ)}, {"seconds": 0.0, "peak_bytes": 1.0}


def hungry(data: Mapping[str, Any], threads: int) -> Values:
    held = []
    while True:
        held.append(bytearray(50_000_000))
        held[-1][::4096] = b"x" * len(held[-1][::4096])
        time.sleep(0.05)


def silent(data: Mapping[str, Any], threads: int) -> Values:
    raise NoAnswerError("nothing can be said of this")


def wrong(data: Mapping[str, Any], threads: int) -> Values:
    raise ArithmeticError("that was wrong")


def absent(data: Mapping[str, Any], threads: int) -> Values:
    raise ImportError("not installed here")
