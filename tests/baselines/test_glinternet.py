"""R's glinternet: the way back from R; and the fit itself where R and the package are installed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from interplay.baselines import glinternet as module
from interplay.baselines.glinternet import available, glinternet
from interplay.data.design import design
from interplay.data.errors import DataError
from interplay.data.simulate import synthetic


def test_what_r_writes_becomes_an_estimate() -> None:
    found = np.array([[0, 0, 0.5], [1, 0, 2.0], [3, 0, 1e-16], [3, 1, -1.0]])
    made = module._estimate(found, np.zeros(2), 0.1)
    assert made.effects == {(): 0.5, (0,): 2.0, (0, 2): -1.0}
    assert made.selected == ((0,), (0, 2))


def test_without_r_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    drawn = synthetic(20, 6, seed=0)
    assert not available()
    with pytest.raises(ImportError, match="no Rscript on the PATH"):
        glinternet(design(drawn.X, drawn.y))


def test_factors_are_refused() -> None:
    data = design({"site": ["a", "b"] * 10, "x": np.arange(20.0), "y": np.arange(20.0) ** 2}, "y")
    with pytest.raises(DataError, match="got factors"):
        glinternet(data)


@pytest.mark.skipif(not available(), reason="R or its package glinternet is not installed")
def test_coefficients_reproduce_the_fitted_values() -> None:
    drawn = synthetic(120, 12, scale=2.0, active=3, noise_variance=1.0, seed=1)
    data = design(drawn.X, drawn.y)
    found = glinternet(data)
    assert set(drawn.effects) <= set(found.selected)
    assert_allclose(found.predict(data.X), found.fitted, atol=1e-8)
