"""How chains move: one call at a time."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from strategies import make_design

from interplay.inference.metric import first_metric, learned_metric
from interplay.inference.rivals import Rivals, rivals
from interplay.inference.sampler import CHUNK, NUTS, Lockstep, Sampler, Stretch, advance
from interplay.inference.target import Target, target
from interplay.model.priors import SKIM


@pytest.fixture(scope="module")
def posterior() -> Target:
    return target(make_design(4, n=25, numbers=3, factors=[3]), SKIM())


@pytest.fixture(scope="module")
def none() -> Rivals:
    return rivals(make_design(4, n=25, numbers=3, factors=[3]))


def moved(sampler: Sampler, posterior: Target, none: Rivals, chain: int = 0, **changes: object) -> Stretch:
    x = np.zeros(posterior.dimension)
    given = {
        "metric": first_metric(x[None], posterior.locals),
        "position": jnp.asarray(x),
        "key": jax.random.key(1),
        "step_size": jnp.asarray(0.3),
        "iterations": jnp.asarray(10),
    } | changes
    stretch = advance(sampler, posterior, rivals=none, chain=jnp.asarray(chain), **given)
    return jax.tree.map(np.asarray, stretch)


@pytest.mark.parametrize("sampler", [Lockstep(), NUTS()])
def test_positions_have_the_density_of_the_target(sampler: Sampler, posterior: Target, none: Rivals) -> None:
    metric = learned_metric(np.random.default_rng(0).normal(size=(50, posterior.dimension)), posterior.locals)
    stretch = moved(sampler, posterior, none, metric=metric, step_size=jnp.asarray(0.02))
    assert stretch.positions.shape == (CHUNK, posterior.dimension)
    expected = jax.lax.map(posterior.log_density, jnp.asarray(stretch.positions[:10]))
    assert_allclose(stretch.log_density[:10], expected, atol=1e-2)
    assert np.all((stretch.acceptance[:10] >= 0) & (stretch.acceptance[:10] <= 1))
    assert np.all(stretch.steps[:10] >= 1)
    assert len(np.unique(stretch.positions[:10, 0])) > 5


def test_chains_share_lengths_and_nothing_else(posterior: Target, none: Rivals) -> None:
    one, other = (moved(Lockstep(), posterior, none, chain) for chain in (0, 1))
    assert_array_equal(one.steps, other.steps)
    assert len(np.unique(one.steps[:10])) > 2
    assert one.steps[:10].max() <= np.ceil(2 * 1.5 / 0.3)
    assert not np.allclose(one.positions[:10], other.positions[:10])


def test_the_length_of_a_call_does_not_change_its_draws(posterior: Target, none: Rivals) -> None:
    ten, four = (moved(Lockstep(), posterior, none, iterations=jnp.asarray(number)) for number in (10, 4))
    assert_array_equal(ten.positions[:4], four.positions[:4])
    assert_array_equal(four.positions[4:], 0.0)


def test_a_chain_begins_where_it_is(posterior: Target, none: Rivals, monkeypatch: pytest.MonkeyPatch) -> None:
    found = moved(Lockstep(), posterior, none)
    monkeypatch.setattr(Lockstep, "lead", 0)
    jax.clear_caches()
    expected = moved(Lockstep(), posterior, none)
    jax.clear_caches()
    assert_allclose(found.positions, expected.positions, rtol=1e-9, atol=1e-12)
    assert_array_equal(found.steps, expected.steps)


def test_steps_have_a_bound(posterior: Target, none: Rivals) -> None:
    tiny = {"step_size": jnp.asarray(1e-6), "iterations": jnp.asarray(3)}
    assert_array_equal(moved(Lockstep(max_steps=7), posterior, none, **tiny).steps[:3], 7)
    assert_array_equal(moved(NUTS(max_doublings=3), posterior, none, **tiny).steps[:3], 7)


def test_a_huge_step_diverges_and_stays(posterior: Target, none: Rivals) -> None:
    stretch = moved(Lockstep(), posterior, none, step_size=jnp.asarray(1e4))
    assert stretch.divergent[:10].all()
    assert_array_equal(stretch.acceptance[:10], 0.0)
    assert_array_equal(stretch.positions[:10], 0.0)
    assert np.isfinite(stretch.log_density).all()


@pytest.mark.parametrize("sampler", [Lockstep, NUTS])
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"chains": 1}, "chains=1.*expected 2 or more; convergence is judged by comparing chains"),
        ({"acceptance": 1.0}, "acceptance=1.0.*expected a rate between 0 and 1"),
        ({"warmup": -1}, "warmup=-1.*expected 0 or more"),
    ],
)
def test_refuses_settings_that_make_no_sense(sampler: type, wrong: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        sampler(**wrong)
    with pytest.raises(ValueError, match=words):
        replace(sampler(), **wrong)


def test_coordinates_of_variables(posterior: Target) -> None:
    x = jnp.arange(float(posterior.dimension))
    assert_array_equal(posterior.unflatten(x)["log_lam"], x[posterior.locals])
    assert posterior.locals.size == posterior.p == 4
    assert posterior.dimension == 4 + 5


def test_what_is_watched_is_the_conditional_posterior(posterior: Target) -> None:
    x = jnp.asarray(np.random.default_rng(2).normal(size=posterior.dimension))
    watched = posterior.watch(x, jnp.asarray(True))
    assert watched.main_mean.shape == watched.main_sd.shape == (6,)
    values = posterior.prior.constrain(posterior.unflatten(x), posterior.n, posterior.p)
    assert_allclose(watched.hyperparameters["kappa"], values["kappa"])
    # Never less sure than the prior, but for the deviations of a factor's levels, whose prior is the same.
    assert np.all(np.asarray(watched.main_sd) <= float(values["eta1"] * values["kappa"].max()) * (1 + 1e-9))
    quick = posterior.watch(x, jnp.asarray(False))
    assert_allclose(quick.main_mean, watched.main_mean, rtol=1e-12)
    assert np.isnan(quick.main_sd).all()
