"""From a design and a prior to draws that have converged, or a word that they have not."""

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from interplay._support.interrupt import noting_interrupts
from interplay._support.parallel import Workers, workers
from interplay.data.design import Design
from interplay.inference import checkpoint as files
from interplay.inference import stopping
from interplay.inference.diagnostics import (
    BAD_DIVERGENCES,
    ConvergenceWarning,
    Diagnostics,
    Ending,
    diagnose,
    disputed,
)
from interplay.inference.draws import Draws
from interplay.inference.moves.hmc import HMC
from interplay.inference.progress import Forecast, Report, Stage, reporting, silent
from interplay.inference.remedy import can_jump, with_jumps
from interplay.inference.rounding import MOST_ROUNDING, rounding_error
from interplay.inference.run import (
    CHUNK,
    Begin,
    Job,
    State,
    after_warm_up,
    begin,
    in_double_precision,
    proceed,
)
from interplay.inference.stopping import Monitor
from interplay.model.families import Family, Gaussian
from interplay.model.priors.base import Prior

MAX_DRAWS = 8000
"""Draws of each chain after which sampling ends, converged or not."""

TRIAL = 8 * CHUNK
"""Draws of each chain after which a run is looked at, and again after twice as many.

A run that looks wrong then gets a remedy. After each remedy the first look comes twice as late.
"""

TRIAL_R_HAT = 1.1
"""R-hat of a scale from which a run looks wrong."""

STEADY = 25
"""Iterations of warm-up after which the noise of the chains is not just where they passed by."""

RESTARTED = (
    "The chains disagreed or diverged at first, so the run was restarted from other sets of variables,"
    " with a smaller step and a longer warm-up."
)
JUMPS_ADDED = (
    "The chains were in different sets of variables, so jumps between these sets were added, and the draws"
    " before them were left out."
)
IN_DOUBLE_PRECISION = "The noise is small beside the response, so the run was restarted in double precision."
"""What was changed on the way because something looked wrong."""


def sample(
    design: Design,
    prior: Prior,
    *,
    family: Family | None = None,
    sampler: HMC | None = None,
    draws: int | None = None,
    max_draws: int = MAX_DRAWS,
    max_seconds: float | int | None = None,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    progress: bool | Report = True,
    begin: Begin = begin,
    monitor: Callable[[Design, Workers], Monitor] = stopping.ConvergenceMonitor,
) -> tuple[Draws, Diagnostics]:
    """Sample the hyperparameters until they have converged.

    Parameters
    ----------
    design, prior
        The data and what is believed.
    family
        The likelihood; by default `Gaussian()`.
    sampler
        Settings of the sampler; by default `HMC()`.
    draws
        Draws of each chain; by default, as many as it takes until R-hat is at most 1.01 and the effective
        sample sizes are at least 400 for every hyperparameter, the conditional mean of every main effect,
        and log κ of the variables that matter.
    max_draws, max_seconds
        When to end without convergence: draws of each chain, where `draws` is not given, and wall time.
    seed
        Of all random numbers.
    checkpoint
        File that the run is written to after every chunk. If it is there, the run goes on from it, and gives
        the draws that it would have given without a stop.
    progress
        Whether to show progress, in a terminal or a notebook; or a function to call with each `Stage`.
    begin
        How chains are started, where not by a search over sets of variables.
    monitor
        What decides that the draws have converged, made from the design and what shares its work.

    Returns
    -------
    tuple
        The draws, and what is known of their quality. Ctrl-C ends sampling with the draws so far.
    """
    _check(draws, max_draws, max_seconds)
    began = time.monotonic()
    with (
        noting_interrupts() as raise_if_interrupted,
        workers(files.BLAS_THREADS) as pool,
        reporting(progress) as report,
    ):
        job = Job.of(design, prior, family or Gaussian(), sampler or HMC(), seed)
        path = None if checkpoint is None else Path(checkpoint).expanduser()
        identity = files.identity(job) if path else {}
        state = files.read(path, identity) if path else None
        if state is not None and state.double_precision:
            job = job.in_double_precision()
        before = state.seconds if state else 0.0
        limit = draws or max_draws
        judge = monitor(design, pool)
        forecast = Forecast(draws, stopping.ESS, max_draws)
        ending: Ending | None = None
        drawn = state
        try:
            if state is None:
                report(Stage("start", 0.0))
                state = begin(job, 0, pool)
            while ending is None:
                raise_if_interrupted()
                ending = _ending(judge, _first(state, limit), draws, max_draws, max_seconds)
                if ending is None:
                    drawn = state if len(state.trace) else drawn
                    job, state = _next(job, state, max_seconds, begin, pool)
                    state = replace(state, seconds=before + time.monotonic() - began)
                    if path:
                        files.write(path, identity, state)
                    _tell(report, job, _first(state, limit), draws, max_draws, forecast)
        except KeyboardInterrupt:
            # A run that was restarted may have nothing yet, where the first attempt had.
            state = state if state is not None and len(state.trace) else drawn
            if state is None or not len(state.trace):
                raise
            ending = "interrupted"
        report(Stage("checking", 1.0))
        state = _first(state, limit)
        result = _diagnosed(job, judge, state, ending)
    if result.verdict != "trust":
        warnings.warn(f"{result} See diagnostics.", ConvergenceWarning, stacklevel=_outside())
    trace = state.trace
    statistics = {
        "log_density": trace.log_density,
        **trace.statistics,
        "divergent": trace.statistics["divergent"] > 0,
        "steps": trace.statistics["steps"].astype(int),
    }
    return Draws(trace.hyperparameters, statistics), result


