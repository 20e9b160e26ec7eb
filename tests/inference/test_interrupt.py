"""When sampling ends: at the draws or seconds asked for, or by Ctrl-C with the draws so far."""

import json
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from patience import child, wait_for

from interplay._support.interrupt import noting_interrupts
from interplay.data.design import Design, design
from interplay.inference.diagnostics import ConvergenceWarning, Diagnostics
from interplay.inference.draws import Draws
from interplay.inference.moves import HMC
from interplay.inference.run import CHUNK
from interplay.inference.sample import sample
from interplay.model.priors import SKIM

SAMPLER = HMC(chains=2, warmup=20)


def make() -> Design:
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 6))
    return design(X, X[:, 0] + X[:, 1] + 0.5 * random.normal(size=30))


def run(**settings: Any) -> tuple[Draws, Diagnostics, list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        draws, diagnostics = sample(make(), SKIM(), **{"sampler": SAMPLER, "progress": False} | settings)
    return draws, diagnostics, caught


PROCESS = """
import json, signal, sys, warnings
import numpy as np
from interplay.data.design import design
from interplay.inference.sample import sample
from interplay.inference.moves import HMC
from interplay.model.priors import SKIM

# Where the tests run in the background of a shell, Ctrl-C is ignored from the outset.
signal.signal(signal.SIGINT, signal.default_int_handler)
warnings.simplefilter("ignore")
random = np.random.default_rng(0)
X = random.normal(size=(30, 6))
data = design(X, X[:, 0] + X[:, 1] + 0.5 * random.normal(size=30))

def run(draws, checkpoint=None):
    sampler = HMC(chains=2, warmup=100)
    settings = {"sampler": sampler, "checkpoint": checkpoint, "progress": False, "max_draws": 10**6}
    return sample(data, SKIM(), draws=draws, **settings)

def tell(**words):
    print(json.dumps(words), flush=True)

try:
    tell(began=True)
    run(10**6, sys.argv[1])
except KeyboardInterrupt:
    tell(raised=True)
draws, diagnostics = run(10**6, sys.argv[1])
whole, _ = run(draws.length)
tell(
    ended=diagnostics.ended,
    reason=diagnostics.reason,
    length=draws.length,
    same=all(
        np.array_equal(values, whole.hyperparameters[name]) for name, values in draws.hyperparameters.items()
    ),
)
"""


@pytest.fixture
def usual() -> Iterator[None]:
    """Ctrl-C as Python has it, whatever the tests were started with."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("usual")
def test_ctrl_c_is_noted_and_raised_when_asked() -> None:
    with noting_interrupts() as raise_if_interrupted:
        raise_if_interrupted()
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            raise_if_interrupted()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("usual")
def test_ctrl_c_in_a_destructor_is_not_lost() -> None:
    class Closing:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    with noting_interrupts() as raise_if_interrupted:
        Closing()
        with pytest.raises(KeyboardInterrupt):
            raise_if_interrupted()


@pytest.mark.usefixtures("usual")
def test_what_is_noted_outside_is_raised_inside() -> None:
    with noting_interrupts():
        signal.raise_signal(signal.SIGINT)
        with noting_interrupts() as raise_if_interrupted, pytest.raises(KeyboardInterrupt):
            raise_if_interrupted()
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    with noting_interrupts() as raise_if_interrupted:
        raise_if_interrupted()


@pytest.mark.usefixtures("usual")
def test_a_programs_own_way_with_ctrl_c_stays() -> None:
    heard = []

    def own(*_: object) -> None:
        heard.append(True)

    signal.signal(signal.SIGINT, own)
    with noting_interrupts() as raise_if_interrupted:
        signal.raise_signal(signal.SIGINT)
        raise_if_interrupted()
    assert heard == [True]
    assert signal.getsignal(signal.SIGINT) is own


def test_outside_the_main_thread_nothing_is_changed() -> None:
    before = signal.getsignal(signal.SIGINT)

    def inside() -> object:
        with noting_interrupts() as raise_if_interrupted:
            raise_if_interrupted()
            return signal.getsignal(signal.SIGINT)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(inside).result() is before


def wait_until(process: subprocess.Popen, path: Path, phase: str, least: int) -> None:
    def reached() -> bool:
        if not path.exists():
            return False
        with xr.open_dataset(path, engine="h5netcdf") as data:
            place = json.loads(data.attrs["place"])
        return place["phase"] == phase and place["iteration"] >= least

    wait_for(reached, f"iteration {least} of {phase}", process, pause=0.002)


def test_interrupted_by_the_keyboard(tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    command = [sys.executable, "-c", PROCESS, path]
    with child(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline()) == {"began": True}
        wait_until(process, path, "warm-up", 5)
        process.send_signal(signal.SIGINT)
        # Before any draw there is nothing to return.
        assert json.loads(process.stdout.readline()) == {"raised": True}
        wait_until(process, path, "sampling", 2 * CHUNK)
        process.send_signal(signal.SIGINT)
        told = json.loads(process.stdout.readline())
        assert process.wait() == 0
        assert process.stderr.read() == ""
    assert told["ended"] == "interrupted"
    assert "sampling was interrupted" in told["reason"]
    assert told["length"] >= 2 * CHUNK
    assert told["same"]


@pytest.mark.parametrize("draws", [1, 10, CHUNK, 60])
def test_as_many_draws_as_asked_for(draws: int) -> None:
    got, diagnostics, _ = run(draws=draws)
    assert diagnostics.ended == "draws"
    assert got.length == draws
    assert got.chains == 2
    assert {values.shape[:2] for values in got.hyperparameters.values()} == {(2, draws)}
    assert "at the number of draws asked for" in diagnostics.reason


def test_no_more_than_max_draws() -> None:
    got, diagnostics, _ = run(max_draws=60)
    assert diagnostics.ended == "max_draws"
    assert got.length == 60


def test_draws_come_before_max_draws() -> None:
    got, diagnostics, _ = run(draws=60, max_draws=30)
    assert diagnostics.ended == "draws"
    assert got.length == 60


def test_fewer_draws_are_the_first_of_more() -> None:
    few, many = run(draws=10)[0], run(draws=60)[0]
    np.testing.assert_array_equal(few.hyperparameters["kappa"], many.hyperparameters["kappa"][:, :10])


@pytest.mark.parametrize("max_seconds", [1e-6, 1])
def test_no_longer_than_max_seconds(max_seconds: float | int) -> None:
    run(draws=10)
    began = time.monotonic()
    draws, diagnostics, caught = run(draws=10**6, max_draws=10**6, max_seconds=max_seconds)
    assert diagnostics.ended == "max_seconds"
    assert max_seconds <= diagnostics.seconds <= time.monotonic() - began
    assert draws.length >= CHUNK
    assert draws.length % CHUNK == 0
    if max_seconds < 1:
        # The time was over in warm-up: one chunk of draws, and a warning not to use them.
        assert draws.length == CHUNK
        assert diagnostics.verdict == "do not report"
        assert len(caught) == 1


def test_one_warning_at_most() -> None:
    _, diagnostics, caught = run(draws=10)
    assert diagnostics.verdict == "do not report"
    (warning,) = caught
    assert warning.category is ConvergenceWarning
    assert str(warning.message).startswith("Do not report: ")


@pytest.mark.slow
def test_converged() -> None:
    draws, diagnostics, caught = run()
    assert diagnostics.ended == "converged"
    assert diagnostics.verdict == "trust"
    assert diagnostics.r_hat <= 1.01
    assert min(diagnostics.ess_bulk, diagnostics.ess_tail) >= 400
    assert draws.length % CHUNK == 0
    assert not caught


@pytest.mark.parametrize("settings", [{"draws": 0}, {"max_draws": -1}, {"max_seconds": 0.0}])
def test_limits_that_make_no_sense(settings: dict[str, Any]) -> None:
    (name,) = settings
    with pytest.raises(ValueError, match=f"{name}=.*expected a positive number, or leave it out"):
        run(**settings)
