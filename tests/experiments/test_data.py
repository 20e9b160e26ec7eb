"""The data sets of the experiments: what is different in each is there, and they repeat."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from experiments import data
from experiments.data import file, make
from experiments.real import REAL

from interplay.data import datasets
from interplay.data.errors import DataError

SETTING = {"n": 4000, "p": 12, "scale": 2.0, "seed": 3}


def correlations(kind: str) -> np.ndarray:
    return np.corrcoef(make({"kind": kind} | SETTING).X.to_numpy(), rowvar=False)


def test_neighbours_are_correlated() -> None:
    found = correlations("ar")
    assert np.diag(found, 1) == pytest.approx(0.5, abs=0.05)
    assert np.diag(found, 2) == pytest.approx(0.25, abs=0.06)


def test_a_block_has_one_active_variable_and_both_signs() -> None:
    problem = make({"kind": "block"} | SETTING)
    found = correlations("block")
    strong = np.argwhere(np.triu(np.abs(found) > 0.8, k=1))
    assert len(strong) == 10
    signs = {np.sign(found[i, j]) for i, j in strong}
    assert signs == {-1.0, 1.0}
    assert np.abs(found[tuple(strong.T)]) == pytest.approx(0.9, abs=0.02)
    assert sum(problem.X.columns[i] in problem.right for i in set(strong.ravel())) == 1


def test_a_pair_can_come_without_its_mains() -> None:
    problem = make({"kind": "weak"} | SETTING)
    assert (len(problem.right), len(make({"kind": "heavy"} | SETTING).right)) == (16, 15)
    alone = [
        term
        for term in problem.right
        if ":" in term and not any(name in problem.right for name in term.split(":"))
    ]
    assert len(alone) == 1


def test_heavy_noise_has_the_same_variance() -> None:
    problem = make({"kind": "heavy", "n": 200_000, "p": 6, "scale": 1.0, "seed": 0})
    columns = {name: problem.X[name].to_numpy() for name in problem.X}
    made = sum(
        effect * np.prod([columns[name] for name in term.split(":")], axis=0)
        for term, effect in problem.effects.items()
    )
    noise = problem.y - made
    assert np.std(noise) == pytest.approx(5.0, rel=0.05)
    assert np.mean(np.abs(noise) > 20.0) > 5 * 6.3e-5


def test_the_same_values_make_the_same_data() -> None:
    for kind in ("synthetic", "ar", "block", "weak", "heavy"):
        data = {"kind": kind, "n": 20, "p": 12, "scale": 1.0, "seed": 5}
        assert np.array_equal(make(data).y, make(data).y)
    with pytest.raises(ValueError, match="kind='other'"):
        make({"kind": "other", "n": 20, "p": 8, "scale": 1.0, "seed": 5})


@pytest.mark.skipif(file("auto_mpg.csv") is None, reason="the data are not there")
def test_noise_is_added_to_the_cars() -> None:
    problem = make({"kind": "auto", "extra": 3, "seed": 1})
    assert problem.X.shape == (398, 9)
    assert len(problem.right) == 21
    data = problem.design()
    assert (data.p, data.impute) == (9, "mean")


@pytest.mark.skipif(file("residential_building.csv") is None, reason="the data are not there")
def test_the_response_is_made_of_building_covariates() -> None:
    problem = make({"kind": "building", "noise": 25.0, "standardized": True, "seed": 1})
    assert problem.X.shape == (372, 105)
    assert len(problem.right) == 15


def test_without_the_data_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INTERPLAY_DATA", "/nowhere")
    monkeypatch.setattr(data, "FETCHED", tmp_path)
    with pytest.raises(ImportError, match=r"no auto_mpg\.csv in /nowhere: set INTERPLAY_DATA"):
        make({"kind": "auto", "extra": 0, "seed": 0})


def test_what_is_not_there_is_downloaded_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((20, 7))
    cars = pd.DataFrame(values, columns=["mpg", *datasets.AUTO_FEATURES])

    def unreachable() -> pd.DataFrame:
        raise DataError("the repository cannot be reached.")

    monkeypatch.setenv("INTERPLAY_DATA", "/nowhere")
    monkeypatch.setattr(data, "FETCHED", tmp_path / "data")
    monkeypatch.setattr(data, "DOWNLOADS", {data.CARS: lambda: cars, data.BUILDING: unreachable})
    said: list[str] = []
    data.fetch(said.append)
    assert said[1] == "residential_building.csv: the repository cannot be reached."
    assert np.array_equal(make({"kind": "auto", "extra": 0, "seed": 0}).X, cars[list(datasets.AUTO_FEATURES)])
    said.clear()
    data.fetch(said.append)
    assert len(said) == 1


@pytest.mark.parametrize("kind", REAL)
def test_real_data_have_their_response_apart_and_no_gaps(kind: str) -> None:
    if file(f"real/{REAL[kind].file}") is None:
        pytest.skip("the file is not here")
    problem = make({"kind": kind, "seed": 0, "rows": 50})
    assert len(problem.X) == len(problem.y) == 50
    assert not problem.X.isna().any(axis=None)
    assert np.ptp(problem.y) > 0
    assert not set(problem.X.columns) & set(REAL[kind].drop)
