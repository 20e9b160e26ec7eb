"""Many tasks on Dask: those that are done are skipped, and each is kept as soon as it is done."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import dask
from distributed import Client, Future, LocalCluster, get_worker, wait

from experiments.attempt import attempt
from experiments.task import FINAL, Record, Task, read, spared, write

PATIENCE = {
    "distributed.deploy.lost-worker-timeout": "1 hour",
    "distributed.scheduler.worker-ttl": None,
    "distributed.comm.timeouts.connect": "2 minutes",
    "distributed.comm.timeouts.tcp": "10 minutes",
}
"""Settings of Dask: on a busy machine a worker may be slow to answer, or to come back."""


def outstanding(folder: Path, tasks: Sequence[Task], *, fresh: bool = False) -> list[Task]:
    """The tasks without a result, the cheap ones first; tasks of several experiments once only."""
    once = {task.path(folder): task for task in tasks}
    left = [
        task
        for task in once.values()
        if fresh or (record := read(folder, task)) is None or record.status not in FINAL
    ]
    return sorted(left, key=lambda task: task.cost)


def run(
    folder: Path,
    tasks: Sequence[Task],
    *,
    scheduler: str | None = None,
    workers: int = 1,
    threads: int | None = None,
    budget: float | None = None,
    fresh: bool = False,
    say: Callable[[str], None] = print,
) -> int:
    """Do what is not done yet, and give the number of tasks that are left.

    Parameters
    ----------
    folder
        Of the results.
    tasks
        What is wanted.
    scheduler
        Address of a Dask scheduler; a cluster on this machine without it.
    workers, threads
        Of the cluster on this machine, and threads of each task; by default all cores are shared out, and on
        another cluster each task has one thread.
    budget
        Seconds after which no further task is begun.
    fresh
        Whether to do again what is done.
    say
        Gets a line for each task.
    """
    left = outstanding(folder, tasks, fresh=fresh)
    if not left:
        return 0
    threads = threads or (1 if scheduler else max(1, len(os.sched_getaffinity(0)) // workers))
    end = time.monotonic() + (float("inf") if budget is None else budget)
    running: dict[Future, Task] = {}
    finished = count(1)

    def keep(record: Record) -> None:
        write(folder, record)
        say(f"{next(finished)} done, {len(left) + len(running)} to go: {line(record)}")

    with _client(scheduler, workers) as client:
        while True:
            while left and time.monotonic() < end and _may_begin(client, left[0], running):
                task = left.pop(0)
                if (record := spared(folder, task)) is not None:
                    keep(record)
                    continue
                # Impure: a task of the same name that was done before is not its result.
                running[client.submit(_on_worker, task, threads, scheduler is None, pure=False)] = task
            if not running:
                break
            for future in wait(list(running), return_when="FIRST_COMPLETED").done:
                keep(_result(future, running.pop(future), threads))
    return len(left)


def line(record: Record) -> str:
    """A record in one line."""
    seconds = record.cost.get("seconds")
    taken = "" if seconds is None else f" {seconds:.1f} s, {record.cost['peak_bytes'] / 1e6:.0f} MB"
    found = "; ".join(
        f"{rule} {one['mains']}:{one['false_mains']} {one['pairs']}:{one['false_pairs']}"
        for rule, one in record.values.get("found", {}).items()
    )
    note = record.note.strip().splitlines()[-1:] or [""]
    return f"{record.task.experiment}/{record.task.name}: {record.status}{taken} {found}{note[0]}".rstrip()


@contextmanager
def _client(scheduler: str | None, workers: int) -> Iterator[Client]:
    if scheduler is not None:
        with Client(scheduler) as client:
            yield client
        return
    # No limit of memory for the workers themselves: they only watch.
    settings = {"processes": True, "threads_per_worker": 1, "memory_limit": 0, "dashboard_address": ":0"}
    with (
        dask.config.set(PATIENCE),
        LocalCluster(n_workers=workers, **settings) as cluster,
        Client(cluster) as client,
    ):
        yield client


def _may_begin(client: Client, task: Task, running: dict[Future, Task]) -> bool:
    """Whether there is a place for a task; one that is timed has the machine to itself."""
    if task.timed or any(other.timed for other in running.values()):
        return not running
    return len(running) < max(1, sum(client.nthreads().values()))


def _on_worker(task: Task, threads: int, pinned: bool) -> Record:
    # The workers of our own cluster are numbered, and all on this machine. Elsewhere the first place is free
    # for what is timed, as that runs alone.
    first = 0 if task.timed else None
    return attempt(task, threads, get_worker().name if pinned else first)


def _result(future: Future, task: Task, threads: int) -> Record:
    error = future.exception()
    if error is None:
        record = future.result()
    else:
        note = f"{type(error).__name__}: {error}"
        record = Record(task, "failed", note, threads, cost={}, values={}, provenance={})
    # Dask is not to do it again, should it lose the worker that holds it.
    future.release()
    return record
