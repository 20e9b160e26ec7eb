"""From a design and a prior to draws that have converged, or a word that they have not."""

import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from interplay.data.design import Design
from interplay.inference import checkpoint as files
from interplay.inference import convergence
from interplay.inference.diagnostics import (
    BAD_DIVERGENCES,
    ConvergenceWarning,
    Diagnostics,
    Ending,
    diagnose,
    disputed,
)
from interplay.inference.draws import Draws
from interplay.inference.interrupt import noting_interrupts
from interplay.inference.progress import Report, Stage, reporting, silent
from interplay.inference.rivals import rivals
from interplay.inference.rounding import MOST as MOST_ROUNDING
from interplay.inference.rounding import rounding
from interplay.inference.run import (
    Job,
    State,
    after_warm_up,
    begin,
    in_double_precision,
    proceed,
    warmup_length,
)
from interplay.inference.sampler import CHUNK, Lockstep, Sampler
from interplay.inference.target import target
from interplay.inference.threads import Workers, workers
from interplay.model.priors.base import Prior
from interplay.precision import double_precision

MAX_DRAWS = 8000
"""Draws of each chain after which sampling ends, converged or not."""

TRIAL = 8 * CHUNK
"""Draws of each chain after which a run that looks wrong is begun anew, once."""

TRIAL_R_HAT = 1.1
"""R-hat from which it looks wrong then."""

STEADY = 25
"""Iterations of warm-up after which the noise of the chains is not just where they passed by."""

ANEW = (
    "The chains disagreed or diverged at first, so the run was begun anew from other sets of variables,"
    " with a smaller step and a longer warm-up."
)
PRECISELY = "The noise is small beside the response, so the run was begun anew in double precision."
"""What was changed on the way because something looked wrong."""

STATISTICS = ("log_density", "acceptance", "divergent", "steps")


@double_precision
def sample(
    design: Design,
    prior: Prior,
    *,
    sampler: Sampler | None = None,
    draws: int | None = None,
    max_draws: int = MAX_DRAWS,
    max_seconds: float | int | None = None,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    progress: bool | Report = True,
) -> tuple[Draws, Diagnostics]:
    """Sample the hyperparameters until they have converged.

    Parameters
    ----------
    design, prior
        The data and what is believed.
    sampler
        How chains move; by default `Lockstep()`.
    draws
        Draws of each chain; by default, as many as it takes until R-hat is at most 1.01 and the effective
        sample sizes are at least 400 for σ, η1, η2, η3, the conditional mean of every main effect, and log κ
        of the variables that matter.
    max_draws, max_seconds
        When to end without convergence: draws of each chain, where `draws` is not given, and wall time.
    seed
        Of all random numbers.
    checkpoint
        File that the run is written to after every chunk. If it is there, the run goes on from it, and gives
        the draws that it would have given without a stop.
    progress
        Whether to show progress, in a terminal or a notebook; or a function to call with each `Stage`.

    Returns
    -------
    tuple
        The draws, and what is known of their quality. Ctrl-C ends sampling with the draws so far.
    """
    _check(draws, max_draws, max_seconds)
    began = time.monotonic()
    with noting_interrupts() as heed, workers() as crew, reporting(progress) as report:
        job = Job(design, target(design, prior), rivals(design), sampler or Lockstep(), seed)
        path = None if checkpoint is None else Path(checkpoint).expanduser()
        identity = files.identity(job) if path else {}
        state = files.read(path, identity) if path else None
        if state is not None and state.precise:
            job = job.precisely()
        before = state.seconds if state else 0.0
        limit = draws or max_draws
        judge = convergence.Judge(design, crew)
        ending: Ending | None = None
        drawn = state
        try:
            if state is None:
                report(Stage("start", 0.0))
                state = begin(job, 0, crew)
            while ending is None:
                heed()
                ending = _ending(judge, _first(state, limit), draws, max_draws, max_seconds)
                if ending is None:
                    drawn = state if state.kept else drawn
                    job, state = _next(job, state, max_seconds, crew)
                    state = replace(state, seconds=before + time.monotonic() - began)
                    if path:
                        files.write(path, identity, state)
                    _tell(report, job, _first(state, limit), draws, max_draws)
        except KeyboardInterrupt:
            # A run that was begun anew may have nothing yet, where the first attempt had.
            state = state if state is not None and state.kept else drawn
            if state is None or not state.kept:
                raise
            ending = "interrupted"
        report(Stage("checking", 1.0))
        state = _first(state, limit)
        result = _diagnosed(job, judge, state, ending)
    if result.verdict != "trust":
        warnings.warn(f"{result} See diagnostics.", ConvergenceWarning, stacklevel=_outside())
    hyperparameters = {
        name: values
        for name, values in state.kept.items()
        if name not in STATISTICS and not name.startswith("main_")
    }
    return Draws(hyperparameters, {name: state.kept[name] for name in STATISTICS}), result


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
    if not state.kept:
        return state
    return replace(state, iteration=min(state.iteration, limit), kept=state.kept.first(limit))


