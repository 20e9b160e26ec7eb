"""The three rules of selection."""

import numpy as np
import pytest
from scipy.stats import norm

from interplay.effects.mixture import Mixture
from interplay.effects.selection import among_selected, select


def with_lfsr(values: list[float]) -> Mixture:
    return Mixture(-norm.ppf(np.array([values])), np.ones((1, len(values))))


def test_lfsr_rule() -> None:
    assert select(with_lfsr([0.001, 0.2, 0.049, 0.051]), "lfsr").tolist() == [True, False, True, False]


def test_fdr_rule_keeps_while_the_mean_is_small() -> None:
    chosen = select(with_lfsr([0.09, 0.001, 0.06, 0.099, 0.07]), "fdr")
    assert chosen.tolist() == [False, True, True, False, True]


def test_fdr_rule_never_takes_an_unsure_term_along() -> None:
    chosen = select(with_lfsr([1e-6] * 10 + [0.3]), "fdr")
    assert chosen.tolist() == [True] * 10 + [False]


def test_paper_rule_uses_the_average_conditional_sd() -> None:
    mixture = Mixture(np.array([[0.0, 0.2], [2.0, 0.3]]), np.array([[0.1, 0.1], [0.1, 0.1]]))
    assert select(mixture, "paper").tolist() == [True, False]


def test_pairs_among_selected_mains() -> None:
    terms = [(0,), (1,), (2,), (0, 1), (0, 2), (0, 0), ()]
    selected = np.array([True, True, False, True, True, True, True])
    assert among_selected(terms, selected).tolist() == [True, True, False, True, False, True, True]


@pytest.mark.parametrize(
    ("arguments", "words"), [(("best", 0.05), "'lfsr', 'fdr'"), (("lfsr", 5.0), "q=5.0")]
)
def test_wrong_arguments(arguments: tuple, words: str) -> None:
    with pytest.raises(Exception, match=words):
        select(with_lfsr([0.1]), *arguments)
