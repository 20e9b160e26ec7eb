"""R-hat and effective sample sizes of what is watched."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from arviz_stats.base.array import array_stats
from jaxtyping import Float

from interplay.data.design import Design

R_HAT = 1.01
ESS = 400.0
"""What counts as converged: R-hat at most, and bulk and tail effective sample size at least."""

TAILS = (0.05, 0.95)

MOST_THAT_MATTER = 20
"""Most variables whose κ is watched."""

LEAST_DRAWS = 8
"""Draws of each chain below which nothing is said of convergence."""

Series = Float[np.ndarray, "c i"]


def converged(kept: dict[str, np.ndarray], design: Design) -> bool:
    """Whether every quantity has converged; stops at the first that has not, the most suspicious first."""
    if next(iter(kept.values())).shape[1] < LEAST_DRAWS:
        return False
    for _, series in _quantities(kept, design):
        r_hat, bulk, tail = assess(series)
        if not (r_hat <= R_HAT and min(bulk, tail) >= ESS):
            return False
    return True


def table(kept: dict[str, np.ndarray], design: Design, *, mains: bool = True) -> pd.DataFrame:
    """One row for each quantity watched: `quantity r_hat ess_bulk ess_tail`."""
    watched = _quantities(kept, design) if mains else _globals(kept)
    rows = [(name, *assess(series)) for name, series in watched]
    return pd.DataFrame(rows, columns=["quantity", "r_hat", "ess_bulk", "ess_tail"])


def assess(series: Series) -> tuple[float, float, float]:
    """R-hat (rank-normalised, split, folded too), bulk and tail effective sample size."""
    if series.shape[1] < LEAST_DRAWS:
        return np.nan, np.nan, np.nan
    r_hat = float(array_stats.rhat(series, chain_axis=0, draw_axis=1))
    bulk = float(array_stats.ess(series, chain_axis=0, draw_axis=1, method="bulk"))
    tail = float(array_stats.ess(series, chain_axis=0, draw_axis=1, method="tail", prob=TAILS))
    return r_hat, bulk, tail


def _quantities(kept: dict[str, np.ndarray], design: Design) -> Iterator[tuple[str, Series]]:
    yield from _globals(kept)
    if "kappa" in kept:
        log_kappa = np.log(np.maximum(kept["kappa"], np.finfo(np.float64).tiny))
        for variable in matter(kept["kappa"]):
            yield f"log_kappa[{design.names[variable]}]", log_kappa[:, :, variable]
    means = kept["main_mean"]
    enough = means.shape[1] >= LEAST_DRAWS
    order = np.argsort(-_plain_r_hat(means), kind="stable") if enough else np.arange(means.shape[2])
    for column in order:
        yield f"effect[{design.labels[column]}]", means[:, :, column]


def _globals(kept: dict[str, np.ndarray]) -> Iterator[tuple[str, Series]]:
    for name in ("sigma", "eta1", "eta2", "eta3"):
        if name in kept and np.ptp(kept[name]) > 0:
            yield name, kept[name]


def matter(kappa: Float[np.ndarray, "c i p"]) -> np.ndarray:
    """The variables that matter: those whose mean κ is at least half of the largest, at most 20."""
    mean = kappa.mean(axis=(0, 1))
    order = np.argsort(-mean, kind="stable")[:MOST_THAT_MATTER]
    return order[mean[order] >= 0.5 * mean[order[0]]]


def _plain_r_hat(values: Float[np.ndarray, "c i q"]) -> Float[np.ndarray, " q"]:
    """Split R-hat without ranks, of all quantities at once: only to put the suspicious ones first."""
    half = values.shape[1] // 2
    split = np.concatenate([values[:, :half], values[:, -half:]])
    within = np.maximum(split.var(axis=1, ddof=1).mean(axis=0), np.finfo(float).tiny)
    return split.mean(axis=1).var(axis=0, ddof=1) / within
