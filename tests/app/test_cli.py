"""The command line: right results, or one line that says what to do; real processes for what a shell sees."""

import csv
import inspect
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import patience
import pytest
from patience import child
from typer.testing import CliRunner

import interplay as ip
from interplay.app.cli import fit as fit_command
from interplay.app.cli.main import app
from interplay.app.cli.tables import Format, write
from interplay.inference.progress import Stage
from interplay.inference.sample import MAX_DRAWS

pytestmark = pytest.mark.user_settings

COMMAND = [sys.executable, "-m", "interplay"]
ROWS = 40


def test_ends_after_as_many_draws_as_the_estimator() -> None:
    # Written out there, as the command line imports nothing heavy before it is used.
    assert inspect.signature(fit_command.fit).parameters["max_draws"].default == MAX_DRAWS


def run(*arguments: object, stdin: bytes | None = None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def parsed(text: str, like: pd.DataFrame) -> list[dict[str, object]]:
    """CSV as records, every number to the last bit."""
    read = {"float64": float, "bool": "True".__eq__}
    kinds = {name: read.get(str(dtype), str) for name, dtype in like.dtypes.items()}
    return [
        {name: kinds[name](cell) for name, cell in row.items()} for row in csv.DictReader(io.StringIO(text))
    ]


@pytest.fixture(scope="session")
def table() -> pd.DataFrame:
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(ROWS, 3)), columns=["a", "b", "c,d"])
    noise = 0.3 * random.normal(size=ROWS)
    return X.assign(id=[f"s{k}" for k in range(ROWS)], y=X["a"] + 2 * X["a"] * X["b"] + noise)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, table: pd.DataFrame) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    table.to_csv(folder / "data.csv", index=False)
    return folder


@pytest.fixture(scope="session")
def done(folder: Path):
    """A real fit, with as few draws as a verdict needs."""
    arguments = ("fit", folder / "data.csv", "-r", "y", "--drop", "id", "--max-draws", 25)
    return run(*arguments, "--out", folder / "run.nc")


@pytest.fixture(scope="session")
def saved(folder: Path, done) -> Path:
    assert (folder / "run.nc").exists(), done.output
    return folder / "run.nc"


def test_fit_shows_the_verdict_and_the_effects_and_its_exit_code_is_the_verdict(done, saved: Path) -> None:
    fit = ip.load(saved)
    assert fit.design.names == ("a", "b", "c,d")
    assert done.exit_code == (3 if fit.diagnostics.verdict == "do not report" else 0)
    assert "Convergence: " + fit.diagnostics.verdict.capitalize() in done.stdout
    assert "max_draws (or" not in done.output
    assert "--max-draws" in done.stdout
    assert "a:b" in done.stdout
    assert "✓" in done.stdout
    assert f"Saved to {saved}" in done.stdout
    assert "40 rows, 3 variables" in done.stderr
    assert "warm-up" in done.stderr
    assert "warm-up" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ((), lambda fit: fit.effects()),
        (("a", "a:b", "a^2"), lambda fit: fit.effects(["a", "a:b", "a^2"])),
        (("mains",), lambda fit: fit.effects("mains")),
        (("--pairs", 'a,b,"c,d"'), lambda fit: fit.effects([("a", "b"), ("a", "c,d"), ("b", "c,d")])),
        (("--top-pairs", "2"), lambda fit: fit.top_pairs(2)),
    ],
)
def test_effects_as_csv_and_json_are_those_of_python(saved: Path, arguments, asked) -> None:
    expected = asked(ip.load(saved))
    written = run("effects", saved, *arguments, "--format", "csv")
    assert written.exit_code == 0
    assert parsed(written.stdout, expected) == expected.to_dict("records")
    records = json.loads(run("effects", saved, *arguments, "-f", "json").stdout)
    assert records == expected.to_dict("records")


def test_effects_as_a_table(saved: Path) -> None:
    shown = run("effects", saved, "a:b", "c,d")
    assert shown.exit_code == 0
    assert shown.stdout.split()[0] == "effect"
    assert "c,d" in shown.stdout


def test_predictions_of_a_file_and_of_stdin(saved: Path, folder: Path, table: pd.DataFrame) -> None:
    fit = ip.load(saved)
    table.head(5).to_csv(folder / "new.csv", index=False)
    mean, sd = fit.predict(table.head(5), return_std=True)
    wide = fit.predict_interval(table.head(5), 0.5)
    expected = pd.DataFrame({"mean": mean, "sd": sd, "lower": wide[:, 0], "upper": wide[:, 1]})
    for name, stdin in ((folder / "new.csv", None), ("-", (folder / "new.csv").read_bytes())):
        result = run("predict", saved, name, "--interval", "0.5", stdin=stdin)
        assert result.exit_code == 0, result.stderr
        read = pd.DataFrame(parsed(result.stdout, expected))
        pd.testing.assert_frame_equal(read, expected, rtol=1e-12)


