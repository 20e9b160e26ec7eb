"""Figure 2b: seconds and memory of SKIM and of its peers as p grows."""

from pathlib import Path

from benchmarks.table import Table

from experiments import cells
from experiments.experiment import Experiment
from experiments.methods import METHODS, SKIM, grid, growing
from experiments.plots import new, save
from experiments.task import Record, Task

ROWS, SCALE = 200, 2.0
"""Rows and λ of the data; the paper does not say which it had."""

VARIABLES = (50, 100, 200, 500, 1000, 2000)


def tasks(quick: bool) -> list[Task]:
    """All methods at each number of variables."""
    rows, scale, variables = (40, 5.0, (10,)) if quick else (ROWS, SCALE, VARIABLES)
    data = [{"kind": "synthetic", "n": rows, "p": p, "scale": scale, "seed": 0} for p in variables]
    methods = (SKIM, "pairs LASSO") if quick else tuple(METHODS)
    limits = {"draws": 25} if quick else None
    sizes = [(rows, p) for p in variables]
    return growing(grid("figure2b", data, sizes, methods=methods, limits=limits, timed=not quick))


def tables(records: list[Record]) -> list[Table]:
    """Seconds and peak memory."""
    note = (
        f"Seconds / peak MB of the process, N = {ROWS}, λ = {SCALE:g}. SKIM with compilation, until R-hat ≤ "
        "1.01 and 400 effective draws, or 600 s (R-hat in brackets); peers with their cross-validation. "
        "*more than* is where a method was stopped."
    )
    rows = []
    for p, some in cells.collect(records, lambda one: one.task.data["p"]).items():
        by_method = {one.task.method: one for one in some}
        rows.append([str(p), *(_cell(by_method.get(method)) for method in METHODS)])
    return [Table("Seconds / peak MB", note, ["p", *METHODS], rows)]


def draw(records: list[Record], path: Path) -> None:
    """Draw seconds and memory against p; where a method was stopped, its mark is hollow."""
    figure, (time, memory) = new(1, 2, width=9.0, height=4.4)
    for name, method in METHODS.items():
        ended = [
            one
            for one in sorted(records, key=lambda one: one.task.data["p"])
            if one.task.method == name and one.cost and (one.done or one.status.endswith("limit"))
        ]
        p = [one.task.data["p"] for one in ended]
        style = {"marker": method.marker, "color": method.color, "markersize": 6}
        for axes, value in ((time, "seconds"), (memory, "peak_bytes")):
            values = [one.cost[value] / (1.0 if value == "seconds" else 1e6) for one in ended]
            axes.loglog(
                p, values, markevery=[k for k, one in enumerate(ended) if one.done], label=name, **style
            )
            for one, x, y in zip(ended, p, values, strict=True):
                if not one.done:
                    axes.loglog([x], [y], markerfacecolor="white", linestyle="none", **style)
    time.set(title="Time", xlabel="number of variables p", ylabel="time of a fit (s)")
    memory.set(title="Memory", xlabel="number of variables p", ylabel="peak memory of the process (MB)")
    save(figure, path, columns=3)


def _cell(record: Record | None) -> str:
    if record is None:
        return "–"
    if not record.done:
        return record.note if record.status.endswith("limit") else record.status
    text = f"{record.cost['seconds']:.3g} / {record.cost['peak_bytes'] / 1e6:.0f}"
    return f"{text} ({cells.sampler(record, 'r_hat'):.3f})" if record.task.method == SKIM else text


FIGURE2B = Experiment(
    name="figure2b",
    title="Figure 2b: seconds beside the LASSOs",
    about=(
        "The paper's Figure 2b has the time of SKIM beside that of pairs LASSO and hierarchical LASSO, and "
        "calls it competitive; it does not give numbers."
    ),
    tasks=tasks,
    tables=tables,
    draw=draw,
    picture="Seconds and peak memory of a fit against the number of variables; hollow where stopped",
)
