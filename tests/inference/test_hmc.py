"""How chains move along trajectories: one stretch at a time."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from strategies import make_design

from interplay._support.streams import Streams
from interplay.inference.chain import Stretch, advance, record
from interplay.inference.moves import HMC, ChainState, WarmUp
from interplay.inference.moves.base import evaluated
from interplay.inference.moves.held import HeldPosterior
from interplay.inference.moves.hmc import LARGEST_STEP, SETTLE
from interplay.inference.run import ADAPT_EVERY, Job, after_warm_up, before_warm_up
from interplay.inference.trace import SPARSE
from interplay.model.engines import KernelSpace
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM
from interplay.model.terms import as_arrays, mains


@pytest.fixture(scope="module")
def posterior() -> Posterior:
    design = make_design(4, n=25, numbers=3, factors=[3])
    return Posterior(design, SKIM(), Gaussian(), KernelSpace(design, precision="float32"))


def moved(
    sampler: HMC,
    posterior: Posterior,
    chain: int = 0,
    *,
    step_size: float = 0.3,
    first: int = 0,
    iterations: int = 10,
    state: ChainState | None = None,
) -> Stretch:
    x = np.zeros(posterior.dimension)
    tuning = {**sampler.begin(posterior, x[None]), "log_step": np.array(np.log(step_size))}
    return advance(
        posterior,
        (sampler,),
        {"hmc": tuning},
        state or ChainState(x, posterior.log_density(x)),
        Streams(1),
        chain=chain,
        phase=2,
        first=first,
        iterations=iterations,
    )


def test_positions_have_the_density_of_the_posterior(posterior: Posterior) -> None:
    stretch = moved(HMC(), posterior, step_size=0.1)
    assert stretch.positions.shape == (10, posterior.dimension)
    expected = [posterior.log_density(x) for x in stretch.positions]
    assert_allclose(stretch.log_density, expected, atol=1e-2)
    acceptance, steps = stretch.statistics["acceptance"], stretch.statistics["steps"]
    assert np.all((acceptance >= 0) & (acceptance <= 1))
    assert np.all(steps >= 1)
    assert len(np.unique(stretch.positions[:, 0])) > 5


def test_chains_share_lengths_and_nothing_else(posterior: Posterior) -> None:
    one, other = (moved(HMC(), posterior, chain) for chain in (0, 1))
    steps = one.statistics["steps"]
    assert_array_equal(steps, other.statistics["steps"])
    assert len(np.unique(steps)) > 2
    assert steps.max() <= np.ceil(2 * 1.5 / 0.3)
    assert not np.allclose(one.positions, other.positions)


def test_a_stretch_goes_on_where_another_ended(posterior: Posterior) -> None:
    ten, four = (moved(HMC(), posterior, iterations=number) for number in (10, 4))
    assert_array_equal(ten.positions[:4], four.positions)
    # A stretch forgets its matrices, as a checkpoint does, which may change the last digits.
    assert four.state.evaluation is None
    rest = moved(HMC(), posterior, first=4, iterations=6, state=four.state)
    assert_allclose(rest.positions, ten.positions[4:], rtol=1e-6)


def test_steps_have_a_bound(posterior: Posterior) -> None:
    tiny = moved(HMC(max_steps=7), posterior, step_size=1e-6, iterations=3)
    assert_array_equal(tiny.statistics["steps"], 7)


def test_a_huge_step_diverges_and_stays(posterior: Posterior) -> None:
    stretch = moved(HMC(), posterior, step_size=1e4)
    assert stretch.statistics["divergent"].all()
    assert_array_equal(stretch.statistics["acceptance"], 0.0)
    assert_array_equal(stretch.positions, 0.0)
    assert np.isfinite(stretch.log_density).all()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"chains": 1}, "chains=1.*expected 2 or more; convergence is judged by comparing chains"),
        ({"acceptance": 1.0}, "acceptance=1.0.*expected a rate between 0 and 1"),
        ({"warmup": -1}, "warmup=-1.*expected 0 or more"),
    ],
)
def test_refuses_settings_that_make_no_sense(wrong: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        HMC(**wrong)
    with pytest.raises(ValueError, match=words):
        replace(HMC(), **wrong)


def test_the_step_follows_the_acceptance_and_settles(posterior: Posterior) -> None:
    begun = HMC().begin(posterior, np.zeros((1, posterior.dimension)))

    def corrected(log_step: float, rate: float, remaining: int) -> float:
        history = np.zeros((ADAPT_EVERY, 4, posterior.dimension))
        warm_up = WarmUp(history, {"acceptance": np.full((4, ADAPT_EVERY), rate)}, remaining)
        tuning = {**begun, "log_step": np.array(log_step)}
        return float(HMC(acceptance=0.8).adapt(tuning, posterior, warm_up)["log_step"])

    assert corrected(-1.0, 0.9, 100) == pytest.approx(-0.9)
    assert corrected(-1.0, 0.5, 100) == pytest.approx(-1.3)
    assert corrected(-1.0, 0.5, 0) == pytest.approx(-1.1)
    assert corrected(float(np.log(LARGEST_STEP)), 1.0, 100) == np.log(LARGEST_STEP)
    gains = [corrected(-1.0, 0.9, left) + 1.0 for left in range(2 * SETTLE, -1, -ADAPT_EVERY)]
    assert np.all(np.diff(gains) <= 1e-15)


def test_the_last_steps_of_warm_up_are_averaged(posterior: Posterior) -> None:
    begun = HMC().begin(posterior, np.zeros((1, posterior.dimension)))
    settled = HMC().settle({**begun, "log_steps": np.array([9.0, -1.0, -2.0, -3.0])})
    assert float(settled["log_step"]) == pytest.approx(-2.0)
    assert_array_equal(HMC().settle(begun)["log_step"], begun["log_step"])


@pytest.mark.parametrize("quadratic", [True, False])
@pytest.mark.parametrize("degree", [2, 3])
def test_the_force_is_the_slope_of_what_is_accepted(degree: int, quadratic: bool) -> None:
    design = make_design(4, n=12, numbers=4, factors=[3])
    prior = SKIM(degree=degree, quadratic=quadratic)
    engine = KernelSpace(design, tolerance=0.0)
    posterior = Posterior(design, prior, Gaussian(), engine)
    x = posterior.sample_prior(np.random.default_rng(3))
    state, _ = evaluated(posterior, ChainState(x, posterior.log_density(x)))
    for seed in range(4):
        target = HeldPosterior.drawn(posterior, state, np.random.default_rng(seed))
        z = x[target.coordinates]
        assert target.start(state) == pytest.approx(target.end(z).log_density)
        steps = 1e-5 * np.eye(z.size)
        slopes = [(target.end(z + e).log_density - target.end(z - e).log_density) / 2e-5 for e in steps]
        assert_allclose(target.gradient(z), slopes, rtol=2e-5, atol=2e-5)


def test_held_variables_keep_their_weight_relative_to_the_global_scale(posterior: Posterior) -> None:
    x = posterior.sample_prior(np.random.default_rng(1))
    x[posterior.local] = [3.0, -4.0, -5.0, -4.0]
    state, _ = evaluated(posterior, ChainState(x, posterior.log_density(x)))
    target = HeldPosterior.drawn(posterior, state, np.random.default_rng(0))
    assert 0 < np.count_nonzero(target.moving) < posterior.p
    z = x[target.coordinates]
    z[1] += 0.3
    moved_to = target.position_of(z)
    held = ~target.moving
    before, after = (posterior.constrain(position)["kappa"][held] for position in (x, moved_to))
    assert_allclose(after, before, rtol=1e-12)


def test_a_second_attempt_takes_smaller_steps_and_a_longer_warm_up(posterior: Posterior) -> None:
    job = Job(posterior, HMC(acceptance=0.8, warmup=21), 0)
    assert [job.moves(attempt)[0].acceptance for attempt in (0, 1)] == pytest.approx([0.8, 0.9])
    assert [job.warmup_length(attempt) for attempt in (0, 1)] == [25, 65]
    state = after_warm_up(job, before_warm_up(job, 0, np.zeros((4, posterior.dimension))))
    assert (state.phase, state.iteration, len(state.history)) == ("sampling", 0, 0)


def test_coordinates_of_variables(posterior: Posterior) -> None:
    assert posterior.coordinates[-4:] == tuple(f"log_lam[{name}]" for name in posterior.design.names)
    assert_array_equal(posterior.local, range(5, 9))
    assert posterior.local.size == posterior.p == 4
    assert posterior.dimension == 4 + 5


def test_what_is_recorded_is_the_conditional_posterior(posterior: Posterior) -> None:
    positions = np.random.default_rng(2).normal(size=(SPARSE + 1, posterior.dimension))
    state = ChainState(positions[-1], posterior.log_density(positions[-1]))
    stretch = Stretch(state, positions, np.zeros(len(positions)), {}, {})
    recorded = record(posterior, as_arrays(mains(posterior.design)), stretch)
    assert recorded.main_mean.shape == (SPARSE + 1, 6)
    assert recorded.main_sd.shape == (2, 6)
    for draw, x in enumerate(positions):
        values = {name: np.asarray(value) for name, value in posterior.constrain(x).items()}
        assert_allclose(recorded.hyperparameters["kappa"][draw], values["kappa"])
        mean, variance = posterior.condition(values).effects(as_arrays(mains(posterior.design)))
        assert_allclose(recorded.main_mean[draw], mean, rtol=1e-6, atol=1e-9)
        if draw % SPARSE == 0:
            sd = recorded.main_sd[draw // SPARSE]
            assert_allclose(sd, np.sqrt(variance), rtol=1e-12)
            # Never less sure than the prior; deviations of levels have the same prior.
            assert np.all(sd <= float(values["eta1"] * values["kappa"].max()) * (1 + 1e-9))
