"""Moves in feature space leave the posterior as it is.

Scales, coefficients and a response are drawn from the model. Then a move, given the response, must give
scales and coefficients of the same joint law (Geweke 2004, Getting it right): the mean change of any function
is zero.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from interplay._support.parallel import serially
from interplay.data.design import Design, design
from interplay.inference.moves import noncentred, sweep
from interplay.inference.moves.base import ChainState, Move, Randomness
from interplay.inference.moves.centred import ByVariable, CentredTarget
from interplay.inference.moves.coefficients import CoefficientDraw
from interplay.inference.moves.collapsed import CollapsedDraw
from interplay.inference.moves.explicit import COEFFICIENTS, Explicit, log_prior_of_odds, with_coefficients
from interplay.inference.moves.hmc import HMC
from interplay.inference.moves.law import ShareLaw
from interplay.inference.moves.scales import InterwovenScales
from interplay.inference.moves.sweep import Sweep
from interplay.inference.run import Job, before_warm_up, proceed
from interplay.model.engines.feature_space import FeatureSpace
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM
from interplay.model.terms import as_arrays, column_products, monomials

REPLICATES = 250
LARGEST_Z = 4.0

KINDS = {
    "pairs": {"quadratic": False},
    "squares": {"quadratic": True},
    "degree 3": {"quadratic": True, "degree": 3},
    "factor": {"quadratic": True, "factor": True},
    "weights": {"quadratic": True, "weights": True},
    "near-equal columns": {"quadratic": True, "near": True},
}


def data(
    seed: int, n: int = 24, *, factor: bool = False, weights: bool = False, near: bool = False
) -> Design:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    if near:
        X[:, 1] = X[:, 0] + 0.01 * random.normal(size=n)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    if factor:
        frame["f"] = np.array(["x", "y", "z"])[random.integers(0, 3, n)]
    frame["y"] = random.normal(size=n)
    # Rows of weight w count as w copies: only with weights of mean one is that a law of the response.
    w = random.integers(1, 5, n).astype(float)
    return design(frame, "y", weights=w / w.mean() if weights else None)


def model(of: Design, quadratic: bool, degree: int) -> Posterior:
    engine = FeatureSpace(of, degree=degree, quadratic=quadratic)
    prior = SKIM(quadratic=quadratic, degree=degree)
    return Posterior(of, prior, Gaussian(), engine)


def drawn(
    base: Design, random: np.random.Generator, quadratic: bool, degree: int
) -> tuple[Posterior, ChainState]:
    """A response from the model, with the scales and coefficients that it was made from."""
    posterior = model(base, quadratic, degree)
    x = posterior.sample_prior(random)
    explicit = Explicit.at(posterior, x)
    theta = np.exp(0.5 * explicit.log_variances) * random.standard_normal(explicit.log_variances.size)
    Phi = column_products(base.X, as_arrays(monomials(base, degree, quadratic=quadratic)))
    noise = np.sqrt(explicit.noise / base.row_weights)
    posterior = model(
        replace(base, y=Phi @ theta + noise * random.standard_normal(base.n)), quadratic, degree
    )
    explicit = Explicit.at(posterior, x)
    score = explicit.coefficients.score(theta)
    return posterior, with_coefficients(posterior, explicit, ChainState(x, 0.0), theta, score)


def summaries(posterior: Posterior, state: ChainState) -> np.ndarray:
    """Bounded functions of scales and coefficients, with and without the data."""
    explicit = Explicit.at(posterior, state.position)
    theta, x = state.auxiliary[COEFFICIENTS], state.position
    z = theta * np.exp(-0.5 * explicit.log_variances)
    first = x.size - posterior.local.size
    squares = explicit.coefficients.squares(theta, explicit.coefficients.score(theta))
    globals_ = np.tanh(x[:first])
    local = np.tanh(x[first:])
    fit = np.tanh(squares / (explicit.noise * posterior.design.n) - 1.0)
    weights = np.tanh(explicit.half_odds)
    return np.concatenate(
        [
            globals_,
            local,
            local**2,
            weights,
            np.tanh(z),
            np.tanh(z) ** 2,
            [fit, fit**2],
            local * fit,
            globals_ * fit,
        ]
    )


def z_scores(move: Move, kind: str, replicates: int, steps: int = 1, seed: int = 0) -> np.ndarray:
    options = dict(KINDS[kind])
    quadratic, degree = bool(options.pop("quadratic")), int(options.pop("degree", 2))
    base = data(1, **options)
    random = np.random.default_rng(seed)
    changes = []
    for _ in range(replicates):
        posterior, state = drawn(base, random, quadratic, degree)
        if not np.max(np.abs(state.position)) < 20.0:
            continue
        before = summaries(posterior, state)
        tuning = move.begin(posterior, np.zeros((1, posterior.dimension)) - 1.0)
        for _ in range(steps):
            state, _ = move.step(posterior, tuning, state, Randomness(random, lambda: random))
        changes.append(summaries(posterior, state) - before)
    change = np.array(changes)
    spread = change.std(axis=0) / np.sqrt(len(change))
    return np.where(spread > 0, change.mean(axis=0) / np.maximum(spread, 1e-300), 0.0)


MOVES = {move.name: move for move in (CollapsedDraw(), InterwovenScales(), CoefficientDraw())}


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("name", list(MOVES))
def test_a_move_keeps_the_joint_law(name: str, kind: str) -> None:
    z = z_scores(MOVES[name], kind, REPLICATES)
    assert np.max(np.abs(z)) < LARGEST_Z


@pytest.fixture(params=list(KINDS))
def made(request: pytest.FixtureRequest) -> tuple[Posterior, ChainState]:
    options = dict(KINDS[request.param])
    quadratic, degree = bool(options.pop("quadratic")), int(options.pop("degree", 2))
    posterior, state = drawn(data(2, **options), np.random.default_rng(5), quadratic, degree)
    return posterior, replace(state, position=np.clip(state.position, -4.0, 4.0))


def test_prior_variances_are_those_of_the_engine(made: tuple[Posterior, ChainState]) -> None:
    posterior, state = made
    x = state.position
    expected = posterior.features._prior(posterior.model(x)[0])
    assert_allclose(np.exp(Explicit.at(posterior, x).log_variances), expected, rtol=1e-10)


def test_the_law_of_a_share_is_the_marginal_posterior(
    made: tuple[Posterior, ChainState], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all coefficients integrated out, the law is the exact posterior of one coordinate."""
    posterior, state = made
    for name in ("CUT", "LARGER_CUT", "FAINT"):
        monkeypatch.setattr(sweep, name, -1.0)
    laws: list[ShareLaw] = []
    draw = ShareLaw.draw

    def noted(law: ShareLaw, old: float, random: np.random.Generator) -> tuple[float, float]:
        laws.append(law)
        return draw(law, old, random)

    monkeypatch.setattr(ShareLaw, "draw", noted)
    w = np.array([-6.0, -3.0, -1.0, 0.0, 1.0, 3.0])
    for variable in range(posterior.p):
        moving = Sweep.of(posterior, state)
        moving.draw(variable, np.random.default_rng(0))
        law, expected = laws[-1], []
        for half_odds in w:
            x = state.position.copy()
            x[posterior.local[variable]] = half_odds - law.log_ratio
            expected.append(posterior.log_density(x))
        value = law.log_likelihood(w) + log_prior_of_odds(w, law.log_ratio)
        assert_allclose(np.diff(value), np.diff(expected), atol=1e-6)
        assert_allclose([law.at(float(half_odds)) for half_odds in w], law.log_likelihood(w), atol=1e-9)
        # What is kept in the sweep is what the coefficients give.
        score = moving.coefficients.score(moving.theta)
        assert_allclose(moving.score, score[moving.members], atol=1e-8 * np.abs(score).max())


