"""Progress: what a run tells, where it is shown, and silence elsewhere."""

import importlib.util
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from interplay.data.design import design
from interplay.inference import sample as module
from interplay.inference.diagnostics import ConvergenceWarning
from interplay.inference.progress import Report, duration, reporting
from interplay.inference.sample import sample
from interplay.inference.sampler import Lockstep
from interplay.model.priors import SKIM

WORDS = "125 draws × 4 chains, R-hat 1.004, ESS 321, 2 divergent, about 12 s left"
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def run(progress: bool) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 6))
    data = design(X, X[:, 0] + 0.5 * random.normal(size=30))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        sample(data, SKIM(), draws=60, sampler=Lockstep(chains=2, warmup=20), progress=progress)


def shown(text: str) -> str:
    """What a reader sees: without control codes and line breaks."""
    return " ".join(CONTROL.sub(" ", text).split())


def test_what_a_run_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, float, str]] = []

    @contextmanager
    def recording(show: bool) -> Iterator[Report]:
        assert show
        yield lambda phase, done, words: told.append((phase, done, words))

    monkeypatch.setattr(module, "reporting", recording)
    run(progress=True)
    phases = [phase for phase, _, _ in told]
    assert list(dict.fromkeys(phases)) == ["start", "warm-up", "sampling", "checking"]
    warm_up = [done for phase, done, _ in told if phase == "warm-up"]
    assert warm_up == [0.25, 0.5, 0.75, 1.0]
    sampling = [(done, words) for phase, done, words in told if phase == "sampling"]
    assert [done for done, _ in sampling] == pytest.approx([25 / 60, 50 / 60, 1.0])
    for count, (_, words) in zip((25, 50, 60), sampling, strict=True):
        form = rf"{count} draws × 2 chains, R-hat \d\.\d{{3}}, ESS \d+, \d+ divergent, about .* left"
        assert re.fullmatch(form, words)


@pytest.mark.parametrize("width", [80, 160])
def test_a_terminal_shows_all_of_it(width: int) -> None:
    screen = StringIO()
    with reporting(True, Console(file=screen, force_terminal=True, width=width)) as report:
        report("start", 0.0, "looking for variables that matter")
        report("sampling", 0.7, WORDS)
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
        report("sampling", 0.5, WORDS)
    with reporting(False, Console(file=screen, force_terminal=True)) as report:
        report("sampling", 0.5, WORDS)
    assert screen.getvalue() == ""


def test_the_screen_is_left_in_order_after_an_error() -> None:
    screen = StringIO()

    def fail() -> None:
        with reporting(True, Console(file=screen, force_terminal=True)) as report:
            report("sampling", 0.5, WORDS)
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
            report("warm-up", 0.5, "")
            report("sampling", 0.7, WORDS)
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
