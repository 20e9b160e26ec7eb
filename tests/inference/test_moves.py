"""Each move alone, and all together, leave the posterior as it is, for every kind of prior."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest
from invariance import Pairs, exact_pairs
from strategies import make_design

from interplay.data.design import Design, design
from interplay.inference.moves import (
    HMC,
    AddDeleteSwap,
    Inactive,
    Move,
    Rescale,
    Tuning,
    add_delete_swap,
    local,
    rescale,
)
from interplay.inference.moves.add_delete_swap import Windows
from interplay.model.engines import KernelSpace
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM

LARGEST_Z = 4.2
"""Of fifty functions with independent changes, one is larger by chance in a test of a thousand."""


def near_copies(p: int = 4, n: int = 14) -> Design:
    """Four columns, of which the first two are nearly the same."""
    random = np.random.default_rng(3)
    X = random.normal(size=(n, p))
    X[:, 1] = 0.99 * X[:, 0] + 0.14 * X[:, 1]
    return design(X, random.normal(size=n))


def weighted(of: Design) -> Design:
    """Row weights that sum to the number of rows."""
    weights = np.random.default_rng(1).gamma(2.0, size=of.n)
    return replace(of, weights=weights * of.n / weights.sum())


PROBLEMS = {
    "no squares": (near_copies(), SKIM(quadratic=False, expected_mains=1.5)),
    "squares": (near_copies(), SKIM(expected_mains=1.5)),
    "factor": (make_design(2, n=14, numbers=2, factors=[3]), SKIM()),
    "weights": (weighted(near_copies()), SKIM()),
    "degree 3": (near_copies(), SKIM(degree=3)),
}

MOVES: dict[str, Callable[[Design], list[Move]]] = {
    "hmc": lambda _: [HMC()],
    "add, delete, swap": lambda of: [AddDeleteSwap(Windows.of(of))],
    "inactive": lambda _: [Inactive()],
    "rescale": lambda _: [Rescale()],
}


def pairs(
    name: str,
    moves: list[Move],
    count: int,
    iterations: int = 1,
    tunings: Mapping[str, Tuning] | None = None,
) -> Pairs:
    of, prior = PROBLEMS[name]
    engine = KernelSpace(of, tolerance=0.0)
    return exact_pairs(
        of, prior, moves, count=count, iterations=iterations, engine=engine, tunings=tunings, seed=5
    )


def large_steps(name: str) -> dict[str, Tuning]:
    """Trajectories whose acceptance has something to correct."""
    of, prior = PROBLEMS[name]
    posterior = Posterior(of, prior, Gaussian(), KernelSpace(of))
    return {"hmc": {**HMC().begin(posterior, np.zeros((1, 1))), "log_step": np.array(math.log(0.8))}}


@pytest.mark.parametrize("name", PROBLEMS)
def test_all_moves_together_leave_the_posterior_as_it_is(name: str) -> None:
    moves = [move for make in MOVES.values() for move in make(PROBLEMS[name][0])]
    found = pairs(name, moves, 150, tunings=large_steps(name))
    assert np.abs(found.z_scores()).max() < LARGEST_Z
    rates = {key: value for key, value in found.statistics.items() if key.endswith("acceptance")}
    assert min(rates.values()) > 0.2, rates


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("move", MOVES)
def test_each_move_alone_leaves_the_posterior_as_it_is(move: str, name: str) -> None:
    found = pairs(name, MOVES[move](PROBLEMS[name][0]), 600, 2, large_steps(name))
    assert np.abs(found.z_scores()).max() < LARGEST_Z


def test_a_jacobian_left_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = rescale.rescaled
    monkeypatch.setattr(rescale, "rescaled", lambda *arguments: (right(*arguments)[0], 0.0))
    wide = {"rescale": {"log_step": np.array(math.log(0.8))}}
    assert np.abs(pairs("no squares", [Rescale()], 250, 10, wide).z_scores()).max() > LARGEST_Z


def test_a_density_of_the_proposal_left_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local.Tables, "log_density", lambda self, values: np.zeros(values.shape))
    assert np.abs(pairs("no squares", [Inactive()], 250, 4).z_scores()).max() > LARGEST_Z


@pytest.mark.slow
def test_a_proposal_that_is_not_corrected_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = add_delete_swap._tried

    def uncorrected(posterior, state, changed, drawn, log_proposal, random):
        return right(posterior, state, changed, drawn, 0.0, random)

    monkeypatch.setattr(add_delete_swap, "_tried", uncorrected)
    moves = MOVES["add, delete, swap"](PROBLEMS["weights"][0])
    assert np.abs(pairs("weights", moves, 500, 6).z_scores()).max() > LARGEST_Z
