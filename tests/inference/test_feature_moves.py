"""Moves in feature space leave the posterior as it is: the scales and coefficients that made the data stay probable.

Scales, coefficients and a response are drawn from the model. Then a move, given the response, must give scales and
coefficients with the same joint law (Geweke 2004, Getting it right): the mean change of any function is zero.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from interplay.data.design import Design, design
from interplay.inference.moves.base import ChainState, Move, Randomness
from interplay.inference.moves.coefficients import CoefficientDraw
from interplay.inference.moves.collapsed import CollapsedDraw
from interplay.inference.moves.explicit import COEFFICIENTS, Explicit, with_coefficients
from interplay.inference.moves.scales import InterwovenScales
from interplay.model.engines.feature_space import FeatureSpace
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM
from interplay.model.terms import as_arrays, column_products, monomials

REPLICATES = 600
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
            state, _ = move.step(posterior, tuning, state, Randomness(random, random))
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
