"""The data sets of the experiments, each made from a few plain values."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from experiments.linked import LINKED, Linked, moderate
from experiments.real import REAL
from interplay._support.files import written_whole
from interplay.data import datasets
from interplay.data.design import Design, design
from interplay.data.errors import DataError
from interplay.data.simulate import Simulation, real_covariates, synthetic

CARS, BUILDING = "auto_mpg.csv", "residential_building.csv"

FOLDER = "INTERPLAY_DATA"
"""Environment variable with the folder of these files."""

ROOT = Path(__file__).parents[1]

NEAR, FETCHED = ROOT.parent / "shared" / "data", ROOT / "build" / "data"
"""Where these files are looked for without it, and where they are kept once they were downloaded."""

DOWNLOADS: dict[str, Callable[[], pd.DataFrame]] = {
    CARS: lambda: pd.concat(datasets.auto_mpg(download=True), axis=1),
    BUILDING: lambda: datasets.residential_building(download=True),
}
"""By file: from the UCI Machine Learning Repository."""

NOISE_SD = 5.0
"""The paper's."""

BLOCK, BLOCK_CORRELATION, AR = 5, 0.9, 0.5
"""Columns of a block and their |correlation|; correlation of neighbours."""

DEGREES = 3
"""Degrees of freedom of the heavy-tailed noise, which has the same variance."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Covariates, a response, and what there is to be found.

    Parameters
    ----------
    X, y
        Covariates by name, and the response.
    right
        Labels of the terms that count as right: the true ones, or those of the original features.
    effects
        True effects by label in the columns as they are, or None where nobody knows.
    impute
        As in `interplay.data.design.design`.
    """

    X: pd.DataFrame
    y: Float[np.ndarray, " n"]
    right: frozenset[str]
    effects: dict[str, float] | None
    impute: str | None = None

    def design(self, *, standardize: bool = True) -> Design:
        """The data as methods take them."""
        return design(self.X, self.y, standardize=standardize, impute=self.impute)


def make(data: Mapping[str, Any]) -> Problem:
    """Make a data set from its `kind` and what this kind needs.

    `synthetic` is the paper's simulation; `ar` has correlated neighbours, `block` a block of correlated
    columns of both signs, one of them active, `weak` a further pair whose mains are zero, and `heavy` noise
    with heavy tails (n, p, scale, seed). `building` is a simulated response of the Residential Building
    covariates (noise, standardized, seed; rows for the first ones alone), and `auto` is Auto MPG with
    covariates of noise (extra, seed). The kinds of `experiments.real.REAL` are read (seed, which is the
    sampler's alone; rows for some of them), those of `experiments.linked.LINKED` simulated (seed), `moderate`
    has thirty moderate effects (n, p, seed), and `diabetes` is scikit-learn's (seed, the sampler's alone).
    """
    arguments = {key: value for key, value in data.items() if key != "kind"}
    match data["kind"]:
        case "synthetic":
            return _known(synthetic(**arguments))
        case "building":
            return _building(**arguments)
        case "auto":
            return _auto(**arguments)
        case "diabetes":
            return _diabetes()
        case "moderate":
            return _linked(moderate(**arguments))
        case kind if kind in REAL:
            return _real(kind, **arguments)
        case kind if kind in LINKED:
            return _linked(LINKED[kind](**arguments))
        case kind:
            return _known(_variant(kind, **arguments))


def file(name: str) -> Path | None:
    """A file with data, or None if it is not there."""
    paths = [Path(folder) / name for folder in (os.environ.get(FOLDER, NEAR), FETCHED)]
    return next((path for path in paths if path.exists()), None)


def fetch(say: Callable[[str], None] = print) -> None:
    """Download the files that are not there, and say which could not be."""
    for name, download in DOWNLOADS.items():
        if file(name) is not None:
            continue
        try:
            frame = download()
        except DataError as error:
            say(f"{name}: {error}")
            continue
        FETCHED.mkdir(parents=True, exist_ok=True)
        with written_whole(FETCHED / name) as whole:
            frame.to_csv(whole, index=False)
        say(f"{name}: downloaded to {FETCHED}")


