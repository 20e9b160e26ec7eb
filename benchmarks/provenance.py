"""Where the figures come from: versions, processor, settings and date, but no names of machines."""

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("interplay", "numpy", "scipy")

MEASURED = ("model", "baselines")
"""The folders of interplay whose speed is in question."""


@dataclass(frozen=True)
class Provenance:
    """The conditions of a run; `source` is the start of a digest of the files that are measured."""

    date: str
    seed: int
    threads: int
    processor: str
    versions: dict[str, str]
    source: str

    def sentence(self) -> str:
        """All of it in one line."""
        plural = "" if self.threads == 1 else "s"
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return (
            f"{self.date}, {self.threads} thread{plural} of {self.processor}, {versions}, "
            f"source {self.source}, seed {self.seed}."
        )


def provenance(seed: int, threads: int) -> Provenance:
    """Note the conditions of this run."""
    return Provenance(
        date=datetime.now(UTC).date().isoformat(),
        seed=seed,
        threads=threads,
        processor=_processor(),
        versions={"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
        source=source(),
    )


def source(folders: Sequence[str] = MEASURED) -> str:
    """The start of a digest of the files in some folders of interplay."""
    # Found without being loaded.
    found = find_spec("interplay")
    folder = Path(str(found and found.origin)).parent
    digest = hashlib.sha256()
    for file in sorted(file for name in folders for file in (folder / name).rglob("*.py")):
        digest.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
