"""Figure 2b: seconds and memory of SKIM and of its peers as p grows."""

from pathlib import Path

from benchmarks.table import Table

from experiments import cells
from experiments.experiment import Experiment
from experiments.methods import METHODS, SKIM, grid, growing
from experiments.plots import new, plain_log, save
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
        "1.01 and 400 effective draws, or 600 s (R-hat in brackets); added to it, and not in the plot, the "
        "seconds in which the three rules look at all pairs. Peers with their cross-validation. *more than* "
        "is where a method was stopped."
    )
    rows = []
    for p, some in cells.collect(records, lambda one: one.task.data["p"]).items():
        by_method = {one.task.method: one for one in some}
        rows.append([str(p), *(_cell(by_method.get(method)) for method in METHODS)])
    return [Table("Seconds / peak MB", note, ["p", *METHODS], rows)]


def draw(records: list[Record], path: Path) -> None:
    """Draw seconds and memory against p; where a method met the limit of either, its mark there is hollow."""
    figure, (time, memory) = new(1, 2, width=9.0, height=4.4)
    for name, method in METHODS.items():
        own = sorted(
            (one for one in records if one.task.method == name and one.cost),
            key=lambda one: one.task.data["p"],
        )
        style = {"marker": method.marker, "color": method.color, "markersize": 6}
        for axes, cost, unit, limit in (
            (time, "seconds", 1.0, "time limit"),
            (memory, "peak_bytes", 1e6, "memory limit"),
        ):
            shown = [one for one in own if one.done or one.status == limit]
            p, values = [one.task.data["p"] for one in shown], [one.cost[cost] / unit for one in shown]
            axes.loglog(p, values, label=name, **style)
            stopped = [k for k, one in enumerate(shown) if not one.done]
            axes.loglog(p, values, markevery=stopped, markerfacecolor="white", linestyle="none", **style)
    for axes in (time, memory):
        plain_log(axes.xaxis, 1.0, 2.0, 5.0)
    plain_log(time.yaxis, 1.0)
    plain_log(memory.yaxis, 1.0, 2.0, 5.0)
    time.set(title="Time", xlabel="number of variables p", ylabel="time of a fit (s)")
    memory.set(title="Memory", xlabel="number of variables p", ylabel="peak memory of the process (MB)")
    save(figure, path, columns=3)


def _cell(record: Record | None) -> str:
    if record is None:
        return "–"
    if not record.done:
        return record.note if record.status.endswith("limit") else record.status
    seconds, megabytes = f"{record.cost['seconds']:.3g}", f"{record.cost['peak_bytes'] / 1e6:.0f}"
    if record.task.method != SKIM:
        return f"{seconds} / {megabytes}"
    answers, r_hat = record.values["answer_seconds"], cells.sampler(record, "r_hat")
    return f"{seconds} + {answers:.3g} / {megabytes} ({r_hat:.3f})"


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
    picture="Seconds and peak memory of a fit against the number of variables; hollow where it met the limit",
)
