"""How much variables have to say, alone and in pairs."""

from functools import reduce
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from strategies import make_design

from interplay.data.design import design
from interplay.inference.search.screen import VARIANCE, screen


def test_screen_is_the_sum_of_bayes_factors_of_single_features() -> None:
    made = make_design(5, n=25, numbers=3, factors=[3])
    information = 25 * VARIANCE

    def log_factor(feature: np.ndarray) -> float:
        z_sq = (feature @ made.y) ** 2 / (feature @ feature * made.y.var())
        return 0.5 * z_sq * information / (1 + information) - 0.5 * np.log1p(information)

    expected = np.full(made.p, -np.inf)
    for column in range(made.d):
        partners = [other for other in range(made.d) if made.owner[other] != made.owner[column]]
        pairs = [log_factor(made.X[:, column] * made.X[:, other]) for other in partners]
        score = reduce(np.logaddexp, [log_factor(made.X[:, column]), *pairs])
        expected[made.owner[column]] = max(expected[made.owner[column]], score)
    assert_allclose(screen(made, 1).scores, expected, rtol=1e-4, atol=1e-4)

    together = {
        (a, b): max(
            sum(log_factor(feature) for feature in (x, z, x * z))
            for x in made.X[:, made.owner == a].T
            for z in made.X[:, made.owner == b].T
        )
        for a, b in combinations(range(made.p), 2)
    }
    ordered = sorted(together, key=lambda pair: -together[pair])
    assert [tuple(pair) for pair in screen(made, 100).pairs.tolist()] == ordered
    assert [tuple(pair) for pair in screen(made, 1).pairs.tolist()] == ordered[:1]


def test_screen_has_the_best_pairs_of_all_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_design(6, n=25, numbers=23, factors=[])
    whole = screen(made, 12)
    monkeypatch.setattr("interplay.inference.search.screen.BLOCK", 5)
    assert whole.pairs.tolist() == screen(made, 12).pairs.tolist()
    assert len(np.unique(whole.pairs, axis=0)) == 12


def test_screen_takes_weights_as_copies() -> None:
    random = np.random.default_rng(0)
    X, y, copies = random.normal(size=(20, 4)), random.normal(size=20), random.integers(1, 4, size=20)
    repeated = design(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    weighted, copied = screen(design(X, y, weights=copies), 6), screen(repeated, 6)
    assert_allclose(weighted.scores, copied.scores, rtol=1e-4, atol=1e-4)
    assert weighted.pairs.tolist() == copied.pairs.tolist()
