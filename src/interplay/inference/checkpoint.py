"""A run on disk: written whole after every chunk, and read back bit for bit."""

import hashlib
import json
import sys
from contextlib import suppress
from glob import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from interplay._support.files import check_writable, written_whole
from interplay.inference.moves.base import ChainState
from interplay.inference.run import Job, State
from interplay.inference.trace import Draw, Trace

FORMAT = 2
"""Version of the files that are written, and the only one that is read."""

BLAS_THREADS = 1
"""Threads of the linear algebra inside a chain: its results depend on them in their last digits."""

PLACE = (
    "attempt",
    "libraries",
    "phase",
    "iteration",
    "gradients",
    "seconds",
    "double_precision",
    "rounding",
)
"""Fields of a state that are not arrays."""


class CheckpointError(OSError):
    """A checkpoint cannot be written, or does not belong to this run."""


def identity(job: Job) -> dict[str, str]:
    """What must be the same for a run to go on: the data and the settings, each in a few words."""
    design = job.posterior.design
    with np.printoptions(threshold=sys.maxsize):
        prior = repr(job.posterior.prior)
    return {
        "number of rows": str(design.n),
        "names of variables": _digest(json.dumps(design.labels).encode()),
        "covariates": _digest(np.ascontiguousarray(design.X).tobytes()),
        "response": _digest(np.ascontiguousarray(design.y).tobytes()),
        "sample weights": "none" if design.weights is None else _digest(design.weights.tobytes()),
        "prior": prior,
        "family": repr(job.posterior.family),
        "threads of the linear algebra in a chain": str(BLAS_THREADS),
        "sampler": repr(job.sampler),
        "seed": str(job.seed),
    }


def write(path: Path, run: dict[str, str], state: State) -> None:
    """Write a state of the run with this identity: the file is the old one or the new one, never a part."""
    variables = {
        "positions": (("chain", "coordinate"), state.positions),
        "log_densities": (("chain",), np.array([chain.log_density for chain in state.chains])),
        "history": (("warm_up", "chain", "coordinate"), state.history),
    }
    for name in state.chains[0].auxiliary:
        values = np.stack([chain.auxiliary[name] for chain in state.chains])
        variables[f"auxiliary.{name}"] = _own_dimensions(f"auxiliary_{name}", values, ("chain",))
    for move, tuning in state.tunings.items():
        variables[f"moves.{move}"] = ((), np.array(float(len(tuning))))
        for name, values in tuning.items():
            variables[f"tuning.{move}.{name}"] = _own_dimensions(f"{move}_{name}", values)
    if len(state.trace):
        variables |= _trace_variables(state.trace)
    attributes = {
        "interplay_checkpoint": FORMAT,
        "interplay_version": version("interplay"),
        "identity": json.dumps(run),
        "place": json.dumps({name: getattr(state, name) for name in PLACE}),
    }
    data = xr.Dataset(variables, attrs=attributes)
    data.attrs["digest"] = _content(data)
    # Without a fill value every bit comes back, those of NaN included.
    plain = {name: {"_FillValue": None} for name, values in data.items() if values.dtype.kind == "f"}
    content = bytes(data.to_netcdf(engine="h5netcdf", encoding=plain))
    try:
        with written_whole(path) as file:
            file.write_bytes(content)
    except OSError as error:
        raise _unwritable(path, error) from error


def read(path: Path, run: dict[str, str]) -> State | None:
    """The state in a file, or None where there is no file yet; refused if it is of another run."""
    _remove_leftovers(path)
    if not path.exists():
        try:
            check_writable(path)
        except OSError as error:
            raise _unwritable(path, error) from error
        return None
    try:
        with xr.open_dataset(path, engine="h5netcdf") as opened:
            data = opened.load()
    # What a damaged file raises depends on where it is damaged.
    except Exception as error:
        raise _unreadable(path, f"{type(error).__name__}: {error}") from error
    form = data.attrs.get("interplay_checkpoint")
    if not isinstance(form, int | np.integer):
        raise _unreadable(path, "it is a netCDF file without the mark of one")
    if form < FORMAT:
        raise CheckpointError(
            f"{path} was written by interplay {data.attrs.get('interplay_version', '0.1.0')}, whose sampler"
            " was another: a run cannot go on from it. Give another path, or delete the file to start again."
        )
    if form > FORMAT:
        raise CheckpointError(
            f"{path} was written by a newer interplay ({data.attrs.get('interplay_version')}, format {form};"
            f" this one reads {FORMAT}). Upgrade interplay, or give another path."
        )
    if data.attrs.get("digest") != _content(data):
        raise _unreadable(path, "it is damaged: its content does not match its digest")
    _check_same(path, json.loads(data.attrs["identity"]), run)
    return _state(data)


