"""Linked and near-equal columns: correlations as they are meant, and repeatable."""

import numpy as np
import pytest
from experiments.linked import CROSSES, LINKED, cross, moderate, near_equal


@pytest.mark.parametrize("kind", LINKED)
def test_they_repeat_and_differ_by_seed(kind: str) -> None:
    first, again, other = LINKED[kind](seed=1), LINKED[kind](seed=1), LINKED[kind](seed=2)
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.y, again.y)
    assert not np.array_equal(first.y, other.y)


@pytest.mark.parametrize("kind", CROSSES)
def test_neighbouring_markers_recombine_as_in_inbred_lines(kind: str) -> None:
    together = np.concatenate([cross(kind, seed).X.reshape(158, 5, 23) for seed in range(40)])
    single = 0.5 * (1.0 - np.exp(-CROSSES[kind][0] / 100.0))
    share = np.mean(together[:, :, 1:] != together[:, :, :-1])
    half = 2.0 * single / (1.0 + 2.0 * single)
    assert share == pytest.approx(2.0 * half * (1.0 - half), rel=0.03)
    assert set(np.unique(together)) == {-1.0, 1.0}


def test_near_equal_columns_come_in_blocks() -> None:
    made = near_equal(seed=0, n=20_000)
    found = np.corrcoef(made.X, rowvar=False)
    inside = np.kron(np.eye(20), np.ones((5, 5))).astype(bool)
    assert found[inside & ~np.eye(100, dtype=bool)] == pytest.approx(0.98, abs=0.01)
    assert np.abs(found[~inside]).max() < 0.05
    assert len(set(made.active // 5)) == 5


def test_thirty_moderate_effects_explain_half_and_more() -> None:
    made = moderate(seed=0, n=5000, p=60)
    assert len(made.active) == 20
    assert 1.5 < made.y.var() < 5.0
