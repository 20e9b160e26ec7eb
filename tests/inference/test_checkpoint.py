"""Checkpoints: a run that was killed, or asked for more, gives the draws of one that was not."""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from patience import child, wait_for

from interplay.data.design import Design, design
from interplay.inference.checkpoint import FORMAT, CheckpointError
from interplay.inference.diagnostics import ConvergenceWarning, Diagnostics
from interplay.inference.draws import Draws
from interplay.inference.moves import HMC
from interplay.inference.sample import sample
from interplay.model.families import Gaussian
from interplay.model.priors import SKIM, BlockDegree

DRAWS = 60
SAMPLER = HMC(chains=2, warmup=20)


def make(seed: int = 0, names: str = "abcdef") -> Design:
    random = np.random.default_rng(seed)
    X = random.normal(size=(30, 6))
    y = X[:, 0] + X[:, 1] + X[:, 0] * X[:, 1] + 0.5 * random.normal(size=30)
    return design(pd.DataFrame(X, columns=list(names)), y)


def run(path: Path | None, data: Design | None = None, **settings: Any) -> tuple[Draws, Diagnostics]:
    settings = {"prior": SKIM(), "sampler": SAMPLER, "draws": DRAWS, **settings}
    prior = settings.pop("prior")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return sample(data or make(), prior, checkpoint=path, progress=False, **settings)


def parts(draws: Draws) -> dict[str, np.ndarray]:
    return draws.hyperparameters | draws.statistics


def assert_same(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> None:
    """Equal in every bit."""
    assert list(first) == list(second)
    for name in first:
        assert first[name].dtype == second[name].dtype
        assert first[name].shape == second[name].shape
        assert first[name].tobytes() == second[name].tobytes(), name


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Draws]:
    path = tmp_path_factory.mktemp("finished") / "run.nc"
    return path, run(path)[0]


@pytest.fixture
def path(finished: tuple[Path, Draws], tmp_path: Path) -> Path:
    """A checkpoint of a finished run, to spoil."""
    copy = tmp_path / "run.nc"
    copy.write_bytes(finished[0].read_bytes())
    return copy


PROCESS = """
import sys
import test_checkpoint
path = test_checkpoint.Path(sys.argv[1])
print("begun", flush=True)
test_checkpoint.run(path, draws=10**6, sampler=test_checkpoint.LONGER)
"""
LONGER = replace(SAMPLER, warmup=40)


def begin(path: Path) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """A run without an end, in a process of its own that can be killed."""
    folders = [Path(__file__).parent, Path(__file__).parents[1]]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))}
    return child([sys.executable, "-c", PROCESS, path], env=environment, stdout=subprocess.PIPE)


def wait_for_changes(process: subprocess.Popen[bytes], path: Path, changes: int) -> None:
    """Until a file has been replaced so many times."""

    def written() -> int:
        return path.stat().st_mtime_ns if path.exists() else 0

    for _ in range(changes):
        last = written()
        wait_for(lambda last=last: written() != last, "a checkpoint", process, pause=0.001)


def place(path: Path) -> dict[str, Any]:
    """Where a run is."""
    with xr.open_dataset(path, engine="h5netcdf") as data:
        return json.loads(data.attrs["place"])