def _outside() -> int:
    """The stack level, as `sample` counts it, of the line that called into the package."""
    package = __name__.partition(".")[0]
    frame, level, outside = sys._getframe(1).f_back, 2, 2
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == package:
            outside = level + 1
        frame, level = frame.f_back, level + 1
    return outside


def _first(state: State, limit: int) -> State:
    # Chunks are always whole, so that a run that stops can go on as if it had not, and are cut here.
    if not len(state.trace):
        return state
    return replace(state, iteration=min(state.iteration, limit), trace=state.trace.first(limit))


def _next(
    job: Job, state: State, max_seconds: float | int | None, begin: Begin, pool: Workers
) -> tuple[Job, State]:
    late = max_seconds is not None and state.seconds > max_seconds
    if state.phase == "warm-up" and late:
        return job, after_warm_up(job, state)
    if not len(state.trace) and not late:
        moved = rounding_error(job.posterior, state.positions)
        if moved > MOST_ROUNDING and job.posterior.engine.single_precision:
            return in_double_precision(job, state)
        if moved > MOST_ROUNDING and state.iteration >= STEADY:
            state = after_warm_up(job, state)
        state = replace(state, rounding=moved)
    if state.phase == "sampling" and not late and _is_due(state):
        remedied = _remedied(job, state, begin, pool)
        if remedied is not None:
            return job, remedied
    return job, proceed(job, state, pool)


def _is_due(state: State) -> bool:
    """Whether a run is to be looked at: at TRIAL draws times a power of two, later after each remedy."""
    looks, rest = divmod(state.iteration, TRIAL)
    return rest == 0 and looks >= 2**state.libraries and looks.bit_count() == 1


def _remedied(job: Job, state: State, begin: Begin, pool: Workers) -> State | None:
    """The run with what may help it, or None where nothing looks wrong, or nothing is left to try."""
    diverges = state.trace.statistics["divergent"].mean() > BAD_DIVERGENCES
    disagrees = _chains_disagree(state) or stopping.scales(state.trace)["r_hat"].max() > TRIAL_R_HAT
    if disagrees and (state.attempt or not diverges) and can_jump(job, state):
        return with_jumps(job, state, pool)
    if (disagrees or diverges) and state.attempt == state.libraries == 0 and state.iteration == TRIAL:
        restarted = begin(job, 1, pool)
        return replace(restarted, gradients=state.gradients, double_precision=state.double_precision)
    return None


def _ending(
    monitor: Monitor,
    state: State,
    draws: int | None,
    max_draws: int,
    max_seconds: float | int | None,
) -> Ending | None:
    if state.phase != "sampling" or not len(state.trace):
        return None
    if state.rounding > MOST_ROUNDING:
        return "rounding"
    if draws is None:
        if monitor.converged(state.trace) and not _chains_disagree(state):
            return "converged"
        if state.iteration >= max_draws:
            return "max_draws"
    elif state.iteration >= draws:
        return "draws"
    if max_seconds is not None and state.seconds >= max_seconds:
        return "max_seconds"
    return None


def _chains_disagree(state: State) -> bool:
    return len(disputed(state.trace.main_mean, state.trace.main_sd)) > 0


def _diagnosed(job: Job, monitor: Monitor, state: State, ending: Ending) -> Diagnostics:
    return diagnose(
        state.trace,
        monitor.table(state.trace),
        tuple(job.posterior.design.labels),
        ended=ending,
        remedies=(
            *([IN_DOUBLE_PRECISION] if state.double_precision else []),
            *([RESTARTED] if state.attempt else []),
            *([JUMPS_ADDED] if state.libraries else []),
        ),
        rounding=state.rounding,
        gradients=state.gradients,
        seconds=state.seconds,
    )


def _tell(
    report: Report, job: Job, state: State, draws: int | None, max_draws: int, forecast: Forecast
) -> None:
    if report is silent:
        return
    if state.phase == "warm-up":
        report(Stage("warm-up", state.iteration / max(job.warmup_length(state.attempt), 1)))
        return
    if not len(state.trace):
        forecast.seconds_left(0, state.seconds, 0.0)
        return
    quick = stopping.scales(state.trace)
    ess = float(min(quick["ess_bulk"].min(), quick["ess_tail"].min()))
    share = state.iteration / (draws or max_draws)
    done = share if draws else max(share, float(np.nan_to_num(min(ess / stopping.ESS, 0.99))))
    report(
        Stage(
            "sampling",
            done,
            state.iteration,
            job.sampler.chains,
            float(quick["r_hat"].max()),
            ess,
            int(state.trace.statistics["divergent"].sum()),
            forecast.seconds_left(state.iteration, state.seconds, ess),
        )
    )


def _check(draws: int | None, max_draws: int, max_seconds: float | int | None) -> None:
    for name, value in (("draws", draws), ("max_draws", max_draws), ("max_seconds", max_seconds)):
        if value is not None and not value > 0:
            raise ValueError(f"{name}={value!r}: expected a positive number, or leave it out.")
