"""A fit as an xarray DataTree in ArviZ's layout, and back."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import xarray as xr

from interplay.data.design import Design
from interplay.inference.draws import Draws
from interplay.results.codec import from_text, to_text
from interplay.results.fit import Fit
from interplay.results.provenance import array_digest

FORMAT, VERSION = "interplay fit", 1
"""What a tree calls itself, and the version of its layout; a change of the layout raises the version."""

DIMS: dict[str, tuple[str, ...]] = {
    "X": ("row", "column"),
    "y": ("row",),
    "weights": ("row",),
    "centres": ("column",),
    "scales": ("column",),
    "fills": ("column",),
    "kappa": ("variable",),
    "eta_higher": ("order",),
}
"""Dimensions of known arrays, beside chain and draw."""

STATISTICS = {
    "log_density": "lp",
    "acceptance": "acceptance_rate",
    "divergent": "diverging",
    "steps": "n_steps",
}
"""ArviZ's names for what is recorded of each iteration."""

RECORDS = "interplay"
"""The group with what ArviZ has no place for: each record as JSON text."""


def to_tree(fit: Fit) -> xr.DataTree:
    """A fit as groups of labelled arrays.

    `posterior` and `sample_stats` are as ArviZ has them; `observed_data` is the response on the standardised
    scale; `constant_data` holds the arrays of the design; `interplay` holds everything else as JSON. The tree
    alone answers every question that the fit does.
    """
    design, draws = fit.design, fit.draws
    held = {field.name: getattr(design, field.name) for field in fields(design)}
    arrays = {name: value for name, value in held.items() if isinstance(value, np.ndarray)}
    variable, column = _written(design.names), _written(design.labels)
    constant = {name: (_dims(name, value, ()), value) for name, value in arrays.items()}
    constant["names"] = (("variable",), variable)
    posterior = {
        name: (_dims(name, value, ("chain", "draw")), value) for name, value in draws.hyperparameters.items()
    }
    statistics = {
        STATISTICS.get(name, name): (_dims(name, value, ("chain", "draw")), value)
        for name, value in draws.statistics.items()
    }
    records = {
        "design": {name: value for name, value in held.items() if name not in arrays},
        "prior": fit.prior,
        "diagnostics": fit.diagnostics,
        "settings": dict(fit.settings),
        "provenance": fit.provenance,
    }
    iterations = {"chain": np.arange(draws.chains), "draw": np.arange(draws.length)}
    labels = {"inference_library": "interplay", "created_at": fit.provenance.time}
    labels["inference_library_version"] = fit.provenance.versions.get("interplay", "")
    by_variable = any("variable" in dims for dims, _ in posterior.values())
    groups = {
        "posterior": xr.Dataset(
            posterior, iterations | ({"variable": variable} if by_variable else {}), labels
        ),
        "sample_stats": xr.Dataset(statistics, iterations, labels),
        "observed_data": xr.Dataset({"y": (("row",), design.y)}),
        "constant_data": xr.Dataset(constant, {"variable": variable, "column": column}),
        RECORDS: xr.Dataset({name: ((), _text(to_text(value))) for name, value in records.items()}),
    }
    tree = xr.DataTree.from_dict({f"/{name}": group for name, group in groups.items()})
    tree.attrs = {"format": FORMAT, "format_version": VERSION, "digest": digest(tree)}
    return tree


def from_tree(tree: xr.DataTree) -> Fit:
    """The fit that a tree was made from.

    Raises
    ------
    Exception
        Of many kinds, if the tree is not one of `to_tree`.
    """
    records = {str(name): from_text(text.item()) for name, text in tree[RECORDS].dataset.data_vars.items()}
    parts: dict[str, Any] = {**_arrays(tree["constant_data"]), **records.pop("design")}
    del parts["names"]
    original = {new: old for old, new in STATISTICS.items()}
    statistics = {original.get(name, name): value for name, value in _arrays(tree["sample_stats"]).items()}
    return Fit(
        design=Design(**parts),
        draws=Draws(_arrays(tree["posterior"]), statistics),
        **records,
    )


def digest(tree: xr.DataTree) -> str:
    """SHA-256 of the content: every data variable of every group, whatever the order and the compression."""
    content = {
        f"{node.path}/{name}": _as_bytes(values.values)
        for node in tree.subtree
        for name, values in node.dataset.data_vars.items()
    }
    return array_digest(dict(sorted(content.items()))).hexdigest()


def _arrays(group: Any) -> dict[str, np.ndarray]:
    return {
        str(name): np.ascontiguousarray(values.values) for name, values in group.dataset.data_vars.items()
    }


def _as_bytes(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "biuf":
        return values
    return np.frombuffer(json.dumps(values.tolist()).encode(), dtype=np.uint8)


def _dims(name: str, values: np.ndarray, first: tuple[str, ...]) -> tuple[str, ...]:
    others = values.ndim - len(first)
    known: Mapping[str, tuple[str, ...]] = DIMS if len(DIMS.get(name, ())) == others else {}
    return (*first, *known.get(name, tuple(f"{name}_dim_{k}" for k in range(others))))


def _written(names: Sequence[str]) -> np.ndarray:
    """Names as labels of a netCDF file, which cannot hold every text; the exact ones are in the records."""
    safe = (name.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode() for name in names)
    return np.array(list(safe), dtype=object)


def _text(text: str) -> np.ndarray:
    return np.array(text, dtype=object)
