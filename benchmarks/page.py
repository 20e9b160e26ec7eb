"""The committed page and files, refreshed from a run."""

import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.goals import Goal
from benchmarks.gradient import Gradient
from benchmarks.plot import draw
from benchmarks.problem import WEIGHTS
from benchmarks.provenance import Provenance
from benchmarks.scaling import Curve
from benchmarks.search import Search
from benchmarks.tables import Table

BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
"""What stands between these is written by a run."""

OUTLINE = f"""# Benchmarks

How fast the marginal likelihood and its gradient are, against automatic differentiation, against the paper's
baselines and against what the machine can do. Run `make bench` for the same tables from your machine, on one
thread (`python -m benchmarks --threads 2` for more); `python -m benchmarks --write` refreshes what follows.
Compare ratios, which were measured side by side; times depend on the machine.

{BEGIN}
{END}
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
        "weights": WEIGHTS,
        "gradients": [
            asdict(one) | {"ratios": {name: asdict(r) for name, r in one.ratios.items()}} for one in gradients
        ],
        "curves": [asdict(curve) for curve in curves],
        "search": asdict(found),
        "goals": [asdict(goal) for goal in goals],
    }
    numbers = results / "marginal.json"
    numbers.write_text(json.dumps(figures, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    figure = page.parent / "figure1.png"
    draw(curves, figure)
    outline = page.read_text() if page.exists() else OUTLINE
    page.write_text(refresh(outline, body(origin, tables)))
    return [numbers, figure, page]


def body(origin: Provenance, tables: list[Table]) -> str:
    """What a run says, in Markdown."""
    files = (
        "![Time and peak memory of one marginal likelihood against p](figure1.png)\n\n"
        "All numbers are in `benchmarks/results/marginal.json`."
    )
    return "\n".join([origin.sentence(), "", *(table.to_markdown() for table in tables), files])


def refresh(page: str, text: str) -> str:
    """Put a text between the markers of a page."""
    before, found, rest = page.partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not (found and closed):
        raise ValueError(f"the page has no '{BEGIN}' followed by '{END}': put these where the tables belong.")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"
