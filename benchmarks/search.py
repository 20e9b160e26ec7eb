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
        Of the search.
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
    import numpy as np

    from benchmarks.probe import memory
    from benchmarks.problem import ACTIVE, make_design, make_position
    from interplay.effects.conditional import Conditional
    from interplay.effects.top_pairs import strongest_pairs
    from interplay.model.families import Gaussian
    from interplay.model.posterior import Posterior
    from interplay.model.priors import SKIM

    design = make_design(n, p, seed)
    posterior = Posterior.of(design, SKIM(), Gaussian(), precision="float64")
    positions = np.stack([make_position(posterior, seed + draw) for draw in range(draws)])
    drawn = posterior.constrain(positions)
    working = [
        posterior.working({name: values[draw] for name, values in drawn.items()}) for draw in range(draws)
    ]
    conditional = Conditional(posterior.engine, posterior.variances(drawn), working)
    before = time.perf_counter()
    terms, _ = strongest_pairs(conditional, design, STRONGEST)
    seconds = time.perf_counter() - before
    found = sum(max(term) < ACTIVE for term in terms)
    return Search(n, p, draws, seconds, memory("VmHWM"), found)


if __name__ == "__main__":
    print(json.dumps(asdict(_search(*map(int, sys.argv[1:])))))
