"""One task on a worker: a process of its own, stopped where it takes too long or too much memory."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from experiments.provenance import known
from experiments.task import Record, Status, Task

ROOT = Path(__file__).parents[1]

PERIOD = 0.2
"""Seconds between two looks at a process."""

PAGE = os.sysconf("SC_PAGE_SIZE")
"""Bytes of a page of memory."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

CACHE = "JAX_COMPILATION_CACHE_DIR"
"""Where JAX would keep compiled programs: what is timed pays for its own."""

TRIM = "MALLOC_TRIM_THRESHOLD_"
"""Dask has its workers give memory back at once, which made abess six times slower than it is."""


def attempt(task: Task, threads: int, slot: int | None = 0) -> Record:
    """Do a task in a fresh process, and say how it ended.

    Parameters
    ----------
    task
        The task.
    threads
        Threads of the process, each with a core.
    slot
        Which of the places on this machine: the first has the first cores, the second the next. None where
        nobody has shared them out: any core that this process may use.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        request = asdict(task) | {
            "threads": threads,
            "cores": cores(threads, slot),
            "parent": os.getpid(),
            "answer": str(folder / "answer.json"),
        }
        hidden = (TRIM, CACHE) if task.timed else (TRIM,)
        settings = dict.fromkeys(THREADS, str(threads)) | {"JAX_PLATFORMS": "cpu"}
        with (folder / "errors").open("w") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "experiments.child", json.dumps(request)],
                cwd=ROOT,
                env={name: value for name, value in os.environ.items() if name not in hidden} | settings,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
            stopped, spent = _watch(process, task)
        answer: dict[str, Any] = {"cost": {}, "values": {}, "provenance": {}}
        if stopped:
            limit = f"{task.seconds:g} s" if stopped == "time limit" else f"{task.gigabytes:g} GB"
            answer |= {"status": stopped, "note": f"more than {limit}", "cost": spent}
            answer["provenance"] = known(task.data.get("seed", 0), threads)
        elif (folder / "answer.json").exists():
            answer |= json.loads((folder / "answer.json").read_text())
            if answer["status"] == "no answer":
                answer["cost"] = spent
            # Also what other processes held that the method started.
            if answer["cost"]:
                answer["cost"]["peak_bytes"] = max(answer["cost"]["peak_bytes"], spent["others_bytes"])
        else:
            tail = (folder / "errors").read_text()[-2000:]
            answer |= {"status": "failed", "note": f"ended with {process.returncode}: {tail}"}
    return Record(task=task, threads=threads, **answer)


def cores(threads: int, slot: int | None) -> list[int]:
    """The cores of a place on this machine."""
    allowed = sorted(os.sched_getaffinity(0))
    if slot is None:
        return allowed
    first = slot * threads
    if first + threads > len(allowed):
        raise ValueError(
            f"place {slot} with {threads} threads each does not fit on {len(allowed)} cores:"
            " take fewer --workers or --threads."
        )
    return allowed[first : first + threads]


def _watch(process: subprocess.Popen, task: Task) -> tuple[Status | None, dict[str, float]]:
    """Wait for the end, or bring it about; give the reason, and what was taken."""
    began, peak, others = time.perf_counter(), 0.0, 0.0
    stopped: Status | None = None
    try:
        while process.poll() is None and stopped is None:
            own, other = _resident(process.pid)
            peak, others = max(peak, own + other), max(others, other)
            if peak > task.gigabytes * 1e9:
                stopped = "memory limit"
            elif time.perf_counter() - began > task.seconds:
                stopped = "time limit"
            else:
                time.sleep(PERIOD)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return stopped, {"seconds": time.perf_counter() - began, "peak_bytes": peak, "others_bytes": others}


def _resident(pid: int) -> tuple[float, float]:
    """Resident bytes of a process, and of those that it started; nothing once they have ended."""
    own, others = 0.0, 0.0
    with suppress(OSError):
        own = float(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                others += sum(_resident(int(child)))
    return own, others
