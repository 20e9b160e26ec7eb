"""When to stop: whether the quantities that are monitored have converged."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Protocol

import numpy as np
import pandas as pd
from jaxtyping import Float

from interplay._support.parallel import Workers, serially
from interplay.data.design import Design
from interplay.inference.mixing import LEAST_DRAWS, mixing
from interplay.inference.trace import Trace

R_HAT = 1.01
ESS = 400.0
"""What counts as converged: R-hat at most, and bulk and tail effective sample size at least."""

MOST_THAT_MATTER = 20
"""Most variables whose κ is monitored."""

EFFECTS_AT_ONCE = 64
"""Main effects that are assessed together, which bounds the memory."""

Series = Float[np.ndarray, "c i"]

Assessment = tuple[float, float, float]
"""R-hat, bulk and tail effective sample size."""


class Monitor(Protocol):
    """Decides when the draws of a run have converged."""

    def converged(self, trace: Trace) -> bool:
        """Whether every quantity has converged."""

    def table(self, trace: Trace) -> pd.DataFrame:
        """One row for each quantity watched: `quantity r_hat ess_bulk ess_tail`."""


class ConvergenceMonitor:
    """Assesses the draws of a run again and again, as they become more.

    The main effects that failed are looked at first the next time, as they will mostly fail again, and what
    was computed of the same draws is kept.

    Parameters
    ----------
    design
        The data.
    workers
        Share the work.
    """

    def __init__(self, design: Design, workers: Workers = serially) -> None:
        self._workers = workers
        self._names = design.names
        self._effects = [f"effect[{label}]" for label in design.labels]
        self._suspects: list[int] = []
        self._assessed: dict[str, Assessment] = {}
        self._length = 0

    def converged(self, trace: Trace) -> bool:
        """Whether every quantity has converged; stops where one is found that has not."""
        return len(trace) >= LEAST_DRAWS and all(self._pass(trace, block) for block in self._blocks(trace))

    def table(self, trace: Trace) -> pd.DataFrame:
        """One row for each quantity watched: `quantity r_hat ess_bulk ess_tail`."""
        mains = self._mains(trace, range(len(self._effects)))
        blocks = chain([_scales_and_kappa(trace, self._names)], mains)
        return _table(
            {name: assessment for block in blocks for name, assessment in self._assess(trace, block).items()}
        )

    def _blocks(self, trace: Trace) -> Iterator[dict[str, Series]]:
        """Everything that is watched, what may have failed first."""
        yield from self._mains(trace, self._suspects)
        yield _scales_and_kappa(trace, self._names)
        yield from self._mains(trace, _suspicious(trace.main_mean))

    def _mains(self, trace: Trace, columns: Sequence[int]) -> Iterator[dict[str, Series]]:
        for start in range(0, len(columns), EFFECTS_AT_ONCE):
            some = columns[start : start + EFFECTS_AT_ONCE]
            yield {self._effects[column]: trace.main_mean[:, :, column] for column in some}

    def _pass(self, trace: Trace, block: dict[str, Series]) -> bool:
        failed = [name for name, assessment in self._assess(trace, block).items() if not _enough(*assessment)]
        mains = [name for name in failed if name in self._effects]
        if mains:
            worst = self._effects.index(min(mains, key=lambda name: self._assessed[name][1]))
            self._suspects = [worst, *(column for column in self._suspects if column != worst)]
        return not failed

    def _assess(self, trace: Trace, block: dict[str, Series]) -> dict[str, Assessment]:
        if len(trace) != self._length:
            self._assessed, self._length = {}, len(trace)
        unknown = {name: series for name, series in block.items() if name not in self._assessed}
        self._assessed |= assess(unknown, self._workers)
        return {name: self._assessed[name] for name in block}


def scales(trace: Trace) -> pd.DataFrame:
    """One row for each hyperparameter that is one number and varies: `quantity r_hat ess_bulk ess_tail`."""
    return _table(assess(_globals(trace)))


def assess(block: Mapping[str, Series], workers: Workers = serially) -> dict[str, Assessment]:
    """How well the chains of each quantity mix."""
    if not block:
        return {}
    found = mixing(np.stack(list(block.values())), workers)
    return dict(zip(block, zip(*(part.tolist() for part in found), strict=True), strict=True))


def _enough(r_hat: float, bulk: float, tail: float) -> bool:
    return r_hat <= R_HAT and min(bulk, tail) >= ESS


def _scales_and_kappa(trace: Trace, names: Sequence[str]) -> dict[str, Series]:
    block = _globals(trace)
    if "kappa" in trace.hyperparameters:
        for variable in matter(trace.hyperparameters["kappa"]):
            kappa = np.maximum(trace.hyperparameters["kappa"][:, :, variable], np.finfo(np.float64).tiny)
            block[f"log_kappa[{names[variable]}]"] = np.log(kappa)
    return block


def _suspicious(values: Float[np.ndarray, "c i q"]) -> list[int]:
    """All columns, those first whose split R-hat without ranks, which is quick, is large."""
    half = values.shape[1] // 2
    ratios = []
    for start in range(0, values.shape[2], EFFECTS_AT_ONCE):
        split = np.concatenate(
            [part[:, :, start : start + EFFECTS_AT_ONCE] for part in (values[:, :half], values[:, -half:])]
        )
        within = np.maximum(split.var(axis=1, ddof=1).mean(axis=0), np.finfo(split.dtype).tiny)
        ratios.append(split.mean(axis=1).var(axis=0, ddof=1) / within)
    return np.argsort(-np.concatenate(ratios), kind="stable").tolist()


def _table(assessed: dict[str, Assessment]) -> pd.DataFrame:
    rows = [(name, *numbers) for name, numbers in assessed.items()]
    return pd.DataFrame(rows, columns=["quantity", "r_hat", "ess_bulk", "ess_tail"])


def _globals(trace: Trace) -> dict[str, Series]:
    """Every hyperparameter that is one number and varies."""
    scalars = {name: values for name, values in trace.hyperparameters.items() if values.ndim == 2}
    return {name: values for name, values in scalars.items() if np.ptp(values) > 0}


def matter(kappa: Float[np.ndarray, "c i p"]) -> np.ndarray:
    """The variables that matter: those whose mean κ is at least half of the largest, at most 20."""
    mean = kappa.mean(axis=(0, 1))
    order = np.argsort(-mean, kind="stable")[:MOST_THAT_MATTER]
    return order[mean[order] >= 0.5 * mean[order[0]]]
