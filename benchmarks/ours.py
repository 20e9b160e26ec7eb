"""interplay's sampler on one data set, in a process of its own: `python -m benchmarks.ours`."""

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.peers import Problem
from benchmarks.row import Row

DEFAULTS = ("XLA_FLAGS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Settings of the benchmarks that a user would not have."""


def measure(problem: Problem, **limits: int) -> Row:
    """Fit in a fresh process, with the settings that a user would have, on the cores of this one.

    Parameters
    ----------
    problem
        The data.
    limits
        Settings of the estimator other than the defaults, as `draws`.
    """
    request = json.dumps({"problem": vars(problem), "limits": limits})
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.ours", request],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
        env={name: value for name, value in os.environ.items() if name not in DEFAULTS},
    )
    if done.returncode:
        raise RuntimeError(f"interplay at {problem} failed:\n{done.stderr}")
    return Row("interplay", problem, **json.loads(done.stdout.splitlines()[-1]))


def _fit(problem: Problem, limits: dict[str, int]) -> dict[str, Any]:
    from benchmarks.probe import memory
    from benchmarks.quality import quality, watched
    from interplay.data.simulate import synthetic
    from interplay.estimator import InteractionRegressor
    from interplay.inference.diagnostics import ConvergenceWarning
    from interplay.inference.run import proceed
    from interplay.model.priors.skim import SKIM

    calls: list[tuple[str, float, float]] = []

    def noted(job: Any, state: Any, *rest: Any) -> Any:
        calls.append((state.phase, time.perf_counter(), time.process_time()))
        return proceed(job, state, *rest)

    prior = SKIM(quadratic=False)
    simulation = synthetic(problem.n, problem.p, scale=problem.scale, seed=problem.seed)
    start = time.perf_counter()
    with warnings.catch_warnings(), patch("interplay.inference.sample.proceed", noted):
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = InteractionRegressor(prior, random_state=problem.seed, progress=False, **limits)
        fit = model.fit(simulation.X, simulation.y).fit_
    end, busy = time.perf_counter(), time.process_time()
    fit.effects()
    answered, peak = time.perf_counter(), memory("VmHWM")
    # A run that was begun anew has two warm-ups: all before the last draw of a warm-up is no sampling.
    warm = max(k for k, (phase, *_) in enumerate(calls) if phase == "warm-up")
    _, sampling_start, busy_start = calls[warm + 1]
    series = watched(fit.design, prior, fit.draws.hyperparameters, list(simulation.effects))
    found, known = quality(series), fit.diagnostics
    gradients = int(fit.draws.statistics["steps"].sum())
    note = (
        f"{known.verdict}; largest R-hat {known.r_hat:.3f} and fewest effective draws"
        f" {min(known.ess_bulk, known.ess_tail):.0f} of all {len(known.quantities)} quantities;"
        f" {answered - end:.1f} s more for the table of effects"
    )
    return {
        "seconds": end - start,
        "to_enough": end - start if known.ended == "converged" else None,
        "sampling_seconds": end - sampling_start,
        "processor_seconds": busy - busy_start,
        "chains": fit.draws.chains,
        "draws": fit.draws.length,
        "gradients": gradients,
        "warmup_gradients": known.gradients - gradients,
        "ess_bulk": found.ess_bulk,
        "ess_tail": found.ess_tail,
        "r_hat": found.r_hat,
        "worst": found.worst,
        "divergences": known.divergences,
        "bytes": peak,
        "note": " ".join([note, *known.remedies]),
    }


def _main(request: dict[str, Any]) -> None:
    print(json.dumps(_fit(Problem(**request["problem"]), request["limits"])))


if __name__ == "__main__":
    _main(json.loads(sys.argv[1]))
