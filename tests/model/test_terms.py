"""Terms: labels there and back, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from interplay.data.design import Design, design
from interplay.data.errors import DataError
from interplay.model import terms as t


@pytest.fixture(scope="module")
def study() -> Design:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "bmi": random.normal(size=30),
            "site": np.array(["Rome", "Oslo", "Bonn"])[np.arange(30) % 3],
            "bp": random.normal(size=30),
            "sex": np.arange(30) % 2,
            "a:b": random.normal(size=30),
            "a": random.normal(size=30),
            "b": random.normal(size=30),
        }
    )
    return design(frame, random.normal(size=30))


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("1", ["1"]),
        ("bmi", ["bmi"]),
        ("bp:bmi", ["bmi:bp"]),
        ("bmi^2", ["bmi^2"]),
        ("bmi:bmi", ["bmi^2"]),
        ("site[Oslo]", ["site[Oslo]"]),
        ("site", ["site[Bonn]", "site[Oslo]", "site[Rome]"]),
        ("site[Rome]:bmi", ["bmi:site[Rome]"]),
        ("bmi:site:bp", ["bmi:site[Bonn]:bp", "bmi:site[Oslo]:bp", "bmi:site[Rome]:bp"]),
        (("a:b", "bmi"), ["bmi:a:b"]),
        (("a", "b"), ["a:b"]),
        ((), ["1"]),
    ],
)
def test_parse_and_label(study: Design, text: str, labels: list[str]) -> None:
    assert [t.label(term, study) for term in t.parse(text, study)] == labels


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bmj", "Did you mean 'bmi'"),
        ("bmi:pb", "'pb' is not a variable"),
        (("bmi", "pb"), "'pb' is not a variable"),
        ("sex^2", "binary, and has no quadratic effect"),
        ("site^2", "categorical, and has no quadratic effect"),
        ("site[Rome]:site[Oslo]", "categorical, and has no quadratic effect"),
        ("bmi:bmi:bp", "repeats a variable"),
        ("bmi^2:bp", "repeats a variable"),
        ("a:b", "can be read in 2 ways"),
        ("", "There is no term ''"),
    ],
)
def test_what_is_no_term_is_refused(study: Design, text: str, words: str) -> None:
    with pytest.raises(DataError, match=words.replace("^", r"\^").replace("[", r"\[")):
        t.parse(text, study)


@pytest.mark.parametrize("degree", [2, 3, 4])
@pytest.mark.parametrize("quadratic", [True, False])
def test_dimension_counts_monomials(study: Design, degree: int, quadratic: bool) -> None:
    listed = t.monomials(study, degree, quadratic=quadratic)
    assert t.dimension(study, degree, quadratic=quadratic) == len(listed) == len(set(listed))


def test_kinds() -> None:
    assert [t.kind(term) for term in [(), (3,), (3, 3), (3, 5), (1, 2, 3)]] == [
        "intercept",
        "main",
        "quadratic",
        "pair",
        "3-way",
    ]
