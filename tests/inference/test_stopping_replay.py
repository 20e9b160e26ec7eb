"""The rule of stopping, replayed at every check on draws that are good and on draws that are not."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import pytest
from strategies import make_design
from traces import trace_of

from interplay.data.design import Design
from interplay.inference import stopping
from interplay.inference.stopping import ConvergenceMonitor

CHECK, LENGTH, CHAINS = 25, 700, 4

Arrays = Mapping[str, np.ndarray]


@pytest.fixture(scope="module")
def made() -> Design:
    return make_design(3, n=12, numbers=10, factors=[])


def good(design: Design, seed: int, phi: float = 0.4) -> dict[str, np.ndarray]:
    """Stationary autoregressive chains."""
    random = np.random.default_rng(seed)
    series = random.standard_normal((CHAINS, LENGTH, design.d + 2))
    for i in range(1, LENGTH):
        series[:, i] = phi * series[:, i - 1] + np.sqrt(1.0 - phi**2) * series[:, i]
    scales = {"sigma": np.exp(0.1 * series[..., 0]), "eta1": np.exp(series[..., 1])}
    return {**scales, "main_mean": series[..., 2:]}


def in_another_mode(arrays: Arrays, size: float) -> Arrays:
    """One chain takes one variable for another."""
    mains = arrays["main_mean"].copy()
    mains[0, :, [3, 4]] += size * np.array([[1.0], [-1.0]])
    return {**arrays, "main_mean": mains}


def drifting(arrays: Arrays, size: float) -> Arrays:
    """All chains move on in one main effect."""
    mains = arrays["main_mean"].copy()
    mains[:, :, 5] += size * np.arange(LENGTH) / 400.0
    return {**arrays, "main_mean": mains}


def seldom_switching(arrays: Arrays, size: float) -> Arrays:
    """Chains change between two modes of a hyperparameter every 300 draws."""
    modes = (np.arange(LENGTH)[None] // 300 + np.arange(CHAINS)[:, None]) % 2
    return {**arrays, "eta1": arrays["eta1"] * np.exp(size * modes)}


BAD: dict[str, tuple[Callable[[Arrays, float], Arrays], float]] = {
    "not quite together": (in_another_mode, 0.5),
    "in another mode": (in_another_mode, 0.75),
    "far away": (in_another_mode, 3.0),
    "drifting": (drifting, 1.0),
    "drifting fast": (drifting, 2.0),
    "seldom switching": (seldom_switching, 3.0),
}


def first_stop(
    design: Design, arrays: Arrays, rule: Callable[[pd.DataFrame], bool] | None = None
) -> int | None:
    """Draws at the first check at which the monitor, or a rule on its table, is content."""
    monitor, trace = ConvergenceMonitor(design), trace_of(arrays)
    for length in range(CHECK, LENGTH + 1, CHECK):
        some = trace.first(length)
        if monitor.converged(some) if rule is None else rule(monitor.table(some)):
            return length
    return None


@pytest.mark.parametrize("seed", range(3))
def test_good_draws_stop(made: Design, seed: int) -> None:
    arrays = good(made, seed)
    stop = first_stop(made, arrays)
    assert stop is not None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", BAD)
def test_no_bad_draws_pass_at_any_check(made: Design, name: str, seed: int) -> None:
    spoil, size = BAD[name]
    assert first_stop(made, spoil(good(made, seed), size)) is None


def test_a_rule_with_a_looser_bound_on_r_hat_lets_bad_draws_pass(made: Design) -> None:
    def looser(table: pd.DataFrame) -> bool:
        effective = table[["ess_bulk", "ess_tail"]].to_numpy().min()
        return bool(table["r_hat"].max() <= 1.05 and effective >= stopping.ESS)

    passed = [
        first_stop(made, spoil(good(made, seed), size), looser)
        for spoil, size in (BAD["not quite together"], BAD["drifting"])
        for seed in range(4)
    ]
    assert any(stop is not None for stop in passed)
