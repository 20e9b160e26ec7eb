"""Small noise: rounding is measured, double precision takes over, and where that is not enough it is said."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from oracles import features, log_likelihood, monomials
from oracles import prior as prior_variances

from interplay.data.design import Design, design
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.inference.diagnostics import ConvergenceWarning, Diagnostics
from interplay.inference.draws import Draws
from interplay.inference.moves import HMC
from interplay.inference.rounding import MOST_ROUNDING, relative_noise, rounding_error
from interplay.inference.run import ADAPT_EVERY, CHUNK
from interplay.inference.sample import IN_DOUBLE_PRECISION, STEADY, sample
from interplay.model.engines import choose_engine
from interplay.model.engines.kernel_space import Precision
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM
from interplay.model.priors.base import Scale

PRIOR = SKIM(quadratic=False)

TERMS = [(0,), (1,), (0, 1)]


def make(noise: float, n: int = 40, p: int = 12, seed: int = 0) -> Design:
    """Two variables and their interaction, with so much noise; more coefficients than rows."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    return design(X, X[:, 0] + X[:, 1] + X[:, 0] * X[:, 1] + noise * random.normal(size=n))


def target(made: Design, precision: Precision = "float32") -> Posterior:
    return Posterior.of(made, PRIOR, Gaussian(), precision=precision)


def at_the_truth(posterior: Posterior, sigma: float) -> np.ndarray:
    """Positions with the right variables, and so much noise beside the response."""
    x = posterior.position_of(np.arange(posterior.p) < 2, np.array(0.7), np.log(np.array(sigma)))
    return x + 0.1 * np.random.default_rng(1).normal(size=(3, x.size))


def explicit(posterior: Posterior, x: np.ndarray) -> float:
    """The log density through the features of all effects, in double precision."""
    made, values = posterior.design, posterior.constrain(x)
    terms = monomials(made)
    Phi, S = features(made.X, terms), prior_variances(made, posterior.variances(values), terms)
    likelihood = log_likelihood(Phi * S @ Phi.T, float(values["sigma"]) ** 2, made.y)
    prior = PRIOR.log_density(x[1:], Scale(made.n, made.p, float(x[0]))).value
    return prior + posterior.family.log_prior(x[:1])[0] + likelihood


def test_it_is_the_error_of_single_precision() -> None:
    made = make(3e-3)
    single = target(made)
    positions = at_the_truth(single, 2e-3)
    errors = [single.log_density(x) - explicit(single, x) for x in positions]
    found = rounding_error(single, positions)
    assert 0.1 < found / np.max(np.abs(errors)) < 10.0
    assert found > 0.05
    assert rounding_error(target(made, "float64"), positions) < 1e-4


def test_nothing_is_computed_where_the_noise_is_not_small(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(1.0)
    posterior = target(made)
    positions = at_the_truth(posterior, 0.3)
    assert 0.15 < relative_noise(posterior, positions) < 0.3
    monkeypatch.setattr("interplay.inference.rounding.Posterior", None)
    assert rounding_error(posterior, positions) == 0.0


def test_without_a_density_it_has_no_bounds() -> None:
    made = make(0.0)
    posterior = target(made)
    assert rounding_error(posterior, at_the_truth(posterior, 1e-9)) == np.inf


def run(made: Design, **settings: Any) -> tuple[Draws, Diagnostics]:
    return sample(made, PRIOR, seed=0, progress=False, **settings)


@pytest.mark.slow
def test_small_noise_is_sampled_in_double_precision() -> None:
    made = make(1e-3)
    draws, known = run(made)
    assert known.verdict == "trust"
    assert known.remedies[0] == IN_DOUBLE_PRECISION
    sigma = np.median(draws.hyperparameters["sigma"])
    assert sigma == pytest.approx(1e-3 / made.response_scale, rel=0.4)
    # Effects are nearly those of least squares, as the noise is small.
    stacked = draws.stacked()
    working = tuple(Gaussian().working({"sigma": value}, made) for value in stacked["sigma"])
    conditional = Conditional(choose_engine(made, PRIOR), PRIOR.variances(stacked, made.p), working)
    found = Mixture(*conditional.effects(TERMS))
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
    assert (IN_DOUBLE_PRECISION in known.remedies) == (p == 12) == target(made).engine.single_precision


@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_a_run_that_cannot_come_right_ends_early_in_its_warm_up() -> None:
    sampler = HMC(warmup=1000)
    known = run(make(0.0), sampler=sampler)[1]
    assert known.ended == "rounding"
    # In single precision up to the first looks, in double precision until it is steady, and the draws kept.
    assert known.gradients < sampler.chains * sampler.max_steps * (2 * ADAPT_EVERY + STEADY + CHUNK)


def test_chains_that_pass_by_too_small_a_noise_are_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(1e-5)
    precise = target(made, "float64")
    below = at_the_truth(precise, 5e-7)[[0, 1, 2, 0]]
    assert rounding_error(precise, below) > MOST_ROUNDING
    monkeypatch.setattr("interplay.inference.run.starts", lambda *_: below)
    assert run(made)[1].verdict == "trust"


@pytest.mark.filterwarnings("ignore::interplay.inference.diagnostics.ConvergenceWarning")
def test_a_run_in_double_precision_goes_on_as_it_would_have(tmp_path: Path) -> None:
    made, path = make(1e-3), tmp_path / "run.ckpt"
    sampler = HMC(chains=2, warmup=50)
    expected, _ = run(made, draws=50, sampler=sampler)
    run(made, draws=25, sampler=sampler, checkpoint=path)
    found, known = run(made, draws=50, sampler=sampler, checkpoint=path)
    assert known.remedies[0] == IN_DOUBLE_PRECISION
    assert_array_equal(found.hyperparameters["kappa"], expected.hyperparameters["kappa"])
