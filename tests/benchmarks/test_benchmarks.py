"""The benchmarks run, and write what the page needs; how long anything takes is not asserted."""

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import patience
import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return patience.run(command, cwd=ROOT)


def numbers(tree: object) -> Iterator[float]:
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, list):
        for branch in tree:
            yield from numbers(branch)
    elif isinstance(tree, int | float) and not isinstance(tree, bool):
        yield float(tree)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_quick_run_writes_figures_plot_and_page(tmp_path: Path) -> None:
    done = run("--quick", "--write", str(tmp_path))
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "benchmarks" / "results" / "marginal.json").read_text())

    assert set(results) == {"provenance", "units", "position", "gradients", "curves", "search", "goals"}
    assert set(results["provenance"]) == {"date", "seed", "threads", "processor", "versions", "source"}
    assert results["provenance"]["threads"] == 1
    assert {"python", "interplay", "numpy"} <= set(results["provenance"]["versions"])

    for one in results["gradients"]:
        assert set(one["times"]) == {"interplay", "limit"}
        assert one["old_measured"] is False
        assert all(0 < x < math.inf for x in numbers([one["times"], one["ratios"]["limit"]]))
        # What a sampler has in single precision is near what double precision gives.
        assert one["value_shift"] < 3e-3
        assert one["gradient_shift"] < 1e-2

    assert [curve["method"] for curve in results["curves"]] == ["interplay", "Woodbury", "naive"]
    for curve in results["curves"]:
        assert len(curve["points"]) > 1
        assert all(
            0 < x < math.inf for point in curve["points"] for x in numbers([point["times"], point["bytes"]])
        )
        assert all(math.isfinite(x) for x in numbers([curve["slope"], curve["points"]]))
    by_method = [[point["value"] for point in curve["points"]] for curve in results["curves"]]
    assert by_method[1] == pytest.approx(by_method[0], rel=1e-9)
    assert by_method[2] == pytest.approx(by_method[0], rel=1e-9)
    assert all(0 < x < math.inf for x in numbers(results["search"]))
    for goal in results["goals"]:
        bound = float(goal["bound"].split()[1])
        assert goal["met"] == (
            goal["measured"] >= bound if "≥" in goal["bound"] else goal["measured"] <= bound
        )

    page = (tmp_path / "docs" / "benchmarks.md").read_text()
    assert "| interplay / limit |" in page
    assert (tmp_path / "docs" / "figure1.png").read_bytes().startswith(b"\x89PNG")


def test_quick_run_does_not_replace_the_committed_results() -> None:
    done = run("--quick", "--write")
    assert done.returncode == 2
    assert "Give another folder" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_quick_sampling_keeps_each_row_and_goes_on_from_there(tmp_path: Path) -> None:
    first = run(
        "--only", "sampling", "--quick", "--threads", "1", "--rows", "LassoCV", "--write", str(tmp_path)
    )
    assert first.returncode == 0, first.stderr
    path = tmp_path / "benchmarks" / "results" / "sampling.json"
    (lasso,) = json.loads(path.read_text())["rows"]
    assert lasso["contender"] == "LassoCV"
    assert lasso["seconds"] > 0
    assert lasso["ess_bulk"] is None

    done = run("--only", "sampling", "--quick", "--threads", "1", "--write", str(tmp_path))
    assert done.returncode == 0, done.stderr
    results = json.loads(path.read_text())
    rows = {row["contender"]: row for row in results["rows"]}
    assert rows["LassoCV"] == lasso
    for name in ("interplay", "NumPyro"):
        row = rows[name]
        assert row["chains"] == 4
        assert row["gradients"] >= 4 * row["draws"] > 0
        assert 0 < row["sampling_seconds"] <= row["seconds"]
        assert min(row["ess_bulk"], row["processor_seconds"], row["bytes"], row["r_hat"]) > 0
    (goal,) = results["goals"]
    assert goal["at"] == "(30, 8, 5)"
    assert goal["met"] == (goal["measured"] >= 5)
    page = (tmp_path / "docs" / "benchmarks.md").read_text()
    assert "| NumPyro | (30, 8, 5) |" in page
    assert "<!-- benchmarks: begin -->" in page


def test_sampling_goals_are_judged_from_the_rows_alone() -> None:
    from benchmarks.peers import Problem
    from benchmarks.row import Row
    from benchmarks.sampling_goals import judge

    wide, large, huge = (Problem(200, p, 2.0) for p in (500, 2000, 10_000))
    ours = {"ess_bulk": 1000.0, "sampling_seconds": 10.0}
    rows = [
        Row("interplay", wide, seconds=30.0, to_enough=30.0, **ours),
        Row("NumPyro", wide, ess_bulk=40.0, sampling_seconds=10.0, r_hat=1.01),
        Row("Stan", wide, ess_bulk=4.0, sampling_seconds=10.0, r_hat=1.473),
        Row("adelie", wide, seconds=14.0),
        Row("interplay", large, seconds=100.0, to_enough=100.0, bytes=1.2e9, **ours),
        Row("adelie", large, note="more than 90 s"),
        Row("LassoCV", large, note="more than 16 GB"),
        Row("interplay", huge, seconds=60.0, **ours),
    ]
    met = {(goal.name, goal.at): goal.met for goal in judge(rows)}
    assert met == {
        ("effective draws per second: interplay / NumPyro", "(200, 500, 2)"): True,
        (
            "effective draws per second: interplay / Stan (which did not converge: R-hat 1.47)",
            "(200, 500, 2)",
        ): True,
        ("seconds: interplay / adelie", "(200, 500, 2)"): False,
        ("seconds: interplay (LassoCV: more than 16 GB)", "(200, 2000, 2)"): True,
        ("seconds: interplay (adelie: more than 90 s)", "(200, 2000, 2)"): False,
        ("interplay: peak memory, GB", "(200, 2000, 2)"): False,
        ("interplay: minutes until convergence (not reached)", "(200, 10000, 2)"): False,
    }
