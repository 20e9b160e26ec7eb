"""The committed page and files, refreshed from a run."""

import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.goals import Goal
from benchmarks.gradient import Gradient
from benchmarks.plot import draw
from benchmarks.problem import POSITION
from benchmarks.provenance import Provenance
from benchmarks.scaling import Curve
from benchmarks.search import Search
from benchmarks.table import Table

PART = "benchmarks"
SAMPLING = "sampling"
"""What stands between the marks of a part is written by a run of it."""


def marks(part: str) -> tuple[str, str]:
    """Where a part of the page begins and ends."""
    return f"<!-- {part}: begin -->", f"<!-- {part}: end -->"


OUTLINE = f"""# Benchmarks

How fast the marginal likelihood and its gradient are, beside version 0.1.0, beside the paper's baselines and
beside the bare matrix products. Run `make bench` for the same tables from your machine, on one thread
(`python -m benchmarks --threads 2` for more); `python -m benchmarks --write` refreshes what follows.
Compare ratios, which were measured side by side; times depend on the machine.

{chr(10).join(marks(PART))}

## Samplers

How many effective draws a second the sampler gives, beside NumPyro and Stan on the same density, and beside
the LASSOs on the same data. `python -m benchmarks --only sampling --write` measures what is not there yet,
and keeps each row as soon as it is measured.

{chr(10).join(marks(SAMPLING))}
"""


def write(
    root: Path,
    origin: Provenance,
    gradients: list[Gradient],
    curves: list[Curve],
    found: Search,
    goals: list[Goal],
    tables: list[Table],
) -> list[Path]:
    """Write figures, plot and page below a folder, and give their paths."""
    results, page = root / "benchmarks" / "results", root / "docs" / "benchmarks.md"
    results.mkdir(parents=True, exist_ok=True)
    page.parent.mkdir(parents=True, exist_ok=True)
    figures = {
        "provenance": asdict(origin),
        "units": {"times": "ms", "bytes": "B"},
        "position": POSITION,
        "gradients": [
            asdict(one) | {"ratios": {"limit": one.to_limit, "0.1.0": one.to_old}} for one in gradients
        ],
        "curves": [asdict(curve) for curve in curves],
        "search": asdict(found),
        "goals": [asdict(goal) for goal in goals],
    }
    numbers = results / "marginal.json"
    numbers.write_text(json.dumps(figures, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    figure = page.parent / "figure1.png"
    draw(curves, figure)
    _refresh(page, PART, body(origin, tables))
    return [numbers, figure, page]


def write_sampling(root: Path, tables: list[Table]) -> Path:
    """Write the samplers' part of the page below a folder, and give its path."""
    page = root / "docs" / "benchmarks.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    files = "All numbers are in `benchmarks/results/sampling.json`."
    _refresh(page, SAMPLING, "\n".join([*(table.to_markdown() for table in tables), files]))
    return page


def body(origin: Provenance, tables: list[Table]) -> str:
    """What a run says, in Markdown."""
    files = (
        "![Time and peak memory of one marginal likelihood against p](figure1.png)\n\n"
        "All numbers are in `benchmarks/results/marginal.json`."
    )
    return "\n".join([origin.sentence(), "", *(table.to_markdown() for table in tables), files])


def refresh(page: str, part: str, text: str) -> str:
    """Put a text between the marks of a part of a page."""
    begin, end = marks(part)
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"the page has no '{begin}' followed by '{end}': put these where the tables belong.")
    return f"{before}{begin}\n{text}\n{end}{after}"


def _refresh(page: Path, part: str, text: str) -> None:
    outline = page.read_text() if page.exists() else OUTLINE
    page.write_text(refresh(outline, part, text))
