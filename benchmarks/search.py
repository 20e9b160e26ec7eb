"""The strongest of all pairs at large p, in a process of its own: `python -m benchmarks.search`."""

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

STRONGEST = 10
"""Pairs asked for: as many as the simulated response has."""


@dataclass(frozen=True)
class Search:
    """What one search took.

    Parameters
    ----------
    n, p, draws
        Size of the problem.
    seconds
        Of the search, compilation included.
    bytes
        Peak resident memory of the whole process.
    found
        How many of the strongest ten are true.
    """

    n: int
    p: int
    draws: int
    seconds: float
    bytes: float
    found: int


def measure(n: int, p: int, draws: int, seed: int) -> Search:
    """Search in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.search", *map(str, (n, p, draws, seed))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
    if done.returncode:
        raise RuntimeError(f"The search at p = {p} failed:\n{done.stderr}")
    return Search(**json.loads(done.stdout.splitlines()[-1]))


def _search(n: int, p: int, draws: int, seed: int) -> Search:
    import jax
    import numpy as np

    from benchmarks.probe import memory
    from benchmarks.problem import ACTIVE, SIGMA, make_design, make_variances
    from interplay.effects.conditional import Conditional
    from interplay.effects.search import strongest_pairs
    from interplay.model.kernelspace import kernel_space

    design = make_design(n, p, seed)
    with jax.enable_x64(True):
        each = [make_variances("sparse", n, p, seed + draw) for draw in range(draws)]
        stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *each)
    posterior = Conditional(kernel_space(design), stacked, np.full(draws, SIGMA))
    before = time.perf_counter()
    terms, _ = strongest_pairs(posterior, design, STRONGEST)
    seconds = time.perf_counter() - before
    found = sum(max(term) < ACTIVE for term in terms)
    return Search(n, p, draws, seconds, memory("VmHWM"), found)


if __name__ == "__main__":
    print(json.dumps(asdict(_search(*map(int, sys.argv[1:])))))
