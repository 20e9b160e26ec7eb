"""R-hat and effective sample sizes of what is watched."""

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pandas as pd
from arviz_stats.base.array import array_stats
from jaxtyping import Float

from interplay.data.design import Design
from interplay.inference.kept import length

R_HAT = 1.01
ESS = 400.0
"""What counts as converged: R-hat at most, and bulk and tail effective sample size at least."""

TAILS = (0.05, 0.95)

MOST_THAT_MATTER = 20
"""Most variables whose κ is watched."""

LEAST_DRAWS = 8
"""Draws of each chain below which nothing is said of convergence."""

COLUMNS = 256
"""Main effects that are looked at together, which bounds the memory."""

Series = Float[np.ndarray, "c i"]


class Judge:
    """Judges the draws of a run again and again, as they become more.

    What failed is looked at first the next time, as it will mostly fail again, and what was computed of the
    same draws is kept.

    Parameters
    ----------
    design
        The data.
    """

    def __init__(self, design: Design) -> None:
        self._design = design
        self._suspects: list[str] = []
        self._known: dict[str, tuple[float, float, float]] = {}
        self._length = 0

    def converged(self, kept: dict[str, np.ndarray]) -> bool:
        """Whether every quantity has converged; stops at the first that has not."""
        if length(kept) < LEAST_DRAWS:
            return False
        columns = {f"effect[{label}]": column for column, label in enumerate(self._design.labels)}
        scales = dict(_scales_and_kappa(kept, self._design))
        mains = (_effect(kept, self._design, column) for column in _suspicious(kept["main_mean"]))
        again = (
            (name, scales[name]) if name in scales else _effect(kept, self._design, columns[name])
            for name in self._suspects
            if name in scales or name in columns
        )
        for name, series in chain(again, scales.items(), mains):
            if not self._enough(kept, name, series):
                self._suspects = [name, *(other for other in self._suspects if other != name)]
                return False
        return True

    def table(self, kept: dict[str, np.ndarray]) -> pd.DataFrame:
        """One row for each quantity watched: `quantity r_hat ess_bulk ess_tail`."""
        mains = (_effect(kept, self._design, column) for column in range(self._design.d))
        watched = chain(_scales_and_kappa(kept, self._design), mains)
        return _table([(name, *self._assess(kept, name, series)) for name, series in watched])

    def _enough(self, kept: dict[str, np.ndarray], name: str, series: Series) -> bool:
        r_hat, bulk, tail = self._assess(kept, name, series)
        return r_hat <= R_HAT and min(bulk, tail) >= ESS

    def _assess(self, kept: dict[str, np.ndarray], name: str, series: Series) -> tuple[float, float, float]:
        if length(kept) != self._length:
            self._known, self._length = {}, length(kept)
        if name not in self._known:
            self._known[name] = assess(series)
        return self._known[name]


def scales(kept: dict[str, np.ndarray]) -> pd.DataFrame:
    """One row for σ, η1, η2 and η3, where they vary: `quantity r_hat ess_bulk ess_tail`."""
    return _table([(name, *assess(series)) for name, series in _globals(kept)])


def assess(series: Series) -> tuple[float, float, float]:
    """R-hat (rank-normalised, split, folded too), bulk and tail effective sample size."""
    if series.shape[1] < LEAST_DRAWS:
        return np.nan, np.nan, np.nan
    r_hat = float(array_stats.rhat(series, chain_axis=0, draw_axis=1))
    bulk = float(array_stats.ess(series, chain_axis=0, draw_axis=1, method="bulk"))
    tail = float(array_stats.ess(series, chain_axis=0, draw_axis=1, method="tail", prob=TAILS))
    return r_hat, bulk, tail


def _scales_and_kappa(kept: dict[str, np.ndarray], design: Design) -> Iterator[tuple[str, Series]]:
    yield from _globals(kept)
    if "kappa" in kept:
        for variable in matter(kept["kappa"]):
            kappa = np.maximum(kept["kappa"][:, :, variable], np.finfo(np.float64).tiny)
            yield f"log_kappa[{design.names[variable]}]", np.log(kappa)


def _effect(kept: dict[str, np.ndarray], design: Design, column: int) -> tuple[str, Series]:
    return f"effect[{design.labels[column]}]", kept["main_mean"][:, :, column]


def _suspicious(values: Float[np.ndarray, "c i q"]) -> Iterator[int]:
    """All columns, those first whose split R-hat without ranks, which is quick, is large."""
    half = values.shape[1] // 2
    ratios = []
    for start in range(0, values.shape[2], COLUMNS):
        split = np.concatenate(
            [part[:, :, start : start + COLUMNS] for part in (values[:, :half], values[:, -half:])]
        )
        within = np.maximum(split.var(axis=1, ddof=1).mean(axis=0), np.finfo(split.dtype).tiny)
        ratios.append(split.mean(axis=1).var(axis=0, ddof=1) / within)
    yield from np.argsort(-np.concatenate(ratios), kind="stable").tolist()


def _table(rows: list[tuple[str, float, float, float]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["quantity", "r_hat", "ess_bulk", "ess_tail"])


def _globals(kept: dict[str, np.ndarray]) -> Iterator[tuple[str, Series]]:
    for name in ("sigma", "eta1", "eta2", "eta3"):
        if name in kept and np.ptp(kept[name]) > 0:
            yield name, kept[name]


def matter(kappa: Float[np.ndarray, "c i p"]) -> np.ndarray:
    """The variables that matter: those whose mean κ is at least half of the largest, at most 20."""
    mean = kappa.mean(axis=(0, 1))
    order = np.argsort(-mean, kind="stable")[:MOST_THAT_MATTER]
    return order[mean[order] >= 0.5 * mean[order[0]]]
