"""Fits saved by version 0.1.0 open, and answer as they did then."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from interplay.model.families import Gaussian
from interplay.model.priors import SKIM
from interplay.results.files import load
from interplay.results.fit import Fit

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def fit() -> Fit:
    return load(DATA / "fit_0_1_0.nc")


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    """What version 0.1.0 answered."""
    return json.loads((DATA / "fit_0_1_0.json").read_text())


def same(table: pd.DataFrame, expected: dict[str, list[Any]]) -> None:
    earlier = pd.DataFrame(expected).set_index("term")
    assert set(table["term"]) == set(earlier.index)
    now = table.set_index("term").loc[earlier.index]
    for column in earlier:
        np.testing.assert_allclose(now[column], earlier[column], rtol=1e-6, atol=1e-6)


def test_effects(fit: Fit, answers: dict[str, Any]) -> None:
    same(fit.effects(), answers["effects"])
    same(fit.top_pairs(5), answers["top_pairs"])


def test_predictions(fit: Fit, answers: dict[str, Any]) -> None:
    mean, sd = fit.predict(pd.DataFrame(answers["rows"]), return_std=True)
    np.testing.assert_allclose(mean, answers["mean"], rtol=1e-6)
    np.testing.assert_allclose(sd, answers["sd"], rtol=1e-6)
    shares = fit.variance_shares().mean()
    for name, share in answers["shares"].items():
        assert shares[name] == pytest.approx(share, abs=1e-6)


def test_the_noise_scale_of_the_prior_is_the_familys(fit: Fit, tmp_path: Path) -> None:
    assert fit.family == Gaussian(noise_scale=1.5)
    assert fit.prior == SKIM()
    assert "SKIM(), Gaussian(noise_scale=1.5)" in str(fit)
    fit.save(tmp_path / "again.nc")
    assert load(tmp_path / "again.nc").family == fit.family