@pytest.mark.slow
def test_killed_again_and_again(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    path = folder / "run.nc"
    random = np.random.default_rng(0)
    phases = []
    # The first is killed before there is anything to go on from, the second in warm-up.
    for changes in (0, 1, *random.integers(1, 5, size=4)):
        with begin(path) as process:
            assert process.stdout is not None
            process.stdout.readline()
            wait_for_changes(process, path, int(changes))
            time.sleep(random.uniform(0.0, 0.02))
            process.kill()
        assert process.returncode == -signal.SIGKILL
        if path.exists():
            phases.append(place(path)["phase"])
    assert len(phases) >= 5
    assert set(phases) == {"warm-up", "sampling"}
    # The same run to some draws after the last that were killed, and in one piece.
    draws = place(path)["iteration"] + 30
    resumed, whole = (parts(run(file, draws=draws, sampler=LONGER)[0]) for file in (path, None))
    assert_same(resumed, whole)
    assert os.listdir(folder) == ["run.nc"]


def test_a_finished_run_comes_back(finished: tuple[Path, Draws], path: Path) -> None:
    before = path.read_bytes()
    draws, diagnostics = run(path)
    assert_same(parts(draws), parts(finished[1]))
    assert diagnostics.ended == "draws"
    assert path.read_bytes() == before


def test_more_draws_go_on_from_there(finished: tuple[Path, Draws], path: Path) -> None:
    more, whole = parts(run(path, draws=110)[0]), parts(run(None, draws=110)[0])
    assert more["sigma"].shape == (2, 110)
    assert_same(more, whole)
    assert_same({name: values[:, :DRAWS] for name, values in more.items()}, parts(finished[1]))
    fewer = parts(run(path, draws=40)[0])
    assert_same(fewer, {name: values[:, :40] for name, values in whole.items()})


def test_a_checkpoint_can_be_read_by_others(path: Path) -> None:
    path.unlink()
    run(path, draws=10)
    plain = path.with_name("plain")
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode


OTHERS: dict[str, dict[str, Any]] = {
    "covariates": {"data": replace(make(), X=make(1).X)},
    "response": {"data": replace(make(), y=make(1).y)},
    "sample weights": {"data": replace(make(), weights=np.linspace(0.5, 1.5, 30))},
    "names of variables": {"data": make(names="abcdeg")},
    "number of rows": {"data": replace(make(), X=make().X[:-1], y=make().y[:-1])},
    "prior: SKIM": {"prior": SKIM(expected_mains=2)},
    "prior: .*BlockDegree": {"prior": BlockDegree()},
    "sampler: .*warmup=20.*warmup=25": {"sampler": replace(SAMPLER, warmup=25)},
    "family: .*noise_scale=2.0.*noise_scale=1": {"family": Gaussian(noise_scale=1)},
    "sampler: .*length=1.5.*length=2": {"sampler": replace(SAMPLER, length=2)},
    "seed: 0 in the file, 1 here": {"seed": 1},
}


@pytest.mark.parametrize(("difference", "settings"), OTHERS.items(), ids=OTHERS)
def test_of_another_run(path: Path, difference: str, settings: dict[str, Any]) -> None:
    before = path.read_bytes()
    with pytest.raises(
        CheckpointError, match=f"run.nc is a checkpoint of another run. Different:.*{difference}"
    ):
        run(path, **settings)
    assert path.read_bytes() == before


def test_only_the_difference_is_named(path: Path) -> None:
    with pytest.raises(CheckpointError) as caught:
        run(path, seed=1)
    assert "covariates" not in str(caught.value)
    assert "sampler" not in str(caught.value)


def refused(path: Path, message: str) -> None:
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=message):
        run(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.999])
def test_cut_short(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    refused(path, r"run\.nc is there, but is not a checkpoint that can be read.*Give another path, or delete")


def test_flipped_bits_in_the_draws(finished: tuple[Path, Draws], path: Path) -> None:
    content = path.read_bytes()
    at = content.find(finished[1].hyperparameters["sigma"][1, :20].tobytes())
    assert at > 0
    path.write_bytes(content[:at] + bytes([content[at] ^ 16]) + content[at + 1 :])
    refused(path, "does not match its digest")


# h5netcdf complains when it puts away a file that it could not open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_flipped_bits_anywhere(finished: tuple[Path, Draws], path: Path) -> None:
    content = path.read_bytes()
    random = np.random.default_rng(0)
    noticed = 0
    for at in random.integers(len(content), size=25):
        broken = bytearray(content)
        broken[at] ^= 1 << random.integers(8)
        path.write_bytes(broken)
        try:
            draws, _ = run(path)
        except CheckpointError:
            noticed += 1
        else:
            assert_same(parts(draws), parts(finished[1]))
    assert noticed


def rewritten(path: Path, change: Callable[[xr.Dataset], Any]) -> None:
    with xr.open_dataset(path, engine="h5netcdf") as opened:
        data = opened.load()
    change(data)
    data.to_netcdf(path, engine="h5netcdf")


def test_edited(path: Path) -> None:
    rewritten(
        path,
        lambda data: data.attrs.update(place=data.attrs["place"].replace('"attempt": 0', '"attempt": 1')),
    )
    refused(path, "does not match its digest")


def test_of_a_newer_version(path: Path) -> None:
    newer = {"interplay_checkpoint": FORMAT + 1, "interplay_version": "99.1"}
    rewritten(path, lambda data: data.attrs.update(newer))
    refused(path, rf"newer interplay \(99\.1, format {FORMAT + 1}; this one reads {FORMAT}\)\. Upgrade")


def test_foreign_files(path: Path) -> None:
    path.write_text("a,b\n1,2\n")
    refused(path, "not a checkpoint that can be read")
    xr.Dataset({"a": ("x", np.arange(3.0))}).to_netcdf(path, engine="h5netcdf")
    refused(path, "a netCDF file without the mark of one")


def test_no_place_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="not a checkpoint that can be read"):
        run(tmp_path)
    with pytest.raises(CheckpointError, match=r"run\.nc could not be written: No such file or directory"):
        run(tmp_path / "absent" / "run.nc")
    assert not os.listdir(tmp_path)


libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def mounted(folder: Path, size: int) -> Iterator[None]:
    """A small disk in memory; skips where one may not be made."""
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux has disks in memory")
    if libc.mount(b"none", bytes(folder), b"tmpfs", 0, f"size={size}".encode()):
        pytest.skip(f"no disk can be mounted: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        assert libc.umount(bytes(folder)) == 0


def remount(folder: Path, flags: int, options: str) -> None:
    remounts = 32
    assert libc.mount(b"none", bytes(folder), b"tmpfs", remounts | flags, options.encode()) == 0


def test_a_full_disk(finished: tuple[Path, Draws], tmp_path: Path) -> None:
    content = finished[0].read_bytes()
    with mounted(tmp_path, int(1.5 * len(content))):
        path = tmp_path / "run.nc"
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match=r"No space left on device\. The earlier file is as it was"):
            run(path, draws=110)
        assert path.read_bytes() == content
        assert os.listdir(tmp_path) == ["run.nc"]
        assert_same(parts(run(path)[0]), parts(finished[1]))
        remount(tmp_path, 0, f"size={5 * len(content)}")
        assert_same(parts(run(path, draws=110)[0]), parts(run(None, draws=110)[0]))


def test_a_disk_that_is_full_from_the_beginning(tmp_path: Path) -> None:
    with mounted(tmp_path, 8192):
        with pytest.raises(CheckpointError, match=r"No space left on device\. Make room"):
            run(tmp_path / "run.nc")
        assert not os.listdir(tmp_path)


def test_a_file_that_may_not_grow(finished: tuple[Path, Draws], path: Path) -> None:
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before), hard))
    try:
        with pytest.raises(CheckpointError, match=r"File too large\. The earlier file is as it was"):
            run(path, draws=110)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["run.nc"]
    assert_same(parts(run(path)[0]), parts(finished[1]))


@contextmanager
def read_only(folder: Path, files: dict[str, bytes]) -> Iterator[None]:
    """A folder that nobody may write to: the superuser may write wherever the disk lets him."""

    def fill() -> None:
        for name, content in files.items():
            (folder / name).write_bytes(content)

    if os.geteuid() == 0:
        with mounted(folder, 1 << 20):
            fill()
            read_only_flag = 1
            remount(folder, read_only_flag, "")
            yield
    else:
        fill()
        folder.chmod(0o500)
        try:
            yield
        finally:
            folder.chmod(0o700)


def test_a_read_only_folder(finished: tuple[Path, Draws], tmp_path: Path) -> None:
    content = finished[0].read_bytes()
    with read_only(tmp_path, {"run.nc": content}):
        began = time.monotonic()
        with pytest.raises(
            CheckpointError, match=r"new\.nc could not be written: .*a folder that you may write"
        ):
            run(tmp_path / "new.nc", draws=10**6, sampler=HMC(chains=2, warmup=10**6))
        assert time.monotonic() - began < 30.0
        # What is there can still be read, but nothing can be added.
        assert_same(parts(run(tmp_path / "run.nc")[0]), parts(finished[1]))
        with pytest.raises(CheckpointError, match="The earlier file is as it was"):
            run(tmp_path / "run.nc", draws=110)
        assert (tmp_path / "run.nc").read_bytes() == content
        assert os.listdir(tmp_path) == ["run.nc"]


def test_of_version_0_1_0(tmp_path: Path) -> None:
    # Written by interplay 0.1.0 with the data and settings of this file.
    path = tmp_path / "run.nc"
    path.write_bytes((Path(__file__).parents[1] / "data" / "checkpoint_0_1_0.nc").read_bytes())
    refused(path, r"run\.nc was written by interplay 0\.1\.0, whose sampler was another.*delete the file")
