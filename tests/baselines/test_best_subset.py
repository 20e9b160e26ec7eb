"""The best subset: its coefficients are those of the function that abess fitted."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from interplay.data.design import design
from interplay.data.errors import DataError
from interplay.data.simulate import synthetic

pytest.importorskip("abess", reason="abess is not installed")

from interplay.baselines.best_subset import best_subset


def test_finds_a_strong_signal_and_nothing_else() -> None:
    drawn = synthetic(120, 12, scale=2.0, active=3, noise_variance=1.0, seed=1)
    data = design(drawn.X, drawn.y, standardize=False)
    found = best_subset(data)
    assert set(found.selected) == set(drawn.effects)
    assert_allclose([found.effects[term] for term in drawn.effects], 1.0, atol=0.3)
    assert_allclose(found.predict(data.X), found.fitted, atol=1e-9)
    assert found.penalty == len(drawn.effects)


def test_is_least_squares_on_what_it_selects() -> None:
    drawn = synthetic(60, 10, scale=2.0, seed=2)
    data = design(drawn.X, drawn.y)
    found = best_subset(data, seed=3, most=8)
    assert 0 < len(found.selected) <= 8
    features = np.column_stack([np.prod(data.X[:, list(term)], axis=1) for term in found.terms])
    expected, *_ = np.linalg.lstsq(features, data.y)
    assert_allclose(found.coefficients, expected, atol=1e-8)


def test_too_few_rows_are_refused() -> None:
    drawn = synthetic(4, 6, seed=0)
    with pytest.raises(DataError, match="folds=5 for 4 rows"):
        best_subset(design(drawn.X, drawn.y))
