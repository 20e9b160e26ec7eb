"""A small version of every experiment, from the command line to the page."""

import json
import os
import sys
from pathlib import Path

import patience
import pytest
from experiments.data import file
from experiments.registry import EXPERIMENTS

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_a_quick_run_of_everything(tmp_path: Path) -> None:
    # Programs of the same shape are compiled once for all processes.
    cache = {
        "JAX_COMPILATION_CACHE_DIR": os.environ.get("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "cache")),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1",
    }
    command = [sys.executable, "-m", "experiments", "--quick", "--workers", "2", "--threads", "1"]
    if len(os.sched_getaffinity(0)) < 2:
        command[5] = "1"
    done = patience.run(
        [*command, "--folder", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | cache,
        seconds=800.0,
    )
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stdout, done.stdout
    page = (tmp_path / "docs" / "experiments.md").read_text()
    assert "A quick run" in page
    for name, experiment in EXPERIMENTS.items():
        if name == "table2" and file("residential_building.csv") is None:
            continue
        if name == "table3" and file("auto_mpg.csv") is None:
            continue
        assert (tmp_path / "docs" / "experiments" / f"{name}.png").exists(), done.stdout
        for task in experiment.tasks(True):
            record = json.loads(task.path(tmp_path / "experiments" / "results").read_text())
            assert record["status"] in ("done", "not available"), record["note"]
            if record["status"] == "done":
                assert record["cost"]["seconds"] > 0
                assert record["provenance"]["versions"]["interplay"]
    # Strong signals: the pairs are found, and estimated far better than by a model without effects.
    path = tmp_path / "experiments" / "results" / "study" / "synthetic-n40-p10-scale5-seed0--skim.json"
    fit = json.loads(path.read_text())
    assert fit["values"]["found"]["lfsr"]["pairs"] == 10
    assert fit["values"]["errors"]["pairs"] < 1.0
    assert (fit["values"]["sampler"]["chains"], fit["values"]["sampler"]["draws"]) == (4, 25)
    # What a user gets is what is counted.
    counted = fit["values"]["found"]["lfsr"]
    assert set(fit["values"]["selection"]["terms"]) == {*counted["true_terms"], *counted["false_terms"]}
    right = {term["term"] for term in fit["values"]["terms"] if term["right"]}
    assert right.issuperset(fit["values"]["found"]["lfsr"]["true_terms"])
