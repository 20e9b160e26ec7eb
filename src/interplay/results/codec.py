"""Frozen records as JSON text and back, exactly, for the classes of this package and no others."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd

from interplay.data.variable import Variable
from interplay.inference.diagnostics import Diagnostics
from interplay.model.families import Family, Gaussian
from interplay.model.paper_kernels import TwoWayKernel
from interplay.model.priors import SKIM, BlockDegree, TwoWay
from interplay.results.provenance import Provenance

CLASSES: dict[str, type] = {
    cls.__name__: cls for cls in (SKIM, BlockDegree, TwoWay, TwoWayKernel, Variable, Diagnostics, Provenance)
}
"""The records that a file may hold; a name beside these is refused, and nothing is ever imported for one."""

FAMILIES: dict[str, Any] = {"gaussian": Gaussian}
"""The families that a file may hold, by their short names."""


def to_text(value: Any) -> str:
    """Write plain values, arrays, tables and records of `CLASSES` as JSON.

    Numbers come back bit for bit, as do texts with any character. Lists become tuples.

    Raises
    ------
    TypeError
        If a value is of a class that no file holds.
    """
    return json.dumps(_encoded(value), ensure_ascii=True, separators=(",", ":"))


def from_text(text: str) -> Any:
    """Read what `to_text` has written.

    Raises
    ------
    ValueError
        If the text is something else.
    """
    return _decoded(json.loads(text))


def _encoded(value: Any) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case np.bool_() | np.integer() | np.floating():
            return value.item()
        case tuple() | list():
            return [_encoded(item) for item in value]
        case np.ndarray():
            numbers = {"dtype": value.dtype.str, "shape": list(value.shape), "values": value.ravel().tolist()}
            return {"is": "array", **numbers}
        case pd.DataFrame():
            kinds = {str(name): str(dtype) for name, dtype in value.dtypes.items()}
            return {"is": "table", "dtypes": kinds, "columns": [_encoded(value[n].tolist()) for n in value]}
        case Mapping():
            return {"is": "mapping", "items": {str(key): _encoded(item) for key, item in value.items()}}
        case Family() if FAMILIES.get(value.name) is type(value):
            names = [field.name for field in fields(FAMILIES[value.name])]
            settings = {name: _encoded(getattr(value, name)) for name in names}
            return {"is": "family", "name": value.name, "settings": settings}
        case _ if is_dataclass(value) and CLASSES.get(type(value).__name__) is type(value):
            held = {field.name: _encoded(getattr(value, field.name)) for field in fields(value)}
            return {"is": "record", "class": type(value).__name__, "fields": held}
    raise TypeError(
        f"got {type(value).__module__}.{type(value).__qualname__}: expected a plain value, an array, a table "
        f"or one of {', '.join(CLASSES)}"
    )


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_decoded(item) for item in value)
    if not isinstance(value, dict):
        return value
    match value:
        case {"is": "array", "dtype": dtype, "shape": shape, "values": values}:
            return np.array(values, dtype=np.dtype(dtype)).reshape(shape)
        case {"is": "table", "dtypes": dtypes, "columns": columns}:
            held = zip(dtypes.items(), columns, strict=True)
            return pd.DataFrame({name: pd.Series(values, dtype=dtype) for (name, dtype), values in held})
        case {"is": "mapping", "items": items}:
            return {key: _decoded(item) for key, item in items.items()}
        case {"is": "record", "class": name, "fields": held} if name in CLASSES:
            return CLASSES[name](**{key: _decoded(item) for key, item in held.items()})
        case {"is": "family", "name": name, "settings": settings} if name in FAMILIES:
            return FAMILIES[name](**{key: _decoded(item) for key, item in settings.items()})
    raise ValueError(f"an entry with the keys {sorted(value)} is none that this version knows")
