"""Swaps of correlated neighbours, that could stand for each other: exact, and worth it."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare
from strategies import make_design

from interplay._support.streams import Streams
from interplay.data.design import Design, design
from interplay.inference import run
from interplay.inference.chain import advance
from interplay.inference.moves import ChainState, Swap
from interplay.inference.moves.swap import (
    MOST_NEIGHBOURS,
    SHARPNESS,
    Neighbours,
    correlated_neighbours,
)
from interplay.inference.sample import sample
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM
from interplay.model.priors.base import Scale


def with_correlation(correlation: np.ndarray, n: int = 200, seed: int = 0) -> np.ndarray:
    """Columns with just this correlation."""
    z = np.random.default_rng(seed).normal(size=(n, len(correlation)))
    z -= z.mean(axis=0)
    white = z @ np.linalg.inv(np.linalg.cholesky(z.T @ z / n)).T
    return white @ np.linalg.cholesky(correlation).T


def a_chain_of_neighbours() -> Design:
    """Variables 0 – 1 – 2, of which the ends are no neighbours; 3 stands alone."""
    correlation = np.eye(4)
    for (i, j), r in {(0, 1): 0.85, (1, 2): -0.9, (0, 2): -0.6}.items():
        correlation[i, j] = correlation[j, i] = r
    return design(with_correlation(correlation), np.random.default_rng(1).normal(size=200))


def listed(found: Neighbours) -> list[list[int]]:
    there = np.isfinite(found.log_weights)
    return [others[kept].tolist() for others, kept in zip(found.others, there, strict=True)]


def test_finds_those_with_much_correlation_of_either_sign() -> None:
    found = correlated_neighbours(a_chain_of_neighbours())
    assert found
    assert listed(found) == [[1], [0, 2], [1], []]
    assert found.others.shape == found.log_weights.shape == (4, 2)
    padding = ~np.isfinite(found.log_weights)
    assert_array_equal(found.others[padding], np.nonzero(padding)[0])


def test_weights_are_powers_of_the_correlation() -> None:
    correlation = np.full((3, 3), 0.9)
    correlation[0, 1] = correlation[1, 0] = 0.99
    np.fill_diagonal(correlation, 1.0)
    found = correlated_neighbours(
        design(with_correlation(correlation), np.random.default_rng(1).normal(size=200))
    )
    near, far = 0.99**SHARPNESS, 0.9**SHARPNESS
    assert_allclose(np.exp(found.log_weights), [[near, far], [near, far], [far, far]], rtol=1e-5)
    assert_allclose(np.exp(found.log_totals), [near + far, near + far, 2 * far], rtol=1e-5)


def test_none_among_independent_columns() -> None:
    found = correlated_neighbours(make_design(1, n=60, numbers=5, factors=[3]))
    assert not found
    assert_array_equal(found.log_totals, -np.inf)


def test_a_factor_counts_as_one_variable() -> None:
    random = np.random.default_rng(2)
    levels = np.arange(60) % 3
    number = (levels == 1) + 0.05 * random.normal(size=60)
    frame = pd.DataFrame(
        {"x": number, "site": np.array(["a", "b", "c"])[levels], "z": random.normal(size=60)}
    )
    # The columns of the factor go along with each other, and that makes no neighbours.
    assert listed(correlated_neighbours(design(frame, random.normal(size=60)))) == [[1], [0], []]


@pytest.mark.parametrize("size", [6, 2 * MOST_NEIGHBOURS])
def test_the_relation_is_symmetric(size: int) -> None:
    random = np.random.default_rng(3)
    X = random.normal(size=(40, 1)) + 0.25 * random.normal(size=(40, size))
    near = correlated_neighbours(design(X, random.normal(size=40)))
    found = listed(near)
    assert max(map(len, found)) > 2
    assert all(len(others) <= MOST_NEIGHBOURS for others in found)
    weights = {
        (i, j): weight
        for i, others in enumerate(found)
        for j, weight in zip(others, near.log_weights[i].tolist(), strict=False)
    }
    assert all(weights[j, i] == weight for (i, j), weight in weights.items())


def chances(x: np.ndarray, near: Neighbours) -> dict[frozenset[int], float]:
    """Chance of each swap, by listing them: a variable by its λ, then one of its neighbours by its weight."""
    others, weights = listed(near), np.exp(near.log_weights)
    first = np.array([np.exp(value) if mine else 0.0 for value, mine in zip(x, others, strict=True)])
    found: dict[frozenset[int], float] = {}
    for i, mine in enumerate(others):
        for j, weight in zip(mine, weights[i], strict=False):
            pair = frozenset({i, j})
            found[pair] = found.get(pair, 0.0) + first[i] / first.sum() * weight / weights[i].sum()
    return found


@pytest.fixture
def small() -> tuple[Posterior, Swap, np.ndarray, np.ndarray]:
    """A posterior, its swaps, a position and the coordinates of log λ in it."""
    made = a_chain_of_neighbours()
    posterior = Posterior.of(made, SKIM(), Gaussian())
    x = np.random.default_rng(4).normal(size=posterior.dimension)
    return posterior, Swap(correlated_neighbours(made)), x, posterior.local


def test_the_ratio_is_that_of_listed_chances(small: tuple[Posterior, Swap, np.ndarray, np.ndarray]) -> None:
    posterior, swap, x, coordinates = small
    random = np.random.default_rng(0)
    before = chances(x[coordinates], swap.neighbours)
    seen = dict.fromkeys(before, 0)
    for _ in range(4000):
        proposal, ratio = swap.propose(posterior, x, random)
        changed = np.flatnonzero(proposal != x)
        pair = frozenset((changed - coordinates[0]).tolist())
        assert pair in before
        assert_allclose(proposal[changed], x[changed[::-1]])
        after = chances(proposal[coordinates], swap.neighbours)
        assert ratio == pytest.approx(np.log(after[pair] / before[pair]), abs=1e-12)
        seen[pair] += 1
    # The proposals come as often as listed.
    observed = [seen[pair] for pair in before]
    assert chisquare(observed, [4000 * chance for chance in before.values()]).pvalue > 0.001


def test_the_way_back_has_the_opposite_ratio(small: tuple[Posterior, Swap, np.ndarray, np.ndarray]) -> None:
    posterior, swap, x, _ = small
    random = np.random.default_rng(5)
    there, ratio = swap.propose(posterior, x, random)
    for _ in range(50):
        back, opposite = swap.propose(posterior, there, random)
        if np.array_equal(back, x):
            assert opposite == pytest.approx(-ratio)
            return
    pytest.fail("no proposal went back")


def test_only_the_likelihood_tells_a_swap(small: tuple[Posterior, Swap, np.ndarray, np.ndarray]) -> None:
    posterior, swap, x, _ = small
    swapped, _ = swap.propose(posterior, x, np.random.default_rng(1))
    scale = Scale(posterior.design.n, posterior.p, float(x[0]))
    values = [posterior.prior.log_density(position[1:], scale).value for position in (x, swapped)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_swaps_alone_visit_every_order_as_often_as_the_posterior_has_it() -> None:
    # Swaps take a position to all orders of its λ and to no other, so that the chances are known exactly.
    correlation = np.full((3, 3), 0.97)
    correlation[0, 1] = correlation[1, 0] = 0.99
    np.fill_diagonal(correlation, 1.0)
    X = with_correlation(correlation, n=40)
    made = design(X, X[:, 0] + 0.3 * X[:, 1] + 2.0 * np.random.default_rng(1).normal(size=40))
    posterior = Posterior.of(made, SKIM(expected_mains=1), Gaussian(), precision="float64")
    x = np.concatenate([[np.log(0.9), np.log(0.05), np.log(9.0), 0.0, 0.0], np.log([8.0, 1.0, 0.2])])
    orders = [np.array(order) for order in permutations(range(3))]
    positions = [np.concatenate([x[:5], x[5:][order]]) for order in orders]
    log_density = np.array([posterior.log_density(position) for position in positions])
    chance = np.exp(log_density - np.logaddexp.reduce(log_density))
    assert 0.02 < chance.min() < chance.max() < 0.6
    swap = Swap(correlated_neighbours(made))
    begin = ChainState(x, log_density[0])
    stretch = advance(
        posterior, (swap,), {"swap": {}}, begin, Streams(3), chain=0, phase=2, first=0, iterations=1500
    )
    at = np.array([[np.array_equal(y, z) for z in positions] for y in stretch.positions], dtype=float)
    assert_array_equal(at.sum(axis=1), 1.0)
    batches = at.reshape(30, 50, 6).mean(axis=1)
    z = (batches.mean(axis=0) - chance) / (batches.std(axis=0, ddof=1) / np.sqrt(30))
    assert np.abs(z).max() < 4.0
    assert_allclose(stretch.log_density, at @ log_density, rtol=1e-12)


def two_blocks() -> Design:
    """Two blocks of three columns with a correlation of 0.98 within them, among thirty."""
    random = np.random.default_rng(1)
    X = random.normal(size=(100, 30))
    for block in (slice(0, 3), slice(3, 6)):
        X[:, block] = np.sqrt(0.98) * random.normal(size=(100, 1)) + np.sqrt(0.02) * X[:, block]
    return design(X, X[:, 0] + X[:, 3] + X[:, 0] * X[:, 3] + random.normal(size=100))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_swaps_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    made = two_blocks()
    found = []
    for swaps in (True, False):
        if not swaps:
            none = Neighbours(np.zeros((30, 0), dtype=int), np.zeros((30, 0)), np.full(30, -np.inf))
            monkeypatch.setattr(run, "correlated_neighbours", lambda design, none=none: none)
        draws, _ = sample(made, SKIM(), draws=200, seed=1, progress=False)
        kappa = draws.hyperparameters["kappa"]
        leaders = np.stack([kappa[:, :, :3].argmax(axis=2), kappa[:, :, 3:6].argmax(axis=2)])
        found.append(int(np.count_nonzero(np.diff(leaders, axis=2))))
    assert found[0] > 2 * found[1]
