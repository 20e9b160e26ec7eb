"""Where the figures come from: versions, processor, settings and date, but no names of machines."""

import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("interplay", "jax", "jaxlib", "numpy", "scipy")


@dataclass(frozen=True)
class Provenance:
    """The conditions of a run."""

    date: str
    seed: int
    threads: int
    processor: str
    versions: dict[str, str]

    def sentence(self) -> str:
        """All of it in one line."""
        plural = "" if self.threads == 1 else "s"
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return (
            f"{self.date}, {self.threads} thread{plural} of {self.processor}, {versions}, seed {self.seed}."
        )


def provenance(seed: int, threads: int) -> Provenance:
    """Note the conditions of this run."""
    return Provenance(
        date=datetime.now(UTC).date().isoformat(),
        seed=seed,
        threads=threads,
        processor=_processor(),
        versions={"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
    )


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