def _next(job: Job, state: State, max_seconds: float | int | None, crew: Workers) -> tuple[Job, State]:
    late = max_seconds is not None and state.seconds > max_seconds
    if state.phase == "warm-up" and late:
        return job, after_warm_up(state)
    if not state.kept and not late:
        moved = rounding(job.design, job.target, state.positions)
        if moved > MOST_ROUNDING and job.target.single:
            return in_double_precision(job, state)
        if moved > MOST_ROUNDING and state.iteration >= STEADY:
            state = after_warm_up(state)
        state = replace(state, rounding=moved)
    if state.phase == "sampling" and state.attempt == 0 and state.iteration == TRIAL and _looks_wrong(state):
        anew = begin(job, 1, crew)
        return job, replace(anew, gradients=state.gradients, precise=state.precise)
    return job, proceed(job, state, crew)


def _ending(
    judge: convergence.Judge, state: State, draws: int | None, max_draws: int, max_seconds: float | int | None
) -> Ending | None:
    if state.phase != "sampling" or not state.kept:
        return None
    if state.rounding > MOST_ROUNDING:
        return "rounding"
    if draws is None:
        if judge.converged(state.kept) and not _torn(state):
            return "converged"
        if state.iteration >= max_draws:
            return "max_draws"
    elif state.iteration >= draws:
        return "draws"
    if max_seconds is not None and state.seconds >= max_seconds:
        return "max_seconds"
    return None


def _looks_wrong(state: State) -> bool:
    quick = convergence.scales(state.kept)
    many = state.kept["divergent"].mean() > BAD_DIVERGENCES
    return bool(many or _torn(state) or quick["r_hat"].max() > TRIAL_R_HAT)


def _torn(state: State) -> bool:
    return len(disputed(state.kept["main_mean"], state.kept["main_sd"])) > 0


def _diagnosed(job: Job, judge: convergence.Judge, state: State, ending: Ending) -> Diagnostics:
    return diagnose(
        state.kept,
        judge.table(state.kept),
        tuple(job.design.labels),
        ended=ending,
        remedies=(*([PRECISELY] if state.precise else []), *([ANEW] if state.attempt else [])),
        rounding=state.rounding,
        gradients=state.gradients,
        seconds=state.seconds,
    )


def _tell(report: Report, job: Job, state: State, draws: int | None, max_draws: int) -> None:
    if report is silent:
        return
    if state.phase == "warm-up":
        report(Stage("warm-up", state.iteration / max(warmup_length(job, state.attempt), 1)))
        return
    if not state.kept:
        return
    quick = convergence.scales(state.kept)
    ess = float(min(quick["ess_bulk"].min(), quick["ess_tail"].min()))
    share = state.iteration / (draws or max_draws)
    done = share if draws else max(share, float(np.nan_to_num(min(ess / convergence.ESS, 0.99))))
    report(
        Stage(
            "sampling",
            done,
            state.iteration,
            job.sampler.chains,
            float(quick["r_hat"].max()),
            ess,
            int(state.kept["divergent"].sum()),
            state.seconds * (1 - done) / done if done > 0.05 else None,
        )
    )


def _check(draws: int | None, max_draws: int, max_seconds: float | int | None) -> None:
    for name, value in (("draws", draws), ("max_draws", max_draws), ("max_seconds", max_seconds)):
        if value is not None and not value > 0:
            raise ValueError(f"{name}={value!r}: expected a positive number, or leave it out.")
