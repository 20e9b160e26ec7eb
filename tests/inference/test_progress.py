"""Progress: what a run tells, where it is shown, and silence elsewhere."""

import importlib.util
import re
import warnings
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from interplay.data.design import design
from interplay.inference.diagnostics import ConvergenceWarning
from interplay.inference.moves import HMC
from interplay.inference.progress import Forecast, Report, Stage, duration, reporting
from interplay.inference.sample import sample
from interplay.model.priors import SKIM

WORDS = "125 draws × 4 chains, R-hat 1.004, ESS 321, 2 divergent, about 12 s left"
STAGE = Stage("sampling", 0.7, 125, 4, 1.004, 321.2, 2, 12.1)
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def run(progress: bool | Report) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 6))
    data = design(X, X[:, 0] + 0.5 * random.normal(size=30))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        sample(data, SKIM(), draws=60, sampler=HMC(chains=2, warmup=20), progress=progress)


def shown(text: str) -> str:
    """What a reader sees: without control codes and line breaks."""
    return " ".join(CONTROL.sub(" ", text).split())


def test_what_a_run_tells() -> None:
    told: list[Stage] = []
    run(progress=told.append)
    assert list(dict.fromkeys(stage.phase for stage in told)) == ["start", "warm-up", "sampling", "checking"]
    assert [stage.done for stage in told if stage.phase == "warm-up"] == [0.25, 0.5, 0.75, 1.0]
    sampling = [stage for stage in told if stage.phase == "sampling"]
    assert [stage.done for stage in sampling] == pytest.approx([25 / 60, 50 / 60, 1.0])
    for count, stage in zip((25, 50, 60), sampling, strict=True):
        form = rf"{count} draws × 2 chains, R-hat \d\.\d{{3}}, ESS \d+, \d+ divergent, about .* left"
        assert re.fullmatch(form, str(stage))


def test_time_left_follows_the_growth_of_effective_draws() -> None:
    forecast = Forecast(None, 400.0, 8000)
    assert forecast.seconds_left(0, 30.0, 0.0) is None
    # A slow beginning: 10 effective draws in the first 100 draws, then one for every two; 0.1 s a draw.
    told = [
        forecast.seconds_left(n, 30.0 + 0.1 * n, 0.1 * min(n, 100) + 0.5 * max(n - 100, 0))
        for n in range(25, 825, 25)
    ]
    assert told[:3] == [None] * 3
    assert told[3] == pytest.approx(0.1 * 390 / 0.1)
    # From 200 draws on the last half is all of the later kind.
    for n, left in zip(range(200, 825, 25), told[7:], strict=True):
        assert left == pytest.approx(0.1 * (880 - n))
    assert forecast.seconds_left(825, 112.5, 410.0) is None
    # Where nothing grows nothing is said.
    shrinking = Forecast(None, 400.0, 8000)
    assert [shrinking.seconds_left(n, 0.1 * n, 300.0 - n) for n in (100, 125, 150)] == [None] * 3
    # A restart is a new beginning.
    assert forecast.seconds_left(25, 200.0, 10.0) is None


def test_time_left_ends_with_the_draws_that_are_wanted_or_allowed() -> None:
    wanted = Forecast(200, 400.0, 8000)
    wanted.seconds_left(0, 5.0, 0.0)
    assert [wanted.seconds_left(n, 5.0 + 0.2 * n, 1.0) for n in (25, 50, 200)] == pytest.approx(
        [35.0, 30.0, 0.0]
    )
    slow = Forecast(None, 400.0, 150)
    slow.seconds_left(0, 0.0, 0.0)
    assert slow.seconds_left(100, 10.0, 1.0) == pytest.approx(5.0)
    resumed = Forecast(None, 400.0, 8000)
    assert resumed.seconds_left(300, 80.0, 100.0) is None
    assert resumed.seconds_left(325, 85.0, 110.0) == pytest.approx(290 / 0.4 * 0.2)


@pytest.mark.parametrize("width", [80, 160])
def test_a_terminal_shows_all_of_it(width: int) -> None:
    screen = StringIO()
    with reporting(True, Console(file=screen, force_terminal=True, width=width)) as report:
        report(Stage("start", 0.0))
        report(STAGE)
    text = shown(screen.getvalue())
    assert "sampling" in text
    seen = re.sub(r"[^\w.,×-]", "", text)
    for word in WORDS.split():
        assert word in seen
    assert "…" not in text


def test_a_run_in_a_terminal(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    run(progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "checking" in shown(err)
    run(progress=False)
    assert capfd.readouterr() == ("", "")


def test_quiet_where_nobody_looks(capfd: pytest.CaptureFixture[str]) -> None:
    run(progress=True)
    assert capfd.readouterr() == ("", "")


def test_a_file_stays_empty() -> None:
    screen = StringIO()
    with reporting(True, Console(file=screen)) as report:
        report(STAGE)
    with reporting(False, Console(file=screen, force_terminal=True)) as report:
        report(STAGE)
    assert screen.getvalue() == ""


def test_the_screen_is_left_in_order_after_an_error() -> None:
    screen = StringIO()

    def fail() -> None:
        with reporting(True, Console(file=screen, force_terminal=True)) as report:
            report(STAGE)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert screen.getvalue().rfind("\x1b[?25h") > screen.getvalue().rfind("\x1b[?25l")


@pytest.mark.skipif(importlib.util.find_spec("IPython") is None, reason="needs IPython")
def test_a_notebook_shows_one_line() -> None:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    InteractiveShell.instance()
    try:
        with capture_output() as captured, reporting(True, Console(force_jupyter=True)) as report:
            report(Stage("warm-up", 0.5))
            report(STAGE)
    finally:
        InteractiveShell.clear_instance()
    lines = [output.data["text/plain"] for output in captured.outputs]
    assert lines[0] == "start"
    assert lines[1] == "warm-up 50% · 0 s"
    assert lines[2] == f"sampling 70% · 0 s · {WORDS}"
    assert [output.update for output in captured.outputs] == [False, True, True]
    assert captured.stderr == ""


def test_durations() -> None:
    assert [duration(seconds) for seconds in (0.2, 89.0, 600.0, 7200.0)] == ["0 s", "89 s", "10 min", "2.0 h"]
