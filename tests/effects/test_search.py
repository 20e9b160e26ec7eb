"""The strongest pairs: the same as looking at all of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from strategies import make_design, make_variances

from interplay.data.design import Design
from interplay.effects import search
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.effects.search import By, strongest_pairs
from interplay.model.kernelspace import kernel_space
from interplay.model.terms import interactions
from interplay.model.variances import Variances
from interplay.model.weightspace import weight_space


def problem(
    numbers: int, factors: list[int], n: int, pairs: int = 0
) -> tuple[Design, Conditional, Conditional]:
    made = make_design(21, n=n, numbers=numbers, factors=factors)
    draws = [make_variances(seed, made.p, 2, spread=1.5) for seed in range(3)]
    if pairs:
        draws = [make_variances(30, made.p, 2, pairs=pairs, spread=1.5)] * 2
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *draws)
    sigma = np.linspace(0.5, 1.5, len(draws))
    engines = kernel_space(made, draws[0].pairs), weight_space(made, draws[0].pairs)
    kernel, weight = (Conditional(engine, stacked, sigma) for engine in engines)
    return made, kernel, weight


@pytest.mark.parametrize("by", ["ratio", "mean"])
@pytest.mark.parametrize(("numbers", "factors", "pairs"), [(12, [], 0), (6, [3, 2], 0), (8, [3], 2)])
def test_equals_looking_at_all(
    by: By, numbers: int, factors: list[int], pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "BLOCK", 5)
    for name, value in (("WIDE", 10), ("CANDIDATES", 6), ("LISTED", 4)):
        monkeypatch.setattr(search, name, value)
    made, kernel, weight = problem(numbers, factors, n=18, pairs=pairs)
    mirrored = {v.start for v in made.variables if len(v.levels) == 2}
    terms = [term for term in interactions(made, range(made.p)) if not mirrored & set(term)]
    mixture = Mixture(*kernel.effects(terms))
    scores = np.abs(mixture.mean) / (mixture.sd if by == "ratio" else 1.0)
    order = np.argsort(-scores)[:6]
    for conditional in (kernel, weight):
        found, posterior = strongest_pairs(conditional, made, 6, by)
        got = np.abs(posterior.mean) / (posterior.sd if by == "ratio" else 1.0)
        np.testing.assert_allclose(got, scores[order], rtol=1e-6)
        assert set(found) == {terms[i] for i in order}


def test_dense_prior_whose_bounds_are_loose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "WIDE", 16)
    monkeypatch.setattr(search, "CANDIDATES", 8)
    monkeypatch.setattr(search, "TERMS", 16)
    made = make_design(22, n=15, numbers=20, factors=[])
    even = Variances(jnp.ones(2), jnp.ones((2, 1, 20)), jnp.full((2, 1, 2), 0.3), jnp.full((2, 1), 0.1))
    conditional = Conditional(kernel_space(made), even, np.array([0.5, 0.6]))
    terms = interactions(made, range(made.p))
    mixture = Mixture(*conditional.effects(terms))
    scores = np.sort(np.abs(mixture.mean) / mixture.sd)[::-1]
    _, found = strongest_pairs(conditional, made, 5)
    np.testing.assert_allclose(np.abs(found.mean) / found.sd, scores[:5])


def test_more_than_there_are() -> None:
    made, kernel, _ = problem(4, [], n=12)
    assert len(strongest_pairs(kernel, made, 100)[0]) == 6


def test_wrong_arguments() -> None:
    made, kernel, _ = problem(4, [], n=12)
    with pytest.raises(ValueError, match="at least 1"):
        strongest_pairs(kernel, made, 0)