def _state(data: xr.Dataset) -> State:
    arrays = {str(name): data[name].values for name in data}
    auxiliary = _under(arrays, "auxiliary.")
    chains = tuple(
        ChainState(position, float(value), {name: values[c] for name, values in auxiliary.items()})
        for c, (position, value) in enumerate(zip(arrays["positions"], arrays["log_densities"], strict=True))
    )
    trace = Trace()
    if "trace.log_density" in arrays:
        draw = Draw(
            hyperparameters=_under(arrays, "trace.hyperparameters."),
            main_mean=arrays["trace.main_mean"],
            main_sd=arrays["trace.main_sd"],
            log_density=arrays["trace.log_density"],
            statistics=_under(arrays, "trace.statistics."),
        )
        trace = trace.extended(draw)
    return State(
        chains=chains,
        tunings={move: _under(arrays, f"tuning.{move}.") for move in _under(arrays, "moves.")},
        history=arrays["history"],
        trace=trace,
        **json.loads(data.attrs["place"]),
    )


def _trace_variables(trace: Trace) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    both = ("chain", "draw")
    variables = {
        f"trace.hyperparameters.{name}": _own_dimensions(name, values, both)
        for name, values in trace.hyperparameters.items()
    }
    variables |= {f"trace.statistics.{name}": (both, values) for name, values in trace.statistics.items()}
    return {
        **variables,
        "trace.main_mean": ((*both, "column"), trace.main_mean),
        "trace.main_sd": (("chain", "sparse_draw", "column"), trace.main_sd),
        "trace.log_density": (both, trace.log_density),
    }


def _own_dimensions(
    name: str, values: np.ndarray, leading: tuple[str, ...] = ()
) -> tuple[tuple[str, ...], np.ndarray]:
    """An array with dimensions that no other has, behind the leading ones."""
    own = tuple(f"{name}_{k}" for k in range(values.ndim - len(leading)))
    return (*leading, *own), values


def _under(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}


def _remove_leftovers(path: Path) -> None:
    """Remove what a process has left that was killed while it wrote."""
    for leftover in path.parent.glob(f".{escape(path.name)}.*.tmp"):
        with suppress(OSError):
            leftover.unlink()


def _unreadable(path: Path, reason: str) -> CheckpointError:
    return CheckpointError(
        f"{path} is there, but is not a checkpoint that can be read ({reason}). Give another path, or delete"
        " the file to start again."
    )


def _unwritable(path: Path, error: OSError) -> CheckpointError:
    earlier = " The earlier file is as it was." if path.is_file() else ""
    return CheckpointError(
        f"{path} could not be written: {error.strerror or error}.{earlier} Make room, or give a path in"
        " a folder that you may write to."
    )


def _check_same(path: Path, found: dict[str, Any], wanted: dict[str, str]) -> None:
    different = [name for name in wanted if found.get(name) != wanted[name]]
    if different:
        details = "; ".join(
            f"{name}: {_short(found.get(name))} in the file, {_short(wanted[name])} here"
            for name in different
        )
        raise CheckpointError(
            f"{path} is a checkpoint of another run. Different: {details}. Give the data and settings of that"
            " run to go on with it, or another path to start again."
        )


def _content(data: xr.Dataset) -> str:
    """A digest of every array, and of what is said of the run."""
    digest = hashlib.sha256()
    for name in ("interplay_checkpoint", "interplay_version", "identity", "place"):
        digest.update(f"{data.attrs.get(name)}\n".encode())
    for name in sorted(map(str, data)):
        values = data[name].values
        digest.update(f"{name} {values.dtype.str} {values.shape}\n".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _short(words: object, most: int = 200) -> str:
    text = str(words)
    return text if len(text) <= most else text[:most] + "…"
