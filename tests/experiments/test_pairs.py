"""All pairs at once, against each pair by itself."""

from itertools import combinations

import numpy as np
import pytest
from experiments.pairs import all_pairs

from interplay.data.design import design
from interplay.data.simulate import synthetic
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.model.engines.choice import choose_engine
from interplay.model.families import Gaussian
from interplay.model.priors import SKIM
from interplay.model.variances import Symmetric, Variances


def test_all_pairs_has_every_mean_and_every_pair_that_a_rule_could_select() -> None:
    simulation = synthetic(40, 12, scale=5.0, seed=1)
    data = design(simulation.X, simulation.y)
    random = np.random.default_rng(0)
    weights = np.exp(random.normal(size=(6, 12)) - 6.0)
    weights[:, [term[0] for term in simulation.effects if len(term) == 1]] = 1.0
    component = Symmetric(weights, np.full((6, 2), 0.3), np.zeros(6))
    variances = Variances(intercept=np.ones(6), symmetric=(component,), p=12)
    family, sigmas = Gaussian(), random.uniform(0.05, 0.1, 6)
    working = [family.working({"sigma": np.asarray(sigma)}, data) for sigma in sigmas]
    conditional = Conditional(choose_engine(data, SKIM(quadratic=False)), variances, working)
    every = list(combinations(range(12), 2))
    exact = Mixture(*conditional.effects(every))

    pairs = all_pairs(data, conditional)

    assert pairs.means[np.triu_indices(12, k=1)] == pytest.approx(exact.mean, abs=1e-6)
    sure = {pair for pair, lfsr in zip(every, exact.lfsr, strict=True) if lfsr <= 0.1}
    assert sure
    assert sure <= set(pairs.terms)
    assert len(pairs.terms) < len(every)
    assert pairs.mixture.lfsr == pytest.approx([exact.lfsr[every.index(pair)] for pair in pairs.terms])
