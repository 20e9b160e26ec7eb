"""The harness: limits hold, files are whole, a killed run or a lost worker costs no more than its task."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import LocalCluster
from experiments.attempt import attempt, cores
from experiments.harness import outstanding, run
from experiments.methods import growing
from experiments.task import Record, read, records, spared, write
from patience import PATIENCE, wait_for
from works import naps, task

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="cores and memory are read from /proc")

ROOT = Path(__file__).parents[2]

RUN = """
import sys
from pathlib import Path
from experiments.harness import run
from patience import PATIENCE, wait_for
from works import naps

if __name__ == "__main__":
    folder, work, seconds, budget = sys.argv[1:]
    budget = float(budget) if budget else None
    left = run(Path(folder), naps(Path(folder), work, float(seconds)), workers=1, threads=1, budget=budget)
    print("left", left)
"""


@pytest.fixture(autouse=True)
def _works_can_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "tests")]))


def start(folder: Path, work: str, seconds: float, budget: str = "") -> subprocess.Popen:
    command = [sys.executable, "-c", RUN, str(folder), work, str(seconds), budget]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def begun(folder: Path) -> list[tuple[int, int]]:
    """Seed and worker of every task that was begun."""
    log = folder / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [(int(seed), int(worker)) for seed, worker in (line.split() for line in lines)]


def test_how_a_task_ends_is_said() -> None:
    done = attempt(task("cores"), threads=1)
    assert (done.status, done.values) == ("done", {"cores": 1})
    assert {"versions", "source", "date", "processor"} <= set(done.provenance)
    late = attempt(task("nap", options={"log": os.devnull, "seconds": 60.0}, seconds=1.0), threads=1)
    assert (late.status, late.note) == ("time limit", "more than 1 s")
    assert late.cost["seconds"] >= 1.0
    assert set(late.provenance) == set(done.provenance)
    big = attempt(task("hungry", gigabytes=0.3), threads=1)
    assert (big.status, big.note) == ("memory limit", "more than 0.3 GB")
    assert big.cost["peak_bytes"] > 0.3e9
    silent = attempt(task("silent"), threads=1)
    assert (silent.status, silent.note) == ("no answer", "nothing can be said of this")
    assert "source" in silent.provenance
    assert silent.cost["seconds"] > 0
    wrong = attempt(task("wrong"), threads=1)
    assert wrong.status == "failed"
    assert "ArithmeticError: that was wrong" in wrong.note
    absent = attempt(task("absent"), threads=1)
    assert (absent.status, absent.note) == ("not available", "not installed here")


@pytest.mark.parametrize("timed", [False, True])
def test_settings_that_change_what_is_timed_are_kept_from_tasks(
    timed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Dask sets the first for its workers; the second would spare a method its compilation.
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", os.devnull)
    settings = attempt(task("told", timed=timed), threads=1).values["settings"]
    assert "MALLOC_TRIM_THRESHOLD_" not in settings
    assert ("JAX_COMPILATION_CACHE_DIR" in settings) == (not timed)


def test_where_cores_are_not_shared_out_all_may_be_used() -> None:
    assert cores(1, None) == sorted(os.sched_getaffinity(0))


def test_a_place_beyond_the_cores_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit on"):
        attempt(task("cores"), threads=1, slot=10_000)


def test_a_record_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    one = Record(task("nap"), "done", "", 1, {"seconds": 1.0}, {"r_hat": float("nan")}, {})
    write(tmp_path, one)
    kept = read(tmp_path, one.task)
    assert kept is not None
    assert kept.values == {"r_hat": None}
    assert kept.task == one.task
    with pytest.raises(TypeError):
        write(tmp_path, Record(task("nap"), "done", "", 1, {}, {"what": object()}, {}))
    assert read(tmp_path, one.task) == kept
    assert [path.name for path in (tmp_path / "tests").iterdir()] == [one.task.path(tmp_path).name]


def test_what_is_outstanding(tmp_path: Path) -> None:
    tasks = [task("nap", seed, cost=cost) for seed, cost in enumerate((5.0, 1.0, 3.0, 2.0, 4.0))]
    endings = ("done", "failed", "time limit")
    for one, status in zip(tasks, endings, strict=False):
        write(tmp_path, Record(one, status, "", 1, {}, {}, {}))
    # What failed is tried again; the cheap ones come first, and each once.
    assert [one.data["seed"] for one in outstanding(tmp_path, [*tasks, *tasks])] == [1, 3, 4]
    assert len(outstanding(tmp_path, tasks, fresh=True)) == 5


def test_a_task_is_spared_where_an_easier_one_was_stopped(tmp_path: Path) -> None:
    small, middle, large = growing([task("nap", seed) for seed in range(3)])
    other = task("cores")
    assert [one.easier for one in growing([small, other, middle])] == ["", "", small.name]
    assert spared(tmp_path, middle) is None
    write(tmp_path, Record(small, "done", "", 1, {}, {}, {}))
    assert spared(tmp_path, middle) is None
    write(tmp_path, Record(small, "time limit", "more than 600 s", 1, {}, {}, {}))
    for one in (middle, large):
        found = spared(tmp_path, one)
        assert found is not None
        assert (found.task, found.status) == (one, "time limit")
        assert found.note == "not begun, as an easier task took more than 600 s"
        write(tmp_path, found)


def test_a_run_does_not_begin_what_is_spared(tmp_path: Path) -> None:
    options = {"log": str(tmp_path / "log"), "seconds": 30.0}
    tasks = growing([task("nap", k, options=options, seconds=1.0, cost=float(k)) for k in range(3)])
    assert run(tmp_path, tasks, workers=1, threads=1, say=lambda _: None) == 0
    assert [one.status for one in records(tmp_path, tasks)] == ["time limit"] * 3
    assert [seed for seed, _ in begun(tmp_path)] == [0]


@pytest.fixture
def finished() -> Iterator[list[subprocess.Popen]]:
    processes: list[subprocess.Popen] = []
    yield processes
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=PATIENCE)


def test_a_killed_run_goes_on_where_it_stopped(tmp_path: Path, finished: list[subprocess.Popen]) -> None:
    tasks = naps(tmp_path, "nap", 1.0)
    first = start(tmp_path, "nap", 1.0)
    finished.append(first)
    wait_for(lambda: records(tmp_path, tasks) and len(begun(tmp_path)) >= 2, "the second task", first)
    first.send_signal(signal.SIGKILL)
    first.wait(PATIENCE)
    kept = {one.task.name for one in records(tmp_path, tasks)}
    before = len(begun(tmp_path))
    second = start(tmp_path, "nap", 0.0)
    finished.append(second)
    printed, errors = second.communicate(timeout=PATIENCE)
    assert "left 0" in printed, errors
    assert [one.values["doubled"] for one in records(tmp_path, tasks)] == [0, 2, 4, 6]
    # What was done is not begun again; of the rest, each once.
    assert len(begun(tmp_path)) - before == 4 - len(kept)


def test_a_lost_worker_costs_one_task(tmp_path: Path, finished: list[subprocess.Popen]) -> None:
    process = start(tmp_path, "nap_once", 30.0)
    finished.append(process)
    wait_for(lambda: len(begun(tmp_path)) == 2, "the second task", process)
    os.kill(begun(tmp_path)[1][1], signal.SIGKILL)
    printed, errors = process.communicate(timeout=PATIENCE)
    assert "left 0" in printed, errors
    assert [one.status for one in records(tmp_path, naps(tmp_path, "nap_once", 30.0))] == ["done"] * 4
    assert [seed for seed, _ in begun(tmp_path)] == [0, 1, 1, 2, 3]


def test_a_run_takes_any_scheduler(tmp_path: Path) -> None:
    tasks = naps(tmp_path, "nap", 0.0)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        address = cluster.scheduler_address
        assert run(tmp_path, tasks, scheduler=address, say=lambda _: None) == 0
    done = records(tmp_path, tasks)
    assert [(one.values["doubled"], one.threads) for one in done] == [(0, 1), (2, 1), (4, 1), (6, 1)]


def test_what_is_timed_has_its_cores_alone_on_any_scheduler(tmp_path: Path) -> None:
    tasks = [task("cores", 0, timed=True), task("cores", 1)]
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        run(tmp_path, tasks, scheduler=cluster.scheduler_address, say=lambda _: None)
    timed, other = (one.values["cores"] for one in records(tmp_path, tasks))
    assert (timed, other) == (1, len(os.sched_getaffinity(0)))


def test_no_task_is_begun_after_the_budget(tmp_path: Path, finished: list[subprocess.Popen]) -> None:
    process = start(tmp_path, "nap", 0.0, budget="0")
    finished.append(process)
    printed, errors = process.communicate(timeout=PATIENCE)
    assert "left 4" in printed, errors
    assert begun(tmp_path) == []
