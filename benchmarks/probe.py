"""Time and peak memory of one method at one size, in a process of its own: `python -m benchmarks.probe`."""

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.method import Evaluation

ROWS = 50
"""The paper's N."""

RESOLUTION = 1e5
"""Bytes below which nothing can be said: the kernel counts resident pages in batches."""

BUDGET = 1.0
"""Seconds of evaluations, after one that is not counted."""

PATIENCE = 10.0
"""Where the first evaluation takes so many seconds, it is the only one, and counts."""

MOST = 100
"""The most evaluations that are timed; the least is three."""


@dataclass(frozen=True)
class Probe:
    """What one process measured.

    Parameters
    ----------
    seconds
        Of each evaluation.
    bytes
        Peak resident memory beyond what the process held before it had the data, at least `RESOLUTION`.
    value
        The log likelihood.
    """

    seconds: list[float]
    bytes: float
    value: float


def probe(method: str, p: int, seed: int) -> Probe:
    """Measure in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.probe", method, str(p), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
    if done.returncode:
        raise RuntimeError(f"{method} at p = {p} failed:\n{done.stderr}")
    return Probe(**json.loads(done.stdout.splitlines()[-1]))


def measure(method: str, p: int, seed: int) -> Probe:
    """Measure in this process, which is to do nothing else."""
    from benchmarks.method import METHODS
    from benchmarks.problem import make_design

    chosen = METHODS[method]
    chosen.prepare(make_design(ROWS, chosen.rehearsal, seed))()
    before = forget_peak()
    evaluate = chosen.prepare(make_design(ROWS, p, seed))
    seconds, value = _time(evaluate)
    return Probe(seconds, max(memory("VmHWM") - before, RESOLUTION), value)


def _time(evaluate: "Evaluation") -> tuple[list[float], float]:
    def run() -> tuple[float, float]:
        before = time.perf_counter()
        value = evaluate()
        return time.perf_counter() - before, value

    # The first touches its memory for the first time.
    first, value = run()
    if first > PATIENCE:
        return [first], value
    seconds: list[float] = []
    while len(seconds) < 3 or (len(seconds) < MOST and sum(seconds) < BUDGET):
        seconds.append(run()[0])
    return seconds, value


def forget_peak() -> float:
    """Set the peak of resident memory back to what is held now, and give that.

    The peak of `getrusage` will not do: on Linux it outlives `exec`, and starts from that of the parent.
    """
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def memory(field: str) -> float:
    """A field of the process's status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


if __name__ == "__main__":
    print(json.dumps(asdict(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))))
