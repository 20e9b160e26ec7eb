"""Swaps of variables that could stand for each other: exact, and worth it."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare
from strategies import make_design

from interplay.data.design import Design, design
from interplay.inference import sample as module
from interplay.inference.rivals import MOST_RIVALS, SHARPNESS, Rivals, propose_swap, rivals
from interplay.inference.target import Target, target
from interplay.model.priors import SKIM


def with_correlation(correlation: np.ndarray, n: int = 200, seed: int = 0) -> np.ndarray:
    """Columns with just this correlation."""
    z = np.random.default_rng(seed).normal(size=(n, len(correlation)))
    z -= z.mean(axis=0)
    white = z @ np.linalg.inv(np.linalg.cholesky(z.T @ z / n)).T
    return white @ np.linalg.cholesky(correlation).T


def a_chain_of_rivals() -> Design:
    """Variables 0 – 1 – 2, of which the ends are no rivals; 3 stands alone."""
    correlation = np.eye(4)
    for (i, j), r in {(0, 1): 0.85, (1, 2): -0.9, (0, 2): -0.6}.items():
        correlation[i, j] = correlation[j, i] = r
    return design(with_correlation(correlation), np.random.default_rng(1).normal(size=200))


def listed(found: Rivals) -> list[list[int]]:
    there = np.isfinite(found.log_weights)
    return [others[kept].tolist() for others, kept in zip(np.asarray(found.others), there, strict=True)]


def test_finds_those_with_much_correlation_of_either_sign() -> None:
    found = rivals(a_chain_of_rivals())
    assert found
    assert listed(found) == [[1], [0, 2], [1], []]
    assert found.others.shape == found.log_weights.shape == (4, 3)
    padding = ~np.isfinite(found.log_weights)
    assert_array_equal(np.asarray(found.others)[padding], np.nonzero(padding)[0])


def test_weights_are_powers_of_the_correlation() -> None:
    correlation = np.full((3, 3), 0.9)
    correlation[0, 1] = correlation[1, 0] = 0.99
    np.fill_diagonal(correlation, 1.0)
    found = rivals(design(with_correlation(correlation), np.random.default_rng(1).normal(size=200)))
    near, far = 0.99**SHARPNESS, 0.9**SHARPNESS
    assert_allclose(np.exp(found.log_weights), [[near, far], [near, far], [far, far]], rtol=1e-5)
    assert_allclose(np.exp(found.log_totals), [near + far, near + far, 2 * far], rtol=1e-5)


def test_none_among_independent_columns() -> None:
    found = rivals(make_design(1, n=60, numbers=5, factors=[3]))
    assert not found
    assert_array_equal(found.log_totals, -np.inf)


def test_a_factor_counts_as_one_variable() -> None:
    random = np.random.default_rng(2)
    levels = np.arange(60) % 3
    number = (levels == 1) + 0.05 * random.normal(size=60)
    frame = pd.DataFrame(
        {"x": number, "site": np.array(["a", "b", "c"])[levels], "z": random.normal(size=60)}
    )
    # The columns of the factor go along with each other, and that is no rivalry.
    assert listed(rivals(design(frame, random.normal(size=60)))) == [[1], [0], []]


@pytest.mark.parametrize("size", [6, 2 * MOST_RIVALS])
def test_the_relation_is_symmetric(size: int) -> None:
    random = np.random.default_rng(3)
    X = random.normal(size=(40, 1)) + 0.25 * random.normal(size=(40, size))
    rivalry = rivals(design(X, random.normal(size=40)))
    found = listed(rivalry)
    assert max(map(len, found)) > 2
    assert all(len(others) <= MOST_RIVALS for others in found)
    weights = {
        (i, j): weight
        for i, others in enumerate(found)
        for j, weight in zip(others, np.asarray(rivalry.log_weights[i]).tolist(), strict=False)
    }
    assert all(weights[j, i] == weight for (i, j), weight in weights.items())


def chances(x: np.ndarray, rivalry: Rivals) -> dict[frozenset[int], float]:
    """Chance of each swap, by listing them: a variable by its λ, then one of its rivals by its weight."""
    others, weights = listed(rivalry), np.exp(rivalry.log_weights)
    first = np.array([np.exp(value) if mine else 0.0 for value, mine in zip(x, others, strict=True)])
    found: dict[frozenset[int], float] = {}
    for i, mine in enumerate(others):
        for j, weight in zip(mine, weights[i], strict=False):
            pair = frozenset({i, j})
            found[pair] = found.get(pair, 0.0) + first[i] / first.sum() * weight / weights[i].sum()
    return found


@pytest.fixture
def small() -> tuple[Target, Rivals, np.ndarray, np.ndarray]:
    """A target, its rivals, a position and the coordinates of log λ in it."""
    made = a_chain_of_rivals()
    posterior = target(made, SKIM())
    x = np.random.default_rng(4).normal(size=posterior.dimension)
    start = sum(int(np.prod(shape)) for name, shape in posterior.shapes.items() if name < "log_lam")
    return posterior, rivals(made), x, start + np.arange(4)


def test_the_ratio_is_that_of_listed_chances(small: tuple[Target, Rivals, np.ndarray, np.ndarray]) -> None:
    posterior, found, x, coordinates = small
    keys = jax.random.split(jax.random.key(0), 4000)
    proposals, ratios = jax.vmap(lambda key: propose_swap(found, posterior, jnp.asarray(x), key))(keys)
    before = chances(x[coordinates], found)
    seen = dict.fromkeys(before, 0)
    for proposal, ratio in zip(np.asarray(proposals), np.asarray(ratios), strict=True):
        changed = np.flatnonzero(proposal != x)
        pair = frozenset((changed - coordinates[0]).tolist())
        assert pair in before
        assert_allclose(proposal[changed], x[changed[::-1]])
        after = chances(proposal[coordinates], found)
        assert ratio == pytest.approx(np.log(after[pair] / before[pair]), abs=1e-12)
        seen[pair] += 1
    # The proposals come as often as listed.
    observed = [seen[pair] for pair in before]
    assert chisquare(observed, [4000 * chance for chance in before.values()]).pvalue > 0.001


def test_the_way_back_has_the_opposite_ratio(small: tuple[Target, Rivals, np.ndarray, np.ndarray]) -> None:
    posterior, found, x, _ = small
    key = jax.random.key(5)
    there, ratio = propose_swap(found, posterior, jnp.asarray(x), key)
    for other in jax.random.split(key, 50):
        back, opposite = propose_swap(found, posterior, there, other)
        if np.array_equal(back, x):
            assert float(opposite) == pytest.approx(-float(ratio))
            return
    pytest.fail("no proposal went back")


def test_only_the_likelihood_tells_a_swap(small: tuple[Target, Rivals, np.ndarray, np.ndarray]) -> None:
    posterior, found, x, _ = small
    swapped, _ = propose_swap(found, posterior, jnp.asarray(x), jax.random.key(1))
    n, p = posterior.n, posterior.p
    values = [
        posterior.prior.log_density(posterior.unflatten(position), n, p)
        for position in (jnp.asarray(x), swapped)
    ]
    assert float(values[0]) == pytest.approx(float(values[1]), rel=1e-12)


def two_blocks() -> Design:
    """Two blocks of three columns with a correlation of 0.98 within them, among thirty."""
    random = np.random.default_rng(1)
    X = random.normal(size=(100, 30))
    for block in (slice(0, 3), slice(3, 6)):
        X[:, block] = np.sqrt(0.98) * random.normal(size=(100, 1)) + np.sqrt(0.02) * X[:, block]
    return design(X, X[:, 0] + X[:, 3] + X[:, 0] * X[:, 3] + random.normal(size=100))


@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_swaps_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    made = two_blocks()
    found = []
    for swaps in (True, False):
        if not swaps:
            none = Rivals(jnp.zeros((30, 0), dtype=int), jnp.zeros((30, 0)), jnp.full(30, -jnp.inf))
            monkeypatch.setattr(module, "rivals", lambda design, none=none: none)
        draws, _ = module.sample(made, SKIM(), draws=200, seed=1, progress=False)
        kappa = draws.hyperparameters["kappa"]
        leaders = np.stack([kappa[:, :, :3].argmax(axis=2), kappa[:, :, 3:6].argmax(axis=2)])
        found.append(int(np.count_nonzero(np.diff(leaders, axis=2))))
    assert found[0] > 2 * found[1]
