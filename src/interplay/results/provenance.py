"""Where a fit comes from: versions, seed, data and time."""

import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np

from interplay.data.design import Design

PACKAGES = ("interplay", "numpy", "scipy")
"""Packages whose versions can change the draws."""


@dataclass(frozen=True)
class Provenance:
    """What is needed to make a fit again; nothing in it tells on which machine it was made.

    Parameters
    ----------
    versions
        Of Python and of the packages that can change the draws.
    seed
        Of the sampler.
    fingerprint
        Of the data, see `fingerprint`.
    time
        When it was made, in UTC, as ISO 8601 to the second.
    """

    versions: Mapping[str, str]
    seed: int
    fingerprint: str
    time: str


def provenance(design: Design, seed: int) -> Provenance:
    """Record the present versions and time beside the seed and the data."""
    versions = {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}
    return Provenance(versions, seed, fingerprint(design), datetime.now(UTC).isoformat(timespec="seconds"))


def fingerprint(design: Design) -> str:
    """SHA-256 of everything in a design: columns, response, names, levels and scales."""
    held = {field.name: getattr(design, field.name) for field in fields(design)}
    arrays = {name: value for name, value in held.items() if isinstance(value, np.ndarray)}
    digest = array_digest(arrays)
    digest.update(repr([(name, held[name]) for name in held if name not in arrays]).encode())
    return digest.hexdigest()


def array_digest(arrays: Mapping[str, np.ndarray]) -> "hashlib._Hash":
    """SHA-256 of names, types, shapes and bytes, in the order given."""
    digest = hashlib.sha256()
    for name, values in arrays.items():
        # Little-endian everywhere, so that a file means the same on another machine.
        stored = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
        digest.update(f"{name}|{stored.dtype.str}|{values.shape}|".encode())
        digest.update(stored.data if stored.size else b"")
    return digest
