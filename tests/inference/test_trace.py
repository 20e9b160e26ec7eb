"""Arrays that grow in place: the same as joining them anew each time."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from interplay.inference.trace import SPARSE, Draw, Trace


def chunk(seed: int, length: int = 5) -> Draw:
    random = np.random.default_rng(seed)
    return Draw(
        hyperparameters={
            "sigma": random.normal(size=(4, length)),
            "kappa": random.normal(size=(4, length, 7)).astype(np.float32),
        },
        main_mean=random.normal(size=(4, length, 7)),
        main_sd=random.normal(size=(4, -(-length // SPARSE), 7)),
        log_density=random.normal(size=(4, length)),
        statistics={"steps": random.integers(9, size=(4, length)).astype(np.float64)},
    )


def arrays(part: Draw | Trace) -> dict[str, np.ndarray]:
    own = {name: getattr(part, name) for name in ("main_mean", "main_sd", "log_density")}
    return {**part.hyperparameters, **part.statistics, **own}


def joined(*chunks: Draw) -> dict[str, np.ndarray]:
    parts = [arrays(part) for part in chunks]
    return {name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]}


def same(found: Trace, expected: dict[str, np.ndarray]) -> None:
    for values in (arrays(found), arrays(found.as_draw())):
        assert values.keys() == expected.keys()
        for name in expected:
            assert_array_equal(values[name], expected[name])
            assert values[name].dtype == expected[name].dtype


@pytest.mark.parametrize("most", [1, 1000, 2**28])
def test_grows_as_by_joining(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interplay.inference.trace.MAX_BYTES", most)
    trace, chunks = Trace(), [chunk(seed) for seed in range(9)]
    assert len(trace) == 0
    for count, new in enumerate(chunks, start=1):
        trace = trace.extended(new)
        assert len(trace) == 5 * count
        same(trace, joined(*chunks[:count]))


def test_the_shorter_one_stays_and_two_of_one_are_apart() -> None:
    for before in (Trace().extended(chunk(0)), Trace().extended(chunk(0)).extended(chunk(1))):
        parts = [chunk(0), chunk(1)][: len(before) // 5]
        one = before.extended(chunk(2))
        other = before.extended(chunk(3))
        same(before, joined(*parts))
        same(one, joined(*parts, chunk(2)))
        same(other, joined(*parts, chunk(3)))
        same(one.extended(chunk(4)), joined(*parts, chunk(2), chunk(4)))


def test_does_not_copy_what_is_there() -> None:
    trace = Trace().extended(chunk(0)).extended(chunk(1))
    longer = trace.extended(chunk(2))
    assert np.shares_memory(trace.hyperparameters["kappa"], longer.hyperparameters["kappa"])


def test_goes_on_from_plain_arrays() -> None:
    # As after a checkpoint was read, whose arrays come in one piece.
    whole = Draw(**{name: getattr(chunk(0), name) for name in Draw.__dataclass_fields__})
    same(Trace().extended(whole).extended(chunk(1, length=2)), joined(chunk(0), chunk(1, length=2)))


def test_an_empty_one_has_no_arrays() -> None:
    with pytest.raises(ValueError, match="no draws yet"):
        _ = Trace().main_mean
    assert Trace().hyperparameters == Trace().statistics == {}


@pytest.mark.parametrize(("draws", "sparse"), [(1, 1), (5, 1), (6, 2), (50, 2)])
def test_the_first_have_what_belongs_to_them(draws: int, sparse: int) -> None:
    whole = joined(chunk(0), chunk(1))
    first = Trace().extended(chunk(0)).extended(chunk(1)).first(draws)
    assert len(first) == min(draws, 10)
    for name, values in arrays(first).items():
        assert_array_equal(values, whole[name][:, : sparse if name == "main_sd" else draws])
