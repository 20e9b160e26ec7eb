"""The page and the plot of the study, made from its figures."""

from pathlib import Path

from experiments.goals import judge
from experiments.plot import draw
from experiments.protocol import Outcome
from experiments.table import tables

HEAD = """# The paper's protocol

X ~ N(0, λ² I), five variables and their ten pairs with effect 1, noise variance 25 (Section 7 of the paper),
fitted with `SKIM(quadratic=False)` and the sampler as it is by default. *paper*, *lfsr* and *fdr* are the
three rules of selection: |mean| > 2.59 average conditional standard deviations, pairs among selected mains
alone; a local false sign rate of at most 0.05, among all mains and all pairs; and the largest set with a mean
lfsr of at most 0.05. `make study` makes this page, and goes on where it was stopped.
"""


def write(folder: Path, outcomes: list[Outcome], note: str = "") -> None:
    """Write `docs/protocol.md` and `docs/protocol.png` below a folder."""
    docs = folder / "docs"
    docs.mkdir(parents=True, exist_ok=True)
    draw(outcomes, docs / "protocol.png")
    sources = sorted({one.source for one in outcomes})
    origin = f"Source {', '.join(sources)}; all numbers are in `experiments/results/protocol.json`. {note}"
    figure = "![Squared errors of every fit beside those of the peers](protocol.png)\n"
    parts = [
        HEAD,
        origin.strip() + "\n",
        *(table.to_markdown() for table in tables(outcomes, judge(outcomes))),
    ]
    (docs / "protocol.md").write_text("\n".join([*parts, figure]))
