"""The effect table."""

import numpy as np
import pytest
from strategies import make_design

from interplay.effects.mixture import Mixture
from interplay.results.tables import effect_table

COLUMNS = ["term", "kind", "mean", "sd", "lower", "upper", "prob_positive", "lfsr"]
COLUMNS += ["mean_natural", "lower_natural", "upper_natural", "selected"]


def test_columns_order_and_scales() -> None:
    made = make_design(41, n=12, numbers=3, factors=[])
    terms = [(), (0,), (1,), (0, 1), (2, 2)]
    mixture = Mixture(np.array([[0.1, 0.2, -3.0, 9.0, 0.0]]), np.array([[1.0, 1.0, 1.0, 1.0, 0.0]]))
    table = effect_table(made, terms, mixture)
    assert list(table.columns) == COLUMNS
    assert table["kind"].tolist() == ["pair", "main", "main", "intercept", "quadratic"]
    assert table["selected"].tolist() == [True, True, False, False, False]
    assert table["lfsr"].is_monotonic_increasing
    excludes_zero = (table["lower"] > 0) | (table["upper"] < 0)
    np.testing.assert_array_equal(excludes_zero, table["lfsr"] <= 0.05)
    pair = table.set_index("kind").loc["pair"]
    unit = made.response_scale / (made.scales[0] * made.scales[1])
    np.testing.assert_allclose(
        pair[["mean_natural", "lower_natural"]].to_numpy(float),
        unit * pair[["mean", "lower"]].to_numpy(float),
    )
    intercept = table.set_index("kind").loc["intercept"]
    assert intercept["mean_natural"] == pytest.approx(0.1 * made.response_scale + made.response_centre)


def test_paper_rule_asks_for_the_mains() -> None:
    made = make_design(41, n=12, numbers=3, factors=[])
    mixture = Mixture(np.array([[9.0, 0.0, 9.0]]), np.ones((1, 3)))
    table = effect_table(made, [(0,), (1,), (0, 1)], mixture, rule="paper").set_index("kind")
    assert not table.loc["pair", "selected"]


def test_paper_rule_refuses_pairs_without_their_mains() -> None:
    made = make_design(41, n=12, numbers=3, factors=[])
    with pytest.raises(ValueError, match="those of 1 of their columns are not in this table"):
        effect_table(made, [(0,), (0, 1)], Mixture(np.ones((1, 2)), np.ones((1, 2))), rule="paper")


def test_wrong_probability() -> None:
    made = make_design(41, n=12, numbers=3, factors=[])
    with pytest.raises(ValueError, match="between 0 and 1"):
        effect_table(made, [(0,)], Mixture(np.ones((1, 1)), np.ones((1, 1))), probability=90.0)
