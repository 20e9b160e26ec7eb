"""Arrays that grow in place: the same as joining them anew each time."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from interplay.inference.kept import SPARSE, Kept, length


def chunk(seed: int, length: int = 5) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {
        "sigma": random.normal(size=(4, length)),
        "kappa": random.normal(size=(4, length, 7)).astype(np.float32),
        "main_sd": random.normal(size=(4, -(-length // SPARSE), 7)),
        "steps": random.integers(9, size=(4, length)),
    }


def joined(*chunks: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: np.concatenate([part[name] for part in chunks], axis=1) for name in chunks[0]}


def same(found: Kept, expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert_array_equal(found[name], values)
        assert found[name].dtype == values.dtype


@pytest.mark.parametrize("at_once", [1, 1000, 2**28])
def test_grows_as_by_joining(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interplay.inference.kept.AT_ONCE", at_once)
    kept, chunks = Kept(), [chunk(seed) for seed in range(9)]
    for count, new in enumerate(chunks, start=1):
        kept = kept.more(new)
        assert length(kept) == 5 * count
        same(kept, joined(*chunks[:count]))


def test_the_shorter_one_stays_and_two_of_one_are_apart() -> None:
    first = Kept().more(chunk(0))
    one = first.more(chunk(1))
    other = first.more(chunk(2))
    same(first, chunk(0))
    same(one, joined(chunk(0), chunk(1)))
    same(other, joined(chunk(0), chunk(2)))


def test_does_not_copy_what_is_there() -> None:
    kept = Kept().more(chunk(0))
    longer = kept.more(chunk(1))
    assert np.shares_memory(kept["kappa"], longer["kappa"])


def test_goes_on_from_plain_arrays() -> None:
    same(Kept(chunk(0)).more(chunk(1, length=2)), joined(chunk(0), chunk(1, length=2)))


@pytest.mark.parametrize(("draws", "sparse"), [(1, 1), (5, 1), (6, 2), (50, 2)])
def test_the_first_have_what_belongs_to_them(draws: int, sparse: int) -> None:
    whole = joined(chunk(0), chunk(1))
    first = Kept(whole).first(draws)
    for name, values in first.items():
        assert_array_equal(values, whole[name][:, : sparse if name == "main_sd" else draws])
