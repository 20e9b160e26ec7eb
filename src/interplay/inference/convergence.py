"""Whether what is watched has converged."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
import pandas as pd
from jaxtyping import Float

from interplay.data.design import Design
from interplay.inference.kept import length
from interplay.inference.mixing import LEAST_DRAWS, mixing
from interplay.inference.threads import Workers, in_turn

R_HAT = 1.01
ESS = 400.0
"""What counts as converged: R-hat at most, and bulk and tail effective sample size at least."""

MOST_THAT_MATTER = 20
"""Most variables whose κ is watched."""

BLOCK = 64
"""Main effects that are looked at together, which bounds the memory."""

Series = Float[np.ndarray, "c i"]

Known = tuple[float, float, float]
"""R-hat, bulk and tail effective sample size."""


class Judge:
    """Judges the draws of a run again and again, as they become more.

    The main effects that failed are looked at first the next time, as they will mostly fail again, and what
    was computed of the same draws is kept.

    Parameters
    ----------
    design
        The data.
    workers
        Share the work.
    """

    def __init__(self, design: Design, workers: Workers = in_turn) -> None:
        self._workers = workers
        self._names = design.names
        self._effects = [f"effect[{label}]" for label in design.labels]
        self._suspects: list[int] = []
        self._known: dict[str, Known] = {}
        self._length = 0

    def converged(self, kept: dict[str, np.ndarray]) -> bool:
        """Whether every quantity has converged; stops where one is found that has not."""
        return length(kept) >= LEAST_DRAWS and all(self._pass(kept, block) for block in self._blocks(kept))

    def table(self, kept: dict[str, np.ndarray]) -> pd.DataFrame:
        """One row for each quantity watched: `quantity r_hat ess_bulk ess_tail`."""
        mains = self._mains(kept, range(len(self._effects)))
        blocks = chain([_scales_and_kappa(kept, self._names)], mains)
        return _table({name: known for block in blocks for name, known in self._assess(kept, block).items()})

    def _blocks(self, kept: dict[str, np.ndarray]) -> Iterator[dict[str, Series]]:
        """Everything that is watched, what may have failed first."""
        yield from self._mains(kept, self._suspects)
        yield _scales_and_kappa(kept, self._names)
        yield from self._mains(kept, _suspicious(kept["main_mean"]))

    def _mains(self, kept: dict[str, np.ndarray], columns: Sequence[int]) -> Iterator[dict[str, Series]]:
        for start in range(0, len(columns), BLOCK):
            some = columns[start : start + BLOCK]
            yield {self._effects[column]: kept["main_mean"][:, :, column] for column in some}

    def _pass(self, kept: dict[str, np.ndarray], block: dict[str, Series]) -> bool:
        failed = [name for name, known in self._assess(kept, block).items() if not _enough(*known)]
        mains = [name for name in failed if name in self._effects]
        if mains:
            worst = self._effects.index(min(mains, key=lambda name: self._known[name][1]))
            self._suspects = [worst, *(column for column in self._suspects if column != worst)]
        return not failed

    def _assess(self, kept: dict[str, np.ndarray], block: dict[str, Series]) -> dict[str, Known]:
        if length(kept) != self._length:
            self._known, self._length = {}, length(kept)
        unknown = {name: series for name, series in block.items() if name not in self._known}
        self._known |= assess(unknown, self._workers)
        return {name: self._known[name] for name in block}


def scales(kept: dict[str, np.ndarray]) -> pd.DataFrame:
    """One row for σ, η1, η2 and η3, where they vary: `quantity r_hat ess_bulk ess_tail`."""
    return _table(assess(_globals(kept)))


def assess(block: Mapping[str, Series], workers: Workers = in_turn) -> dict[str, Known]:
    """How well the chains of each quantity mix."""
    if not block:
        return {}
    found = mixing(np.stack(list(block.values())), workers)
    return dict(zip(block, zip(*(part.tolist() for part in found), strict=True), strict=True))


def _enough(r_hat: float, bulk: float, tail: float) -> bool:
    return r_hat <= R_HAT and min(bulk, tail) >= ESS


def _scales_and_kappa(kept: dict[str, np.ndarray], names: Sequence[str]) -> dict[str, Series]:
    block = _globals(kept)
    if "kappa" in kept:
        for variable in matter(kept["kappa"]):
            kappa = np.maximum(kept["kappa"][:, :, variable], np.finfo(np.float64).tiny)
            block[f"log_kappa[{names[variable]}]"] = np.log(kappa)
    return block


def _suspicious(values: Float[np.ndarray, "c i q"]) -> list[int]:
    """All columns, those first whose split R-hat without ranks, which is quick, is large."""
    half = values.shape[1] // 2
    ratios = []
    for start in range(0, values.shape[2], BLOCK):
        split = np.concatenate(
            [part[:, :, start : start + BLOCK] for part in (values[:, :half], values[:, -half:])]
        )
        within = np.maximum(split.var(axis=1, ddof=1).mean(axis=0), np.finfo(split.dtype).tiny)
        ratios.append(split.mean(axis=1).var(axis=0, ddof=1) / within)
    return np.argsort(-np.concatenate(ratios), kind="stable").tolist()


def _table(known: dict[str, Known]) -> pd.DataFrame:
    rows = [(name, *numbers) for name, numbers in known.items()]
    return pd.DataFrame(rows, columns=["quantity", "r_hat", "ess_bulk", "ess_tail"])


def _globals(kept: dict[str, np.ndarray]) -> dict[str, Series]:
    names = (name for name in ("sigma", "eta1", "eta2", "eta3") if name in kept)
    return {name: kept[name] for name in names if np.ptp(kept[name]) > 0}


def matter(kappa: Float[np.ndarray, "c i p"]) -> np.ndarray:
    """The variables that matter: those whose mean κ is at least half of the largest, at most 20."""
    mean = kappa.mean(axis=(0, 1))
    order = np.argsort(-mean, kind="stable")[:MOST_THAT_MATTER]
    return order[mean[order] >= 0.5 * mean[order[0]]]