def test_ctrl_c_saves_the_draws_so_far_and_the_same_command_goes_on(
    folder: Path, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(stage: Stage) -> None:
        if stage.phase == "sampling":
            raise KeyboardInterrupt

    part, out = folder / "part.nc", folder / "interrupted.nc"
    arguments = ("fit", folder / "data.csv", "-r", "y", "--drop", "id", "--checkpoint", part, "--out", out)
    with monkeypatch.context() as patched:
        patched.setattr(fit_command, "progress", lambda: interrupt)
        stopped = run(*arguments)
    assert stopped.exit_code == 130
    first = ip.load(out)
    assert first.diagnostics.ended == "interrupted"
    assert first.draws.length == 25
    again = run(*arguments, "--max-draws", 50)
    assert again.exit_code in (0, 3)
    assert f"{out} is there already" in again.stderr
    longer = ip.load(out)
    assert longer.draws.length == 50
    kappa = [fit.draws.hyperparameters["kappa"] for fit in (first, longer, ip.load(saved))]
    assert np.array_equal(kappa[0], kappa[1][:, :25])
    assert np.array_equal(kappa[0], kappa[2])


def test_a_plan_is_a_range_and_in_words(folder: Path) -> None:
    result = run("plan", folder / "data.csv", "-r", "y", "--drop", "id")
    assert result.exit_code == 0
    assert result.stdout.startswith("The fit will take about ")
    assert " ms, and most fits converge after 400 to 1,600 of each chain" in result.stdout
    assert "GB" in result.stdout or "MB" in result.stdout


MISTAKES = {
    "unknown response": ("a,y\n1,2\n3,4\n5,6\n", ["-r", "z"], ["no column 'z'", "Give the name"]),
    "empty": ("", ["-r", "y"], ["is empty", "Check that the file"]),
    "binary": ("a\0b", ["-r", "y"], ["binary", "Save the data as CSV"]),
    "dates": ("d,a,y\n1.5.2020,1,2\n1.5.2020,3,4\n2.5.2020,5,7\n", ["-r", "y"], ["dates", "--drop d"]),
    "missing": ("a,b,y\n1,1,2\n,2,4\n5,3,7\n", ["-r", "y"], ["missing", "--impute mean"]),
    "two to drop": (",,a,y\n0,5,1,2\n1,6,3,4\n2,5,5,7\n", ["-r", "y"], ["--drop Unnamed: 0,Unnamed: 1"]),
    "expected mains": ("a,b,y\n1,5,2\n3,4,4\n5,6,7\n", ["-r", "y", "--expected-mains", "2"], ["below 2"]),
    "no such folder": ("a,y\n1,2\n", ["-r", "y", "-o", "none/x.nc"], ["Make that folder", "--out"]),
    "the data": ("a,y\n1,2\n", ["-r", "y", "-o", "data.csv"], ["not overwritten", "--out"]),
}


@pytest.mark.parametrize(("text", "arguments", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, arguments: list[str], words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(text)
    for data, stdin in (("data.csv", None), ("-", text.encode())):
        result = run("fit", data, *arguments, stdin=stdin)
        if data == "-" and "data.csv" in arguments:
            continue
        assert result.exit_code == 1, result.exception
        assert result.stdout == ""
        assert result.stderr.count("interplay: ") == 1
        message = result.stderr.splitlines()[-1]
        assert message.startswith("interplay: ")
        for word in words:
            assert word in message
        assert "/tmp" not in message or data != "-"


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit"],
        ["fit", "data.csv"],
        ["fit", "data.csv", "-r", "y", "--impute", "median"],
        ["effects", "run.nc", "--format", "xml"],
        ["effects", "run.nc", "a", "--top-pairs", "3"],
        ["effects", "run.nc", "mains", "a"],
        ["predict", "run.nc", "new.csv", "--interval", "90"],
        ["fits"],
    ],
)
def test_a_command_that_is_not_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage: " in result.stderr


def test_files_that_are_no_fits_and_terms_that_are_not_there(
    saved: Path, folder: Path, table: pd.DataFrame
) -> None:
    table.assign(z=1).to_csv(folder / "more.csv", index=False)
    for arguments, word in (
        (("effects", folder / "data.csv"), "interplay fit"),
        (("effects", folder / "none.nc"), "does not exist"),
        (("effects", saved, "a:z"), "'z'"),
        (("predict", saved, folder / "none.csv"), "no file"),
        (("predict", saved, folder / "more.csv"), "'z'. Expected only 'a', 'b', 'c,d'. Take them out"),
        (("report", saved, "-o", folder), "folder"),
    ):
        result = run(*arguments)
        assert result.exit_code == 1, result.exception
        assert result.stdout == ""
        assert word in result.stderr.splitlines()[-1]


def test_where_nothing_may_be_written_nothing_is_read(folder: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    # The superuser may write anywhere but here.
    place = Path("/proc") if os.access(closed, os.W_OK) else closed
    if not place.is_dir():
        pytest.skip("no folder that this user may not write to")
    result = run("fit", folder / "data.csv", "-r", "y", "--out", place / "run.nc")
    assert result.exit_code == 1
    assert result.stderr.startswith("interplay: cannot write to ")
    assert "--out" in result.stderr
    assert "Reading" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("report", "run.nc", "-o", "data.csv"), "'data.csv' is there and is not a page"),
        (("report", "run.nc", "-o", "run.nc"), "'run.nc' is what would be read"),
        (("fit", "data.csv", "-r", "y", "-o", "new.csv"), "'new.csv' is there and is not a saved fit"),
        (("fit", "data.csv", "-r", "y", "--checkpoint", "data.csv"), "'data.csv' is what would be read"),
        (("fit", "data.csv", "-r", "y", "--checkpoint", "data.nc"), "would both be written to 'data.nc'"),
        (("fit", "data.csv", "-r", "y", "--checkpoint", "no/c.part"), "there is no folder 'no'"),
    ],
)
def test_no_file_of_another_kind_is_overwritten(
    folder: Path, saved: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], word: str
) -> None:
    monkeypatch.chdir(folder)
    Path("new.csv").write_text("a,b\n1,2\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    result = run(*arguments)
    assert result.exit_code == 1
    assert word in result.stderr
    assert "Reading" not in result.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_a_fit_that_is_not_to_be_trusted_says_so_whenever_it_is_used(saved: Path, folder: Path) -> None:
    verdict = ip.load(saved).diagnostics.verdict
    assert verdict != "trust"
    for result in (run("effects", saved, "a"), run("predict", saved, folder / "data.csv")):
        assert result.exit_code == 0
        assert f"warning: {verdict.capitalize()}: " in result.stderr


def test_a_pair_among_a_variable_and_itself_is_not_meant(saved: Path) -> None:
    once, twice = (run("effects", saved, "--pairs", names, "-f", "csv") for names in ("a,b", "a,b,a"))
    assert once.stdout == twice.stdout != ""


def test_names_with_colons_stay_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    columns = ["mean", "sd", "lower", "upper", "prob_positive", "lfsr"]
    natural = ["mean_natural", "lower_natural", "upper_natural"]
    row = dict.fromkeys((*columns, *natural), 0.1)
    effects = pd.DataFrame([{"term": "x:a:b", "kind": "pair", **row, "selected": False}])
    write(effects, Format.table)
    assert "x:a:b" in capsys.readouterr().out


def test_a_constant_column_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b,y\n1,1,2\n2,1,4\n5,1,7\n")
    result = run("fit", tmp_path / "data.csv", "-r", "y", "--expected-mains", 3, "-o", tmp_path / "run.nc")
    assert "note: " in result.stderr
    assert "'b'" in result.stderr


def test_help_brings_nothing_heavy() -> None:
    code = (
        "import sys, interplay.app.cli.main as main\n"
        "try: main.main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'jax', 'numpy', 'pandas'} & set(sys.modules)), file=sys.stderr)"
    )
    done = patience.run([sys.executable, "-c", code, "--help"], check=True)
    assert done.stderr.strip() == "[]"
    for word in ("fit", "effects", "predict", "report", "plan", "serve", "demo", "Exit codes", "Examples"):
        assert word in done.stdout


def test_every_command_has_examples() -> None:
    for name in ("fit", "effects", "predict", "report", "plan", "serve", "demo"):
        assert f"interplay {name}" in run(name, "--help").stdout.split("Example")[1]


def test_a_pipe_that_closes_early_and_a_mistake_in_a_shell(saved: Path, tmp_path: Path) -> None:
    with child(
        [*COMMAND, "effects", saved, "mains", "-f", "csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    piped = patience.run([*COMMAND, "fit", "-", "-r", "y"], input="", cwd=tmp_path)
    assert piped.returncode == 1
    assert piped.stdout == ""
    assert "interplay: stdin is empty" in piped.stderr
    assert "Traceback" not in piped.stderr