def _there(name: str) -> Path:
    if (path := file(name)) is None:
        raise ImportError(
            f"there is no {name} in {os.environ.get(FOLDER, NEAR)}: set {FOLDER} to a folder with it, or run "
            "`python -m experiments --download`."
        )
    return path


def _known(simulation: Simulation) -> Problem:
    frame = pd.DataFrame(simulation.X, columns=list(simulation.names))
    return Problem(frame, simulation.y, frozenset(simulation.terms), dict(simulation.terms))


def _variant(kind: str, n: int, p: int, scale: float, seed: int) -> Simulation:
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, p))
    active = np.sort(random.choice(p, 5, replace=False)).tolist()
    idle = random.permutation(np.setdiff1d(np.arange(p), active)).tolist()
    effects: dict[tuple[int, ...], float] = {(i,): 1.0 for i in active}
    effects |= dict.fromkeys(combinations(active, 2), 1.0)
    noise = random.standard_normal(n)
    match kind:
        case "ar":
            for i in range(1, p):
                X[:, i] = AR * X[:, i - 1] + np.sqrt(1 - AR**2) * X[:, i]
        case "block":
            block = [active[0], *idle[: BLOCK - 1]]
            signs = np.where(np.arange(BLOCK) % 2, -1.0, 1.0)
            common = random.standard_normal((n, 1))
            part = np.sqrt(BLOCK_CORRELATION)
            X[:, block] = signs * (part * common + np.sqrt(1 - BLOCK_CORRELATION) * X[:, block])
        case "weak":
            effects[tuple(sorted(idle[:2]))] = 1.0
        case "heavy":
            noise = random.standard_t(DEGREES, n) / np.sqrt(DEGREES / (DEGREES - 2))
        case _:
            raise ValueError(f"kind={kind!r}: expected synthetic, ar, block, weak, heavy, building or auto.")
    X *= scale
    y = NOISE_SD * noise + sum(effect * X[:, list(term)].prod(axis=1) for term, effect in effects.items())
    return Simulation(X, y, tuple(f"x{i}" for i in range(p)), effects, NOISE_SD, seed)


def _real(kind: str, seed: int, rows: int | None = None) -> Problem:
    X, y = REAL[kind].read(_there(f"real/{REAL[kind].file}"))
    if rows is not None:
        some = np.random.default_rng(0).permutation(len(y))[:rows]
        X, y = X.iloc[some].reset_index(drop=True), y[some]
    return Problem(X, y, frozenset(), None)


def _diabetes() -> Problem:
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return Problem(X, y.to_numpy(dtype=float), frozenset(), None)


def _linked(made: Linked) -> Problem:
    names = [f"x{i}" for i in range(made.X.shape[1])]
    right = frozenset(names[i] for i in made.active)
    return Problem(pd.DataFrame(made.X, columns=names), made.y, right, None)


def _building(noise: float, standardized: bool, seed: int, rows: int | None = None) -> Problem:
    covariates = datasets.residential_building(_there(BUILDING)).iloc[:rows]
    return _known(real_covariates(covariates, noise_variance=noise, standardize=standardized, seed=seed))


def _auto(extra: int, seed: int) -> Problem:
    cars, mpg = datasets.auto_mpg(_there(CARS))
    noise = np.random.default_rng(seed).standard_normal((len(cars), extra))
    names = [f"noise{k}" for k in range(extra)]
    frame = pd.concat([cars.reset_index(drop=True), pd.DataFrame(noise, columns=names)], axis=1)
    original = [*cars.columns, *(f"{a}:{b}" for a, b in combinations(cars.columns, 2))]
    return Problem(frame, mpg.to_numpy(dtype=float), frozenset(original), None, impute="mean")
