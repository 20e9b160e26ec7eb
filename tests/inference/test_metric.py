"""The metric: the precision of the coordinates that move, learned from forces."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from interplay.inference.moves.metric import (
    LARGEST_FORCE,
    LARGEST_SCALE,
    PRIOR_FORCES,
    TRACKED,
    Metric,
)

LOCAL = np.arange(3, 13)
"""Ten coordinates of variables behind three global ones."""

EVERYTHING = np.arange(13)


def precision(seed: int = 0) -> np.ndarray:
    """Of all coordinates, with eigenvalues that no bound touches."""
    mix = np.random.default_rng(seed).normal(size=(13, 13)) / 4
    return 20.0 * np.eye(13) + 60.0 * mix @ mix.T


def lessons(P: np.ndarray, count: int, *, all_move: bool = False) -> list[dict[str, np.ndarray]]:
    """Forces of a normal density with this precision, on random sets of coordinates."""
    random = np.random.default_rng(1)
    forces = random.multivariate_normal(np.zeros(len(P)), P, size=count)
    found = []
    for force in forces:
        moving = LOCAL if all_move else LOCAL[random.random(LOCAL.size) < 0.7]
        coordinates = np.concatenate([np.arange(3), moving])
        found.append({"coordinates": coordinates, "force": force[coordinates]})
    return found


@pytest.fixture
def first() -> Metric:
    return Metric.first(13, LOCAL, 0.1)


def test_the_first_is_a_guess_for_each_coordinate(first: Metric) -> None:
    root = first.root(EVERYTHING)
    assert_allclose(root @ root.T, np.diag([0.1, 0.3, 0.3, *[0.4] * 10]) ** 2, rtol=1e-12)


def test_is_kept_as_arrays(first: Metric) -> None:
    learned = first.learned(lessons(precision(), 40), LOCAL, 1.0)
    assert_array_equal(Metric.from_arrays(learned.arrays()).root(EVERYTHING), learned.root(EVERYTHING))


def test_many_forces_give_the_inverse_of_their_precision(first: Metric) -> None:
    P = precision()
    learned = first.learned(lessons(P, 20_000), LOCAL, 1.0)
    for some in (EVERYTHING, np.array([0, 1, 2, 5, 9])):
        root = learned.root(some)
        assert_allclose(root @ root.T, np.linalg.inv(P[np.ix_(some, some)]), atol=0.002)


def test_few_forces_are_drawn_towards_the_guess(first: Metric) -> None:
    told = lessons(precision(), 5, all_move=True)
    outer = sum(np.multiply.outer(lesson["force"], lesson["force"]) for lesson in told)
    guess = np.diag(first.guess**-2.0)
    expected = (outer + PRIOR_FORCES * guess) / (5 + PRIOR_FORCES)
    root = first.learned(told, LOCAL, 1.0).root(EVERYTHING)
    assert_allclose(np.linalg.inv(root @ root.T), expected, rtol=1e-8)


def test_lessons_in_two_parts_are_those_in_one(first: Metric) -> None:
    told = lessons(precision(), 30)
    once = first.learned(told, LOCAL, 1.0)
    twice = first.learned(told[:11], LOCAL, 1.0).learned(told[11:], LOCAL, 1.0)
    assert_allclose(twice.root(EVERYTHING), once.root(EVERYTHING), rtol=1e-9, atol=1e-12)


def test_old_forces_can_be_forgotten(first: Metric) -> None:
    old, new = lessons(precision(2), 30, all_move=True), lessons(precision(3), 30, all_move=True)
    kept = first.learned(old, LOCAL, 1.0).learned(new, LOCAL, 1e-9)
    assert_allclose(kept.counts, 30.0, atol=1e-6)
    assert_allclose(kept.sums, first.learned(new, LOCAL, 1.0).sums, atol=1e-4)


def test_no_direction_is_wider_than_the_bound_and_no_force_too_large(first: Metric) -> None:
    weak = [{"coordinates": EVERYTHING, "force": np.full(13, 1e-6)} for _ in range(1000)]
    widths = np.linalg.svd(first.learned(weak, LOCAL, 1.0).root(EVERYTHING), compute_uv=False)
    assert_allclose(widths.max(), LARGEST_SCALE)
    huge = first.learned([{"coordinates": EVERYTHING, "force": np.full(13, 1e9)}], LOCAL, 1.0)
    assert_allclose(huge.sums, LARGEST_FORCE**2)


def test_those_that_moved_most_are_tracked() -> None:
    local = np.arange(1, 201)
    metric = Metric.first(201, local, 0.1)
    often = local[50 : 50 + TRACKED]
    told = [{"coordinates": np.append(0, often), "force": np.ones(TRACKED + 1)} for _ in range(3)]
    told.append({"coordinates": np.array([0, 7]), "force": np.ones(2)})
    assert_array_equal(np.sort(metric.learned(told, local, 1.0).tracked), np.append(0, often))
