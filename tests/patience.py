"""Waiting with an end: child processes and conditions that are given up after a time."""

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 300.0
"""Seconds after which something that should happen is taken never to: a bound, not a measurement."""


def wait_for(
    found: Callable[[], Any], what: str, process: subprocess.Popen | None = None, pause: float = 0.1
) -> Any:
    """Ask until the answer is true, for as long as a process runs, if one is given."""
    end = time.monotonic() + PATIENCE
    while not (value := found()):
        assert process is None or process.poll() is None, f"the process ended before {what}"
        assert time.monotonic() < end, f"never seen: {what}"
        time.sleep(pause)
    return value


@contextmanager
def child(command: Any, *, seconds: float = PATIENCE, **options: Any) -> Iterator[subprocess.Popen]:
    """A process that is killed when its time is over, so that nobody waits longer for it or its words."""
    with subprocess.Popen(command, **options) as process:
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            yield process
            process.wait()
        finally:
            process.kill()
            timer.cancel()


def run(command: Any, *, seconds: float = PATIENCE, **options: Any) -> subprocess.CompletedProcess:
    """Run a process to its end, with what it printed as text."""
    return subprocess.run(command, timeout=seconds, **{"capture_output": True, "text": True, **options})
