"""Rules of stopping on chains of which it is known whether they are good."""

import numpy as np
import pytest
from experiments import stored
from experiments.stopping import RULES, STOPPING, TODAY, bad, good, tasks
from experiments.stopping_rules import Stored, agree, at_most, checks, replay
from experiments.stored import DEFECTS, exchange, passing, replayed
from experiments.task import Record


def chains(phi: float, q: int = 6, draws: int = 1500, seed: int = 0) -> Stored:
    random = np.random.default_rng(seed)
    x = random.standard_normal((q, 4, draws))
    for i in range(1, draws):
        x[:, :, i] = phi * x[:, :, i - 1] + np.sqrt(1.0 - phi**2) * x[:, :, i]
    names = ("sigma", "eta1", "log_kappa[a]", "log_kappa[b]", "effect[a]", "effect[b]")
    x[[3, 5]] += 2.0
    return Stored((*names, *(f"effect[{k}]" for k in range(q - 6))), np.arange(q) < 2, x)


@pytest.mark.parametrize("parts", [1, 2])
def test_chains_of_one_distribution_agree_as_often_as_the_level_says(parts: int) -> None:
    chance = agree(chains(0.5, q=600, draws=400).series, parts)
    assert np.mean(chance < 0.1) == pytest.approx(0.1, abs=0.05)


def test_a_shifted_chain_does_not_agree_and_drift_shows_in_halves() -> None:
    series = chains(0.5).series
    series[0, 0] += 0.5
    series[1] += np.linspace(0.0, 1.0, series.shape[2])
    whole, halves = agree(series), agree(series, 2)
    assert whole[0] < 1e-4
    assert halves[0] < 1e-4
    assert whole[1] > 1e-3
    assert halves[1] < 1e-4
    assert min(whole[2:].min(), halves[2:].min()) > 1e-3


def test_a_replay_finds_the_first_check_that_holds() -> None:
    good_chains = chains(0.6)
    every = [length for _, length in checks(good_chains)]
    first = every[0]
    assert every == list(range(first, 1501, 25))
    assert replay(good_chains)["no R-hat"] == first
    stops = replay(good_chains, {"never": at_most(0.0, 0.0), "today": at_most(1.01, 1.01)})
    assert stops["never"] is None
    assert stops["today"] is not None
    assert stops["today"] >= first


@pytest.mark.parametrize("defect", DEFECTS)
def test_defects_leave_hyperparameters_and_are_found(defect: str) -> None:
    whole = chains(0.6)
    spoilt = DEFECTS[defect](whole, 2.0, 400, np.random.default_rng(0))
    assert np.array_equal(spoilt.series[:2], whole.series[:2])
    assert not np.array_equal(spoilt.series, whole.series)
    assert replay(spoilt)[TODAY] is None


def test_an_exchange_is_between_variables() -> None:
    whole = chains(0.6)
    found = exchange(whole, 2.0, 400, np.random.default_rng(0)).series
    assert np.array_equal(found[2:, 0], whole.series[[3, 2, 5, 4], 0])
    assert np.array_equal(found[:, 1:], whole.series[:, 1:])


def test_draws_are_kept_and_judged(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "KEPT", tmp_path)
    records = []
    for task in tasks(quick=True):
        values, cost = replayed(task.data, 1, **task.options)
        records.append(Record(task, "done", "", 1, cost, values, {}))
    assert (len(good(records)), len(bad(records))) == (1, 1)
    assert records[1].values["stops"][TODAY] is None
    monkeypatch.setattr(stored, "_simulated", None)
    again, _ = replayed(records[0].task.data, 1)
    assert again == records[0].values
    assert all([row[0] for row in table.rows] == list(RULES) for table in STOPPING.tables(records))


def test_small_defects_pass_more_often_than_large_ones() -> None:
    data = {"kind": "series", "draws": 400, "q": 6, "phi": 0.3, "even": True, "seed": 0}
    small, large = (
        passing(data, 1, defect="shift", amount=amount, repeats=4, span=300)[0]["passed"]
        for amount in (0.1, 1.0)
    )
    assert small["no R-hat"] > 0
    assert set(large.values()) == {0}


def test_there_are_enough_fits() -> None:
    plain = [task for task in tasks(quick=False) if not task.options]
    assert (
        sum("wrong" not in task.data and task.data["kind"] not in ("switching", "slow") for task in plain)
        >= 30
    )
    assert len(tasks(quick=False)) - len(plain) >= 15
