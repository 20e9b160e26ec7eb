"""What a result was made with."""

from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

PACKAGES = ("scikit-learn", "numpyro", "jax", "adelie", "abess")
SOURCES = ("data", "model", "inference", "effects", "results", "baselines")


def known(seed: int, threads: int) -> dict[str, Any]:
    """Versions, processor, threads, seed, source and date."""
    # Loaded here, as the harness itself does not need it.
    from benchmarks.provenance import provenance, source

    found = asdict(provenance(seed, threads))
    for package in PACKAGES:
        try:
            found["versions"][package] = version(package)
        except PackageNotFoundError:
            continue
    return found | {"source": source(SOURCES)}
