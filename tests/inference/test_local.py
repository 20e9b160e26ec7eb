"""Which variables are active, and the tables of the conditional laws of their local coordinates."""

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import kstest
from strategies import make_design

from interplay.inference.moves.informed import joint_evidence
from interplay.inference.moves.local import (
    ABOVE,
    ACTIVE,
    BELOW,
    CELL,
    Evidence,
    Locals,
    Tables,
    background_weight,
    log_prior,
    log_prior_above,
    log_prior_below,
    with_background,
)
from interplay.model.engines import KernelSpace
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM


def posterior_of(numbers: int = 5, factors: tuple[int, ...] = (3,), **settings: bool) -> Posterior:
    design = make_design(4, n=16, numbers=numbers, factors=list(factors))
    return Posterior(design, SKIM(**settings), Gaussian(), KernelSpace(design, tolerance=0.0))


@pytest.fixture(scope="module")
def tables() -> Tables:
    posterior = posterior_of()
    x = posterior.sample_prior(np.random.default_rng(0))
    locals_ = Locals.at(posterior, x)
    random = np.random.default_rng(1)
    owner = np.arange(3)
    evidence = Evidence(
        random.gamma(1.0, 30.0, size=(3, 2)), random.gamma(1.0, 10.0, size=(3, 2)), owner, np.full(3, 1e-3)
    )
    return Tables.of(evidence, locals_.scales, locals_.edges[:3])


def test_active_is_a_signal_to_noise_ratio() -> None:
    posterior = posterior_of()
    x = posterior.sample_prior(np.random.default_rng(0))
    x[posterior.local] = np.linspace(-4.0, 6.0, posterior.p)
    locals_ = Locals.at(posterior, x)
    values = posterior.constrain(x)
    main = np.asarray(values["eta1"]) ** 2 * values["kappa"] ** 2
    assert_allclose(locals_.weights, main, rtol=1e-10)
    norms = np.bincount(posterior.design.owner, (posterior.design.X**2).sum(axis=0))
    signal = main * norms / float(values["sigma"]) ** 2
    assert_allclose(np.exp(locals_.log_signal), signal, rtol=1e-10)
    assert 0 < np.count_nonzero(locals_.active) < posterior.p
    np.testing.assert_array_equal(locals_.active, signal >= ACTIVE)


@pytest.mark.parametrize("active", [False, True])
def test_a_law_is_normalised_on_its_side_of_the_edge(tables: Tables, active: bool) -> None:
    for variable, edge in enumerate(tables.edges):
        one = tables.taken(np.array([variable]))
        low, high = edge - BELOW * CELL, edge + ABOVE * CELL
        ends = (edge, high) if active else (low, edge)

        def density(value: float, one: Tables = one) -> float:
            return float(np.exp(one.log_density(np.array([value])))[0])

        cells = np.linspace(*ends, round((ends[1] - ends[0]) / CELL) + 1)
        inside = sum(CELL * density(0.5 * (a + b)) for a, b in pairwise(cells))
        tail = quad(density, high, high + 40) if active else quad(density, low - 40, low)
        assert inside + tail[0] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("active", [False, True])
def test_draws_have_the_density(tables: Tables, active: bool) -> None:
    random, one = np.random.default_rng(2), tables.taken(np.array([1]))
    many = Tables(np.repeat(one.edges, 4000), np.repeat(one.log_mass, 4000, axis=0))
    draws = many.draw(np.full(4000, active), random)
    assert np.all((draws >= one.edges[0]) == active)
    grid = np.linspace(one.edges[0] - 40.0, one.edges[0] + 40.0, 400_001)
    wide = Tables(np.repeat(one.edges, grid.size), np.repeat(one.log_mass, grid.size, axis=0))
    mass = np.exp(wide.log_density(grid)) * ((grid >= one.edges[0]) == active)
    cdf = np.cumsum(mass) / mass.sum()
    assert kstest(draws, lambda value: np.interp(value, grid, cdf)).pvalue > 0.001


def test_odds_are_those_of_the_masses(tables: Tables) -> None:
    total = np.logaddexp(tables.log_active, tables.log_inactive)
    assert_allclose(total, np.logaddexp.reduce(tables.log_mass, axis=1), rtol=1e-12)


def test_the_prior_has_mass_one() -> None:
    for value in (-20.0, -1.0, 0.0, 3.0, 20.0):
        below, above = math.exp(log_prior_below(value)), math.exp(log_prior_above(value))
        assert below + above == pytest.approx(1.0)
    below = quad(lambda value: math.exp(log_prior(value)), -40, 1.5)[0]
    assert below == pytest.approx(math.exp(log_prior_below(1.5)))


def test_the_background_is_the_mean_of_small_weights() -> None:
    posterior = posterior_of()
    x = posterior.sample_prior(np.random.default_rng(5))
    scales, gain = posterior.local_scales(x), 40.0

    def integrand(value: float) -> float:
        weight = math.exp(scales.log_weight(np.array(value)))
        return min(weight, 1.0 / gain) * math.exp(log_prior(np.array(value)))

    edge = float(scales.local(np.array(-math.log(gain))))
    expected = quad(integrand, edge - 25, edge)[0] + quad(integrand, edge, edge + 25)[0]
    assert background_weight(scales, gain) == pytest.approx(expected, rel=1e-3)
    moved = with_background(posterior, x, np.array([1, 3]))
    weights = Locals.at(posterior, moved).weights
    mean_gain = math.exp(float(np.mean(posterior.log_gain(x))))
    assert_allclose(weights[[1, 3]], background_weight(scales, mean_gain), rtol=1e-8)
    others = np.delete(np.arange(x.size), posterior.local[[1, 3]])
    np.testing.assert_array_equal(moved[others], x[others])


def test_the_evidence_of_a_weight_is_the_likelihood_where_all_pairs_are_looked_at() -> None:
    posterior = posterior_of(numbers=4, factors=(3,), quadratic=False)
    x = posterior.sample_prior(np.random.default_rng(2))
    x[posterior.local] = [1.0, -0.5, 0.7, 2.0, 0.3]
    candidates = np.arange(posterior.p)
    for candidate in candidates:
        variances, _ = posterior.model(x)
        factored = posterior.evaluate(x).factored
        partners = np.delete(candidates, candidate)
        evidence = joint_evidence(
            posterior, variances, (factored.lower, factored.alpha), np.array([candidate]), partners
        )
        scales = posterior.local_scales(x)
        places = x[posterior.local[candidate]] + np.array([-3.0, -0.4, 0.0, 0.8])
        found = evidence.log_likelihood(np.exp(scales.log_weight(places))[None])[0]
        exact = []
        for place in places:
            at = x.copy()
            at[posterior.local[candidate]] = place
            exact.append(posterior.evaluate(at).factored.value)
        assert_allclose(found - found[2], np.array(exact) - exact[2], atol=1e-6)
