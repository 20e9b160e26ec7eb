"""Random numbers by their place: the same at one place, others elsewhere, whatever was drawn before."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from interplay._support.streams import Streams


def test_one_place_has_the_same_numbers() -> None:
    streams = Streams(7)
    first = streams.at(1, 20, 3, 2).normal(size=50)
    for place in [(0, 0, 0, 0), (1, 20, 3, 1), (1, 21, 3, 2)]:
        streams.at(*place).normal(size=1000)
    np.testing.assert_array_equal(streams.at(1, 20, 3, 2).normal(size=50), first)
    np.testing.assert_array_equal(Streams(7).at(1, 20, 3, 2).normal(size=50), first)


def test_every_place_and_seed_has_its_own() -> None:
    places = list(product(range(3), repeat=4))
    draws = {tuple(Streams(seed).at(*place).integers(0, 2**63, 3)) for seed in (0, 1) for place in places}
    assert len(draws) == 2 * len(places)


@pytest.mark.parametrize("axis", range(4))
def test_neighbours_do_not_follow_each_other(axis: int) -> None:
    # A generator that had started within another's sequence would repeat its numbers.
    place = np.ones(4, dtype=int)
    other = place + np.eye(4, dtype=int)[axis]
    one, two = (Streams(3).at(*map(int, p)).integers(0, 2**63, 5000) for p in (place, other))
    assert not set(one.tolist()) & set(two.tolist())


def test_numbers_across_places_are_uniform() -> None:
    streams = Streams(11)
    first = [streams.at(0, iteration, chain).random() for iteration in range(500) for chain in range(4)]
    assert stats.kstest(first, "uniform").pvalue > 0.01
