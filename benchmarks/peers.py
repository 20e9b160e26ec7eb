"""Seconds and peak memory of the LASSOs, each in a process of its own: `python -m benchmarks.peers`."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PEERS = {
    "LassoCV": "scikit-learn's LassoCV on all columns and pairs, standardised",
    "adelie": "adelie's group LASSO with strong hierarchy, the objective of glinternet",
}
"""The peers, and what they are. Both choose their penalty among 100 by 5-fold cross-validation."""

MISSING = "adelie is not installed: `pip install --no-deps adelie==1.1.52`"
"""What stands in place of adelie's figures where there are none."""

MEMORY_LIMIT = 16e9
"""Bytes of address space beyond which a peer is stopped."""

OUT_OF_MEMORY = ("MemoryError", "bad_alloc", "most_bytes")
"""Words in the message of a process that had no memory left."""

TIME_LIMIT = 600.0
"""Seconds after which a peer is stopped."""


@dataclass(frozen=True)
class Problem:
    """The paper's simulation: rows, variables, scale λ of the covariates, and seed."""

    n: int
    p: int
    scale: float
    seed: int = 0


@dataclass(frozen=True)
class Found:
    """Effects that were found, right and wrong."""

    mains: int
    false_mains: int
    pairs: int
    false_pairs: int


@dataclass(frozen=True)
class Cost:
    """What one fit took.

    Parameters
    ----------
    seconds
        Of the fit with its cross-validation; libraries were loaded before.
    processor_seconds
        The same as the processor counts it, added over threads: what others do on the machine matters less.
    bytes
        Peak resident memory of the whole process.
    loaded
        Resident memory before the fit: libraries and data.
    found
        What was selected.
    """

    seconds: float
    processor_seconds: float
    bytes: float
    loaded: float
    found: Found


def lasso(problem: Problem, threads: int, *, limit: float = TIME_LIMIT) -> Cost | str:
    """The cost of scikit-learn's LassoCV on all pairs, or why there is none."""
    return measure("LassoCV", problem, threads, limit=limit)


def hierarchical(problem: Problem, threads: int, *, limit: float = TIME_LIMIT) -> Cost | str:
    """The cost of adelie's hierarchical LASSO, or why there is none."""
    if find_spec("adelie") is None:
        return MISSING
    return measure("adelie", problem, threads, limit=limit)


def measure(peer: str, problem: Problem, threads: int, *, limit: float = TIME_LIMIT) -> Cost | str:
    """Fit in a fresh process, or say why that did not end well.

    Parameters
    ----------
    peer
        One of `PEERS`.
    problem
        The data.
    threads
        Threads, each with a core. LassoCV fits as many folds at a time.
    limit
        Seconds after which to give up.
    """
    request = json.dumps({"peer": peer, "threads": threads} | asdict(problem))
    command = [sys.executable, "-m", "benchmarks.peers", request]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parents[1],
            env=os.environ | _settings(peer, threads),
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return f"more than {limit:.0f} s"
    if done.returncode:
        # The fit refuses what it knows to be too large; else Python or C++ ends without memory.
        if done.returncode == -9 or any(word in done.stderr for word in OUT_OF_MEMORY):
            return f"more than {MEMORY_LIMIT / 1e9:.0f} GB"
        raise RuntimeError(f"{peer} at {problem} ended with {done.returncode}:\n{done.stderr}")
    cost = json.loads(done.stdout.splitlines()[-1])
    return Cost(**(cost | {"found": Found(**cost["found"])}))


def _settings(peer: str, threads: int) -> dict[str, str]:
    # LassoCV has its threads in the folds: more of them inside each would stand in each other's way.
    inner = 1 if peer == "LassoCV" else threads
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return dict.fromkeys(names, str(inner)) | {"JAX_PLATFORMS": "cpu"}


def _fit(peer: str, threads: int, problem: Problem) -> Cost:
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[-threads:])
    resource.setrlimit(resource.RLIMIT_AS, (int(MEMORY_LIMIT),) * 2)
    # Only now may NumPy be loaded.
    from benchmarks.probe import memory
    from interplay.data.design import design
    from interplay.data.simulate import synthetic

    fit: Callable[..., Any]
    if peer == "adelie":
        from interplay.baselines.hierarchical_lasso import hierarchical_lasso as fit
    else:
        from interplay.baselines.pairs_lasso import pairs_lasso as fit

    def run(problem: Problem) -> Cost:
        simulation = synthetic(problem.n, problem.p, scale=problem.scale, seed=problem.seed)
        data = design(simulation.X, simulation.y)
        loaded, before, busy = memory("VmRSS"), time.perf_counter(), time.process_time()
        estimate = fit(data, seed=problem.seed, threads=threads)
        return Cost(
            seconds=time.perf_counter() - before,
            processor_seconds=time.process_time() - busy,
            bytes=memory("VmHWM"),
            loaded=loaded,
            found=_compare(estimate.selected, simulation.effects),
        )

    # Once on little data, so that what is loaded late is not counted.
    run(Problem(30, 6, 2.0))
    return run(problem)


def _compare(selected: tuple[tuple[int, ...], ...], true: dict[tuple[int, ...], float]) -> Found:
    def count(order: int, right: bool) -> int:
        return sum(len(term) == order and (term in true) == right for term in selected)

    return Found(count(1, True), count(1, False), count(2, True), count(2, False))


def _main(request: dict) -> None:
    peer, threads = request.pop("peer"), request.pop("threads")
    print(json.dumps(asdict(_fit(peer, threads, Problem(**request)))))


if __name__ == "__main__":
    _main(json.loads(sys.argv[1]))
