"""Data sets from scikit-learn, from paths, and from a repository that is never asked."""

import io
import urllib.request
import zipfile
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest

from interplay.data.datasets import (
    AUTO_FEATURES,
    BUILDING_COVARIATES,
    BUILDING_DATES,
    auto_mpg,
    diabetes,
    parse_building,
    residential_building,
)
from interplay.data.design import design
from interplay.data.errors import DataError
from interplay.data.simulate import real_covariates

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data is not on this machine")

MADE_UP = """\
20.0   4   110.0      90.00      2500.      15.0   71  2\t"made up one"
11.5   8   400.0      ?          4100.      10.5   70  1\t"made up two"

30.0   4   80.50      60.00      1900.      18.0   79  3\t"made up three"
"""


def test_diabetes():
    X, y = diabetes()
    assert X.shape == (442, 10)
    assert 18 < X["age"].mean() < 80
    fitted = design(X, y)
    assert {variable.name for variable in fitted.variables if not variable.squares} == {"sex"}


@needs_shared
def test_auto_mpg_from_a_csv_copy():
    X, y = auto_mpg(SHARED / "auto_mpg.csv")
    assert tuple(X) == AUTO_FEATURES
    assert X.shape == (398, 6)
    assert X["horsepower"].isna().sum() == 6
    assert y.name == "mpg"
    assert design(X, y, impute="mean").p == 6


@needs_shared
def test_residential_building_from_a_csv_copy():
    X = residential_building(SHARED / "residential_building.csv")
    assert X.shape == (372, 105)
    assert list(X)[:9] == [f"v{i}" for i in range(1, 9)] + ["v11_lag1"]
    assert list(X)[-3:] == ["v29_lag5", "v9", "v10"]
    assert len(real_covariates(X).pairs) == 10


def test_auto_mpg_in_its_original_format(tmp_path):
    path = tmp_path / "auto-mpg.data"
    path.write_text(MADE_UP)
    X, y = auto_mpg(path)
    assert X["displacement"].tolist() == [110.0, 400.0, 80.5]
    assert X["horsepower"].isna().tolist() == [False, True, False]
    assert y.tolist() == [20.0, 11.5, 30.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty.*Fetch"),
        ("20.0 4 110.0", "line 1.*expected 7 numbers.*Fetch"),
        ("20.0 4 110.0 x 1 2 3", "line 1.*expected 7 numbers"),
    ],
)
def test_broken_original_format(tmp_path, text, words):
    path = tmp_path / "auto-mpg.data"
    path.write_text(text)
    with pytest.raises(DataError, match=words):
        auto_mpg(path)


def test_paths_that_cannot_be_used(tmp_path):
    with pytest.raises(DataError, match=r"could not be read.*Check the path"):
        auto_mpg(tmp_path / "auto-mpg.data")
    path = tmp_path / "cars.csv"
    path.write_text("mpg,cylinder\n1,2\n")
    with pytest.raises(DataError, match=r"no column 'cylinders'.*Did you mean 'cylinder'?"):
        auto_mpg(path)
    with pytest.raises(DataError, match=r"no column 'v1'.*right file"):
        residential_building(path)


@pytest.mark.parametrize(("load", "number"), [(auto_mpg, 9), (residential_building, 437)])
def test_without_a_path_it_says_where_to_get_the_data(load, number):
    with pytest.raises(DataError, match=rf"dataset/{number}.*CC BY 4.0.*download=True"):
        load()


def archive(member: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(member, content)
    return buffer.getvalue()


def test_download(monkeypatch):
    asked = []

    def urlopen(url, timeout):
        asked.append(url)
        return io.BytesIO(archive("auto-mpg.data", MADE_UP.encode()))

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    X, _ = auto_mpg(download=True)
    assert len(X) == 3
    assert asked == ["https://archive.ics.uci.edu/static/public/9/auto+mpg.zip"]


@pytest.mark.parametrize("reply", [URLError("no route"), b"<html>", archive("other", b"")])
def test_download_that_fails(monkeypatch, reply):
    def urlopen(url, timeout):
        if isinstance(reply, Exception):
            raise reply
        return io.BytesIO(reply)

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    with pytest.raises(DataError, match=r"could not download.*by hand from"):
        auto_mpg(download=True)


def test_excel_sheet_without_openpyxl(monkeypatch):
    content = archive("Residential-Building-Data-Set.xlsx", b"")
    monkeypatch.setattr(urllib.request, "urlopen", lambda url, timeout: io.BytesIO(content))

    def read_excel(*_, **__):
        raise ImportError("openpyxl")

    monkeypatch.setattr(pd, "read_excel", read_excel)
    with pytest.raises(DataError, match=r"pip install openpyxl"):
        residential_building(download=True)


def test_excel_sheet_has_two_header_rows():
    width = len(BUILDING_DATES) + len(BUILDING_COVARIATES)
    sheet = pd.DataFrame([["heading"] * width, ["V-1"] * width, range(width), range(width)])
    X = parse_building(sheet)
    assert X.shape == (2, 105)
    assert X.iloc[0].tolist() == list(np.arange(4.0, width))
    with pytest.raises(DataError, match=f"3 columns: expected {width}"):
        parse_building(sheet.iloc[:, :3])
