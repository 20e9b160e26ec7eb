"""All jobs of a server: kept in folders, one worked on at a time, none lost with the server."""

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from interplay.app.web import job as records
from interplay.app.web.job import ACTIVE, Files, Job, State, read_json
from interplay.app.web.refusal import RefusedError

MOST_JOBS = 200
"""Jobs that are kept at most; then some must be deleted first."""

IDENTIFIER = re.compile(r"[0-9a-f]{16}")

OUTCOMES: tuple[State, ...] = ("done", "failed", "stopped")


class Jobs:
    """Jobs by their id, and the thread that works through the queue.

    Parameters
    ----------
    folder
        Where the folders of the jobs are; made if it is not there. Jobs found in it that had not ended are
        queued again, and go on from their checkpoints.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._lock_file = _locked(folder)
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._jobs = self._found()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def all(self) -> list[Job]:
        """Every job, the newest first."""
        with self._changed:
            return sorted(self._jobs.values(), key=lambda job: -job.created)

    def get(self, identifier: str) -> Job:
        """The job of that id; only ids that were made here are known."""
        with self._changed:
            if identifier not in self._jobs:
                raise RefusedError(404, "There is no such job. It may have been deleted.")
            return self._jobs[identifier]

    def files(self, job: Job) -> Files:
        """Its files."""
        return Files(self._folder / job.id)

    def ahead(self, job: Job) -> int:
        """How many jobs are worked on before it."""
        with self._changed:
            active = [other for other in self._jobs.values() if other.state in ACTIVE]
            return sum(other.queued < job.queued for other in active)

    def room(self) -> Files:
        """A new folder for a job, to put its data into before it is added."""
        with self._changed:
            if len(self._jobs) >= MOST_JOBS:
                raise RefusedError(
                    507, f"There are {MOST_JOBS} data sets here. Delete some that you need no more."
                )
        files = Files(self._folder / secrets.token_hex(8))
        files.folder.mkdir(mode=0o700)
        return files

    def add(self, files: Files, title: str) -> Job:
        """A job whose data are in the folder."""
        job = Job(id=files.folder.name, title=records.new_title(title), created=time.time())
        with self._changed:
            return self._put(job)

    def start(self, identifier: str, request: Mapping[str, Any]) -> Job:
        """Put a job into the queue, from its beginning."""
        with self._changed:
            job = self.get(identifier)
            if job.state in ACTIVE or job.state == "done":
                raise RefusedError(409, "This job has been started already.")
            files = self.files(job)
            if job.request != request:
                files.checkpoint.unlink(missing_ok=True)
                files.progress.unlink(missing_ok=True)
            return self._queue(replace(job, request=request))

    def resume(self, identifier: str) -> Job:
        """Put a job that was stopped, or has failed, into the queue again; it goes on from its checkpoint."""
        with self._changed:
            job = self.get(identifier)
            if job.state in ACTIVE or job.request is None:
                raise RefusedError(409, "This job cannot go on: it runs already, or was never started.")
            if job.state == "done" and not self.files(job).checkpoint.exists():
                raise RefusedError(409, "This job has converged: there is nothing to go on with.")
            return self._queue(job)

    def stop(self, identifier: str) -> Job:
        """Take a job out of the queue, or end its sampling with the draws so far."""
        with self._changed:
            job = self.get(identifier)
            if job.state == "queued":
                return self._put(replace(job, state="stopped", message="It was stopped before it began."))
            if job.state == "running" and self._process is not None:
                self._process.send_signal(signal.SIGINT)
                return self._put(replace(job, state="stopping"))
            return job

    def remove(self, identifier: str) -> None:
        """Delete a job with all of its files."""
        with self._changed:
            job = self.get(identifier)
            if job.state in ACTIVE:
                raise RefusedError(409, "This job is being worked on. Stop it first.")
            del self._jobs[identifier]
        shutil.rmtree(self.files(job).folder, ignore_errors=True)

    def close(self) -> None:
        """End the worker, whose job goes on with the next server, and let the folder go."""
        with self._changed:
            self._closing.set()
            if self._process is not None:
                self._process.kill()
            self._changed.notify_all()
        self._thread.join()
        self._lock_file.close()

    def _found(self) -> dict[str, Job]:
        found = {}
        for folder in self._folder.iterdir():
            if not IDENTIFIER.fullmatch(folder.name):
                continue
            files = Files(folder)
            job = records.load(files)
            if job is None:
                # An upload that was not finished.
                shutil.rmtree(folder, ignore_errors=True)
                continue
            if job.state in ACTIVE:
                job = _ended(job, files) or replace(job, state="queued")
                records.save(job, files)
            found[job.id] = job
        return found

    def _put(self, job: Job) -> Job:
        records.save(job, self.files(job))
        self._jobs[job.id] = job
        self._changed.notify_all()
        return job

    def _queue(self, job: Job) -> Job:
        files = self.files(job)
        for old in (files.outcome, files.report):
            old.unlink(missing_ok=True)
        return self._put(replace(job, state="queued", queued=time.time(), started=0.0, message=""))

    def _next(self) -> Job | None:
        waiting = [job for job in self._jobs.values() if job.state == "queued"]
        return min(waiting, key=lambda job: job.queued, default=None)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closing.is_set() or self._next() is not None)
                job = self._next()
                if self._closing.is_set() or job is None:
                    return
                job = self._put(replace(job, state="running", started=job.started or time.time()))
                process = self._process = _worker(self.files(job))
            code = process.wait()
            with self._changed:
                self._process = None
                if process.stdin is not None:
                    process.stdin.close()
                if self._closing.is_set():
                    return
                job = self._jobs[job.id]
                self._put(_ended(job, self.files(job)) or _died(job, code))


def _worker(files: Files) -> subprocess.Popen[bytes]:
    # In a session of its own, a Ctrl-C at the server's terminal does not reach it.
    with files.log.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "interplay.app.web.worker", str(files.folder)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _ended(job: Job, files: Files) -> Job | None:
    """The job as its worker left it, or None if that has left no word."""
    outcome = read_json(files.outcome)
    if not isinstance(outcome, dict) or outcome.get("state") not in OUTCOMES:
        return None
    return replace(job, state=outcome["state"], message=str(outcome.get("message", "")))


def _died(job: Job, code: int) -> Job:
    if job.state == "stopping":
        return replace(job, state="stopped", message="It was stopped before the first draw.")
    if code == -signal.SIGKILL:
        words = "The system ended the process, most likely for want of memory. Leave out columns or rows."
    else:
        words = f"The process ended without a word (code {code}); see worker.log in the folder of the job."
    return replace(job, state="failed", message=words)


def _locked(folder: Path) -> BinaryIO:
    """Hold the folder: two servers would work on the same jobs."""
    file = (folder / "server.lock").open("ab")
    if os.name == "posix":
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            raise OSError(
                f"another server is using {folder}: expected a folder of its own for each. Use that server,"
                " or give another folder."
            ) from error
    return file
