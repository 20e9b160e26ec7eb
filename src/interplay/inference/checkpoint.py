"""A run on disk: written whole after every chunk, and read back bit for bit."""

import hashlib
import json
import sys
from contextlib import suppress
from dataclasses import fields
from glob import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import xarray as xr

from interplay.inference.atomic import check_writable, written_whole
from interplay.inference.kept import Kept
from interplay.inference.metric import Metric
from interplay.inference.run import Job, State

FORMAT = 1


class CheckpointError(OSError):
    """A checkpoint cannot be written, or does not belong to this run."""


def identity(job: Job) -> dict[str, str]:
    """What must be the same for a run to go on: the data and the settings, each in a few words."""
    design = job.design
    with np.printoptions(threshold=sys.maxsize):
        prior = repr(job.target.prior)
    return {
        "number of rows": str(design.n),
        "names of variables": _digest(json.dumps(design.labels).encode()),
        "covariates": _digest(np.ascontiguousarray(design.X).tobytes()),
        "response": _digest(np.ascontiguousarray(design.y).tobytes()),
        "sample weights": "none" if design.weights is None else _digest(design.weights.tobytes()),
        "prior": prior,
        "sampler": repr(job.sampler),
        "seed": str(job.seed),
    }


def write(path: Path, run: dict[str, str], state: State) -> None:
    """Write a state of the run with this identity: the file is the old one or the new one, never a part."""
    variables = {
        "positions": (("chain", "coordinate"), state.positions),
        "history": (("warm_up", "chain", "coordinate"), state.history),
        "log_step": ((), np.float64(state.log_step)),
        "log_steps": (("settling",), np.array(state.log_steps, dtype=np.float64)),
    }
    for field in fields(Metric):
        values = np.asarray(getattr(state.metric, field.name))
        variables[f"metric_{field.name}"] = (tuple(f"{field.name}_{k}" for k in range(values.ndim)), values)
    for name, values in state.kept.items():
        own = tuple(f"{name}_{k}" for k in range(values.ndim - 2))
        draw = "sparse_draw" if name == "main_sd" else "draw"
        variables[f"kept_{name}"] = (("chain", draw, *own), values)
    attributes = {
        "interplay_checkpoint": FORMAT,
        "interplay_version": version("interplay"),
        "identity": json.dumps(run),
        "place": json.dumps(
            {
                "attempt": state.attempt,
                "phase": state.phase,
                "iteration": state.iteration,
                "gradients": state.gradients,
                "seconds": state.seconds,
                "precise": state.precise,
                "rounding": state.rounding,
            }
        ),
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
    if form > FORMAT:
        raise CheckpointError(
            f"{path} was written by a newer interplay ({data.attrs.get('interplay_version')}, format {form};"
            f" this one reads {FORMAT}). Upgrade interplay, or give another path."
        )
    if data.attrs.get("digest") != _content(data):
        raise _unreadable(path, "it is damaged: its content does not match its digest")
    _check_same(path, json.loads(data.attrs["identity"]), run)
    kept = {
        name.removeprefix("kept_"): data[name].values for name in map(str, data) if name.startswith("kept_")
    }
    metric = {field.name: jnp.asarray(data[f"metric_{field.name}"].values) for field in fields(Metric)}
    return State(
        positions=data["positions"].values,
        history=data["history"].values,
        log_step=float(data["log_step"]),
        log_steps=tuple(data["log_steps"].values.tolist()),
        metric=Metric(**metric),
        kept=Kept(kept),
        **json.loads(data.attrs["place"]),
    )


def _remove_leftovers(path: Path) -> None:
    """Remove what a process has left that was killed while it wrote."""
    for leftover in path.parent.glob(f".{escape(path.name)}.*.tmp"):
        with suppress(OSError):
            leftover.unlink()


def _unreadable(path: Path, reason: str) -> CheckpointError:
    return CheckpointError(
        f"{path} is there, but is not a checkpoint that can be read ({reason}). Give another path, or delete"
        " the file to begin anew."
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
            " run to go on with it, or another path to begin anew."
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
