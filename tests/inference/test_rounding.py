"""Small noise: rounding is measured, double precision takes over, and where that is not enough it is said."""

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from numpy.testing import assert_array_equal
from oracles import features, log_likelihood, monomials
from oracles import prior as prior_variances

from interplay.data.design import Design, design
from interplay.effects.mixture import Mixture
from interplay.inference.adaptation import EVERY
from interplay.inference.diagnostics import ConvergenceWarning, Diagnostics
from interplay.inference.draws import Draws
from interplay.inference.rounding import MOST, noise, rounding
from interplay.inference.sample import PRECISELY, STEADY, sample
from interplay.inference.sampler import CHUNK, Lockstep
from interplay.inference.target import Target, target
from interplay.model.priors import SKIM
from interplay.results.learn import learn

PRIOR = SKIM(quadratic=False)

TERMS = [(0,), (1,), (0, 1)]


def make(noise: float, n: int = 40, p: int = 12, seed: int = 0) -> Design:
    """Two variables and their interaction, with so much noise; more coefficients than rows."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    return design(X, X[:, 0] + X[:, 1] + X[:, 0] * X[:, 1] + noise * random.normal(size=n))


def at_the_truth(made: Design, posterior: Target, sigma: float) -> np.ndarray:
    """Positions with the right variables, and so much noise beside the response."""
    included = jnp.arange(made.p) < 2
    place = PRIOR.place(included, jnp.asarray(0.7), jnp.asarray(sigma), made.n, made.p)
    x = ravel_pytree(place)[0]
    return np.asarray(x) + 0.1 * np.random.default_rng(1).normal(size=(3, x.size))


def explicit(made: Design, posterior: Target, x: np.ndarray) -> float:
    """The log density through the features of all effects, in double precision."""
    position = posterior.unflatten(jnp.asarray(x))
    values = PRIOR.constrain(position, made.n, made.p)
    terms = monomials(made)
    Phi, S = features(made.X, terms), prior_variances(made, PRIOR.variances(values, made.p), terms)
    likelihood = log_likelihood(Phi * S @ Phi.T, float(values["sigma"]) ** 2, made.y)
    return float(PRIOR.log_density(position, made.n, made.p)) + likelihood


def test_it_is_the_error_of_single_precision() -> None:
    made = make(3e-3)
    single = target(made, PRIOR)
    positions = at_the_truth(made, single, 2e-3)
    errors = [float(single.log_density(jnp.asarray(x))) - explicit(made, single, x) for x in positions]
    found = rounding(made, single, positions)
    # Compiled as a whole, the same formula rounds elsewhere: by as much, and not the same.
    assert 0.1 < found / np.max(np.abs(errors)) < 10.0
    assert found > 0.05
    assert rounding(made, target(made, PRIOR, precision="float64"), positions) < 1e-4


def test_nothing_is_computed_where_the_noise_is_not_small(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(1.0)
    posterior = target(made, PRIOR)
    positions = at_the_truth(made, posterior, 0.3)
    assert 0.15 < noise(made, posterior, positions) < 0.3
    monkeypatch.setattr("interplay.inference.rounding.target", None)
    assert rounding(made, posterior, positions) == 0.0


def test_without_a_density_it_has_no_bounds() -> None:
    made = make(0.0)
    posterior = target(made, PRIOR)
    assert rounding(made, posterior, at_the_truth(made, posterior, 1e-9)) == np.inf


def run(made: Design, **settings: Any) -> tuple[Draws, Diagnostics]:
    return sample(made, PRIOR, seed=0, progress=False, **settings)


def test_small_noise_is_sampled_in_double_precision() -> None:
    made = make(1e-3)
    fit = learn(made, PRIOR, seed=0, progress=False)
    assert fit.diagnostics.verdict == "trust"
    assert fit.diagnostics.remedies[0] == PRECISELY
    sigma = np.median(fit.draws.hyperparameters["sigma"])
    assert sigma == pytest.approx(1e-3 / made.response_scale, rel=0.4)
    # Effects are nearly those of least squares, as the noise is small.
    found = Mixture(*fit.conditional.effects(TERMS))
    Phi = features(made.X, [(), *TERMS])
    expected, squares, *_ = np.linalg.lstsq(Phi, made.y)
    spread = np.sqrt(squares[0] / (made.n - 4) * np.diag(np.linalg.inv(Phi.T @ Phi)))
    assert np.all(np.abs(found.mean - expected[1:]) < 3 * spread[1:])
    assert np.all((found.sd > 0.7 * spread[1:]) & (found.sd < 2 * spread[1:]))


@pytest.mark.parametrize("p", [3, 12])
def test_no_noise_is_not_reported(p: int) -> None:
    made = make(0.0, p=p)
    with pytest.warns(ConvergenceWarning, match="rounding moves the log density"):
        _, known = run(made)
    assert (known.verdict, known.ended) == ("do not report", "rounding")
    assert "all but a function of the covariates" in known.remedy
    # With few coefficients it was in double precision from the beginning.
    assert (PRECISELY in known.remedies) == (p == 12) == target(made, PRIOR).single


@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_a_run_that_cannot_come_right_ends_early_in_its_warm_up() -> None:
    sampler = Lockstep(warmup=1000)
    known = run(make(0.0), sampler=sampler)[1]
    assert known.ended == "rounding"
    # In single precision up to the first looks, in double precision until it is steady, and the draws kept.
    assert known.gradients < sampler.chains * sampler.max_steps * (2 * EVERY + STEADY + CHUNK)


def test_chains_that_pass_by_too_small_a_noise_are_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(1e-5)
    precise = target(made, PRIOR, precision="float64")
    below = at_the_truth(made, precise, 5e-7)[[0, 1, 2, 0]]
    assert rounding(made, precise, below) > MOST
    monkeypatch.setattr("interplay.inference.run.starts", lambda *_: below)
    assert run(made)[1].verdict == "trust"


@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_a_run_in_double_precision_goes_on_as_it_would_have(tmp_path: Path) -> None:
    made, path = make(1e-3), tmp_path / "run.ckpt"
    expected, _ = run(made, draws=50)
    run(made, draws=25, checkpoint=path)
    found, known = run(made, draws=50, checkpoint=path)
    assert known.remedies[0] == PRECISELY
    assert_array_equal(found.hyperparameters["kappa"], expected.hyperparameters["kappa"])
