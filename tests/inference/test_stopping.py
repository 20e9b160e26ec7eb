"""What counts as converged."""

import numpy as np
import pytest
from strategies import make_design
from traces import trace_of

from interplay.data.design import Design
from interplay.inference.mixing import LEAST_DRAWS
from interplay.inference.stopping import (
    ESS,
    MOST_THAT_MATTER,
    R_HAT,
    ConvergenceMonitor,
    assess,
    matter,
    scales,
)
from interplay.inference.trace import SPARSE


@pytest.fixture
def made() -> Design:
    return make_design(3, n=12, numbers=2, factors=[3])


def made_up(design: Design, length: int, seed: int = 0, shift: float = 0.0) -> dict[str, np.ndarray]:
    """Independent draws, of which one main effect of one chain is shifted."""
    random = np.random.default_rng(seed)
    shape = (4, length)
    mains = random.normal(size=(*shape, design.d))
    mains[0, :, 1] += shift
    return {
        "sigma": np.exp(random.normal(size=shape)),
        "eta1": np.exp(random.normal(size=shape)),
        "eta2": np.exp(random.normal(size=shape)),
        "eta3": np.zeros(shape),
        "kappa": np.exp(0.1 * random.normal(size=(*shape, design.p))) * np.array([3.0, 1.0, 2.0]),
        "intercept_scale": np.full(shape, 3.0),
        "main_mean": mains,
        "main_sd": np.ones_like(mains[:, ::SPARSE]),
    }


def test_of_too_few_draws_nothing_is_said(made: Design) -> None:
    assert not ConvergenceMonitor(made).converged(trace_of(made_up(made, LEAST_DRAWS - 1)))


@pytest.mark.parametrize(
    ("length", "shift", "expected"), [(600, 0.0, True), (600, 1.0, False), (60, 0.0, False)]
)
def test_agrees_with_the_full_table(made: Design, length: int, shift: float, expected: bool) -> None:
    draws = made_up(made, length, shift=shift)
    rows = ConvergenceMonitor(made).table(trace_of(draws))
    worst = rows["r_hat"].max() <= R_HAT and rows[["ess_bulk", "ess_tail"]].min().min() >= ESS
    assert worst == expected
    assert ConvergenceMonitor(made).converged(trace_of(draws)) == expected


def test_every_quantity_can_stop_it(made: Design) -> None:
    draws = made_up(made, 600)
    assert ConvergenceMonitor(made).converged(trace_of(draws))
    for name in ("sigma", "eta1", "eta2", "kappa", "main_mean"):
        spoilt = draws[name].copy()
        spoilt[0, ..., :1] += 3.0 if spoilt.ndim == 3 else 0.0
        if spoilt.ndim == 2:
            spoilt[0] += 3.0
        assert not ConvergenceMonitor(made).converged(trace_of(draws | {name: spoilt})), name


def test_the_table_names_what_is_watched(made: Design) -> None:
    rows = ConvergenceMonitor(made).table(trace_of(made_up(made, 40, shift=5.0)))
    names = rows["quantity"].tolist()
    # η3 does not vary; κ of the second variable is below half of the largest.
    assert names[:3] == ["sigma", "eta1", "eta2"]
    assert names[3:5] == [f"log_kappa[{made.names[0]}]", f"log_kappa[{made.names[2]}]"]
    assert names[5:] == [f"effect[{label}]" for label in made.labels]
    assert scales(trace_of(made_up(made, 40)))["quantity"].tolist() == ["sigma", "eta1", "eta2"]


def test_a_prior_without_kappa(made: Design) -> None:
    draws = made_up(made, 600)
    draws = {name: draws[name] for name in ("sigma", "main_mean")}
    assert ConvergenceMonitor(made).table(trace_of(draws))["quantity"].tolist()[0] == "sigma"
    assert ConvergenceMonitor(made).converged(trace_of(draws))


def test_kappa_of_zero_is_no_error(made: Design) -> None:
    draws = made_up(made, 40)
    draws["kappa"][:, ::2] = 0.0
    assert np.isfinite(ConvergenceMonitor(made).table(trace_of(draws))["ess_bulk"]).all()


def test_what_matters() -> None:
    level = np.array([0.4, 1.0, 0.1, 0.51, 0.49, 0.9])
    assert matter(np.broadcast_to(level, (4, 10, 6))).tolist() == [1, 5, 3]
    many = matter(np.ones((2, 5, 3 * MOST_THAT_MATTER)))
    assert many.tolist() == list(range(MOST_THAT_MATTER))
    mean = np.zeros((2, 10, 2))
    mean[0, :, 0], mean[:, :, 1] = 1.0, 0.6
    assert matter(mean).tolist() == [1, 0]


def test_what_failed_is_looked_at_first_and_nothing_twice(
    made: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def spy(block: dict[str, np.ndarray], *rest: object) -> dict:
        looked.extend(block)
        return assess(block, *rest)

    monkeypatch.setattr("interplay.inference.stopping.assess", spy)
    monitor, draws = ConvergenceMonitor(made), made_up(made, 600)
    last = draws["main_mean"].copy()
    last[:, :, 0] = np.random.default_rng(5).standard_normal((4, 20)).repeat(30, axis=1)
    assert not monitor.converged(trace_of(draws | {"main_mean": last}))
    again = made_up(made, 625, seed=1)
    again["main_mean"][:, :600, 0] = last[:, :, 0]
    looked.clear()
    assert not monitor.converged(trace_of(again))
    assert looked == [f"effect[{made.labels[0]}]"]
    fine = made_up(made, 650, seed=2)
    looked.clear()
    assert monitor.converged(trace_of(fine))
    assert len(monitor.table(trace_of(fine))) == len(looked) == 5 + made.d
