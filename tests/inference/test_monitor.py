"""A run with starts and a stopping rule of somebody else."""

import warnings

import numpy as np
import pandas as pd

from interplay._support.parallel import Workers
from interplay.data.design import Design, design
from interplay.inference.diagnostics import ConvergenceWarning
from interplay.inference.moves import HMC
from interplay.inference.run import Job, State, before_warm_up
from interplay.inference.sample import sample
from interplay.inference.stopping import ConvergenceMonitor
from interplay.inference.trace import Trace
from interplay.model.priors import SKIM


class AfterFifty:
    """Is content with fifty draws."""

    def __init__(self, made: Design, workers: Workers) -> None:
        self._inner = ConvergenceMonitor(made, workers)

    def converged(self, trace: Trace) -> bool:
        return len(trace) >= 50

    def table(self, trace: Trace) -> pd.DataFrame:
        return self._inner.table(trace)


def test_starts_and_rule_can_be_given() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 4))
    made = design(X, random.normal(size=30))
    begun: list[tuple[int, int]] = []

    def at_second(job: Job, attempt: int, workers: Workers) -> State:
        included = np.tile(np.arange(4) == 1, (job.sampler.chains, 1))
        ones = np.ones(job.sampler.chains)
        positions = job.posterior.position_of(included, ones, 0.0 * ones)
        begun.append((attempt, len(positions)))
        return before_warm_up(job, attempt, positions)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        draws, found = sample(
            made,
            SKIM(),
            sampler=HMC(chains=2, warmup=10),
            progress=False,
            begin=at_second,
            monitor=AfterFifty,
        )
    assert begun == [(0, 2)]
    assert (draws.length, found.ended) == (50, "converged")
