"""Frozen records of arrays that JAX transforms."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

import jax

Leaf = Any
"""An array, or what a JAX transformation puts in an array's place."""

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def record(*static: str) -> Callable[[type[T]], type[T]]:
    """Make a frozen dataclass whose fields, but for those named, are arrays to JAX."""

    def make(cls: type[T]) -> type[T]:
        frozen = dataclass(frozen=True)(cls)
        arrays = [field.name for field in fields(frozen) if field.name not in static]  # type: ignore[arg-type]
        return jax.tree_util.register_dataclass(frozen, data_fields=arrays, meta_fields=list(static))

    return make
