"""The strongest pairs: the same as looking at all of them."""

import numpy as np
import pytest
from draws import conditional_of
from engines import both_engines
from strategies import make_design, make_variances

from interplay.data.design import Design
from interplay.effects import top_pairs
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.effects.top_pairs import By, strongest_pairs
from interplay.model.engines import KernelSpace
from interplay.model.terms import interactions
from interplay.model.variances import Symmetric, Variances


def problem(
    numbers: int, factors: list[int], n: int, pairs: int = 0
) -> tuple[Design, Conditional, Conditional]:
    made = make_design(21, n=n, numbers=numbers, factors=factors)
    draws = [make_variances(seed, made.p, 2, spread=1.5) for seed in range(3)]
    if pairs:
        draws = [make_variances(30, made.p, 2, pairs=pairs, spread=1.5)] * 2
    sigma = np.linspace(0.5, 1.5, len(draws)).tolist()
    kernel, feature = (conditional_of(engine, made, draws, sigma) for engine in both_engines(made, draws[0]))
    return made, kernel, feature


@pytest.mark.parametrize("by", ["ratio", "mean"])
@pytest.mark.parametrize(("numbers", "factors", "pairs"), [(12, [], 0), (6, [3, 2], 0), (8, [3], 2)])
def test_equals_looking_at_all(
    by: By, numbers: int, factors: list[int], pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"SIDE": 5, "LEAST_BOUNDED": 10, "LEAST_EXACT": 6, "BOUNDED_AT_A_TIME": 4}
    for name, value in sizes.items():
        monkeypatch.setattr(top_pairs, name, value)
    made, kernel, feature = problem(numbers, factors, n=18, pairs=pairs)
    mirrored = {v.start for v in made.variables if len(v.levels) == 2}
    terms = [term for term in interactions(made, range(made.p)) if not mirrored & set(term)]
    mixture = Mixture(*kernel.effects(terms))
    scores = np.abs(mixture.mean) / (mixture.sd if by == "ratio" else 1.0)
    order = np.argsort(-scores)[:6]
    for conditional in (kernel, feature):
        pairs_in_order, posterior = strongest_pairs(conditional, made, 6, by)
        got = np.abs(posterior.mean) / (posterior.sd if by == "ratio" else 1.0)
        np.testing.assert_allclose(got, scores[order], rtol=1e-6)
        assert set(pairs_in_order) == {terms[i] for i in order}


def test_dense_prior_whose_bounds_are_loose(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"LEAST_BOUNDED": 16, "LEAST_EXACT": 8, "FIRST_EXACT": 16}.items():
        monkeypatch.setattr(top_pairs, name, value)
    made = make_design(22, n=15, numbers=20, factors=[])
    component = Symmetric(np.ones(20), np.full(2, 0.3), np.asarray(0.1))
    even = Variances(np.asarray(1.0), (component,), p=20)
    conditional = conditional_of(KernelSpace(made), made, [even, even], [0.5, 0.6])
    terms = interactions(made, range(made.p))
    mixture = Mixture(*conditional.effects(terms))
    scores = np.sort(np.abs(mixture.mean) / mixture.sd)[::-1]
    _, posterior = strongest_pairs(conditional, made, 5)
    np.testing.assert_allclose(np.abs(posterior.mean) / posterior.sd, scores[:5])


def test_more_than_there_are() -> None:
    made, kernel, _ = problem(4, [], n=12)
    assert len(strongest_pairs(kernel, made, 100)[0]) == 6


def test_wrong_arguments() -> None:
    made, kernel, _ = problem(4, [], n=12)
    with pytest.raises(ValueError, match="at least 1"):
        strongest_pairs(kernel, made, 0)