def test_the_gradient_given_the_coefficients(made: tuple[Posterior, ChainState]) -> None:
    posterior, state = made
    target = centred(posterior, state)
    z = target.place(state.position)
    density = target.density(z)
    numeric = [
        (target.density(z + h).value - target.density(z - h).value) / 2e-5 for h in 1e-5 * np.eye(z.size)
    ]
    assert_allclose(density.gradient, numeric, rtol=1e-5, atol=1e-4 * np.abs(density.gradient).max())
    # Its value is the joint log density, up to a constant.
    x = target.position(z + 0.1)
    theta, score = state.auxiliary[COEFFICIENTS], state.score
    assert score is not None
    joint = [
        with_coefficients(posterior, Explicit.at(posterior, at), replace(state, position=at), theta, score)
        for at in (state.position, x)
    ]
    change = target.density(z + 0.1).value - density.value
    assert_allclose(change, joint[1].log_density - joint[0].log_density, rtol=1e-9, atol=1e-6)


def test_weak_scales_move_with_their_coefficients(
    made: tuple[Posterior, ChainState], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The density along the group is the joint one with the Jacobians of w and θ."""
    posterior, state = made
    x, theta, score = state.position, state.auxiliary[COEFFICIENTS], state.score
    assert score is not None
    lines: list[tuple] = []
    log_density = noncentred._Line.log_density

    def noted(line: noncentred._Line, log_a: np.ndarray, shift: np.ndarray) -> np.ndarray:
        lines.append((line, log_a, shift))
        return log_density(line, log_a, shift)

    monkeypatch.setattr(noncentred._Line, "log_density", noted)
    random = np.random.default_rng(3)
    weak = np.arange(posterior.p) > 0
    faint = random.random(theta.size) < 0.6
    moved = noncentred.move_weak(posterior, x, theta, score, weak, faint, random)
    before, after = Explicit.at(posterior, x), Explicit.at(posterior, moved.position)
    faint[0] = False
    log_a = 0.5 * float((after.log_share - before.log_share)[-1])
    first = x.size - posterior.local.size
    shift = (moved.position - x)[posterior.family_count : first]
    change = np.diff(log_density(lines[-1][0], np.array([0.0, log_a]), np.stack([0.0 * shift, shift])))
    assert_allclose(moved.score, after.coefficients.score(moved.theta), atol=1e-8 * np.abs(score).max())
    end = with_coefficients(
        posterior, after, replace(state, position=moved.position), moved.theta, moved.score
    )
    start = with_coefficients(posterior, before, state, theta, score)
    jacobian = 0.5 * float(np.sum((after.log_variances - before.log_variances)[faint]))
    rest = [np.log(-np.expm1(e.log_share[weak])).sum() for e in (before, after)]
    assert_allclose(change, end.log_density - start.log_density + jacobian + rest[0] - rest[1], atol=1e-6)


def centred(posterior: Posterior, state: ChainState) -> CentredTarget:
    explicit, theta = Explicit.at(posterior, state.position), state.auxiliary[COEFFICIENTS]
    squares = explicit.coefficients.squares(theta, explicit.coefficients.score(theta))
    rows = explicit.coefficients.statistics.rows
    return CentredTarget(
        posterior, explicit.incidence, ByVariable.of(explicit.incidence, theta), squares, rows
    )


def test_a_planted_error_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """A determinant left out of the law of a share, and a wrong Jacobian in the move of weak scales."""
    log_likelihood = ShareLaw.log_likelihood

    def wrong(law: ShareLaw, w: np.ndarray) -> np.ndarray:
        share = 1.0 / (1.0 + np.exp(-2.0 * w))
        log_determinant = np.log1p(np.multiply.outer(share, law.eigenvalues)).sum(axis=-1)
        return log_likelihood(law, w) + 0.5 * log_determinant

    monkeypatch.setattr(ShareLaw, "log_likelihood", wrong)
    monkeypatch.setattr(ShareLaw, "at", lambda law, w: float(wrong(law, np.array([w]))[0]))
    assert np.max(np.abs(z_scores(CollapsedDraw(), "squares", REPLICATES, steps=2))) > LARGEST_Z
    monkeypatch.undo()
    log_density = noncentred._Line.log_density

    def tilted(line: noncentred._Line, log_a: np.ndarray, shift: np.ndarray) -> np.ndarray:
        return log_density(line, log_a, shift) + 2.0 * log_a

    monkeypatch.setattr(noncentred._Line, "log_density", tilted)
    assert np.max(np.abs(z_scores(InterwovenScales(), "squares", REPLICATES, steps=2))) > LARGEST_Z


def test_a_run_goes_on_bit_for_bit() -> None:
    base = data(3, n=40)
    job = Job(model(base, True, 2), HMC(warmup=5), 1)
    state = before_warm_up(job, 0, np.full((4, job.posterior.dimension), -1.0))
    for _ in range(3):
        state = proceed(job, state, serially)
    went_on = proceed(job, state, serially)
    forgotten = tuple(
        ChainState(chain.position, chain.log_density, chain.auxiliary) for chain in state.chains
    )
    again = Job(model(base, True, 2), HMC(warmup=5), 1)
    resumed = proceed(again, replace(state, chains=forgotten), serially)
    assert_array_equal(went_on.positions, resumed.positions)
    assert_array_equal(went_on.trace.main_mean, resumed.trace.main_mean)
