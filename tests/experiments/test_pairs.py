"""All pairs at once, against each pair by itself."""

from itertools import combinations

import jax.numpy as jnp
import numpy as np
import pytest
from experiments.pairs import all_pairs

from interplay.data.design import design
from interplay.data.simulate import synthetic
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.model.marginal import engine
from interplay.model.priors import SKIM
from interplay.model.variances import Variances


def test_all_pairs_has_every_mean_and_every_pair_that_a_rule_could_select() -> None:
    simulation = synthetic(40, 12, scale=5.0, seed=1)
    data = design(simulation.X, simulation.y)
    random = np.random.default_rng(0)
    weights = np.exp(random.normal(size=(6, 1, 12)) - 6.0)
    weights[:, 0, [term[0] for term in simulation.effects if len(term) == 1]] = 1.0
    variances = Variances(
        intercept=jnp.ones(6),
        weights=jnp.asarray(weights),
        orders=jnp.full((6, 1, 2), 0.3),
        squares=jnp.zeros((6, 1)),
    )
    sigma = jnp.asarray(random.uniform(0.05, 0.1, 6))
    conditional = Conditional(engine(data, SKIM(quadratic=False)), variances, sigma)
    every = list(combinations(range(12), 2))
    exact = Mixture(*conditional.effects(every))

    pairs = all_pairs(data, conditional)

    assert pairs.means[np.triu_indices(12, k=1)] == pytest.approx(exact.mean, abs=1e-6)
    sure = {pair for pair, lfsr in zip(every, exact.lfsr, strict=True) if lfsr <= 0.1}
    assert sure
    assert sure <= set(pairs.terms)
    assert len(pairs.terms) < len(every)
    assert pairs.mixture.lfsr == pytest.approx([exact.lfsr[every.index(pair)] for pair in pairs.terms])
