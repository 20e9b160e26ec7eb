"""Figure 2b: seconds and memory of SKIM and of its peers as p grows."""

from pathlib import Path

from benchmarks.table import Table

from experiments import cells
from experiments.experiment import Experiment
from experiments.given import LARGE, Peer
from experiments.methods import METHODS, SKIM, grid, growing
from experiments.plots import curve, new, plain_log, save
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
    """Seconds and peak memory, what was found, and what was given."""
    taken = (
        f"Seconds / peak MB of the process, N = {ROWS}, λ = {SCALE:g}. SKIM with compilation, until R-hat ≤ "
        "1.01 and 400 effective draws, or 600 s (R-hat in brackets); added to it, the seconds of "
        "`selected()`, which searches all pairs. Peers with their cross-validation. *more than* is where a "
        "method was stopped."
    )
    found = "Mains right:wrong, pairs right:wrong."
    given = (
        "Seconds / peak MB; mains right:wrong, pairs right:wrong, as they were given to us, measured before "
        "on one core with one thread."
    )
    selected = [(name, rule) for name in METHODS for rule in cells.rules(name)]
    by_size = {
        str(p): {one.task.method: one for one in some}
        for p, some in cells.collect(records, lambda one: one.task.data["p"]).items()
    }
    return [
        Table(
            "Seconds / peak MB",
            taken,
            ["p", *METHODS],
            [[p, *(_taken(some.get(name)) for name in METHODS)] for p, some in by_size.items()],
        ),
        Table(
            "What was found",
            found,
            ["p", *(cells.named(*one) for one in selected)],
            [[p, *(_found(some.get(name), rule) for name, rule in selected)] for p, some in by_size.items()],
        ),
        Table(
            "Given figures",
            given,
            ["method", "p = 1000", "p = 2000"],
            [[name, *(_given(row.get(p)) for p in (1000, 2000))] for name, row in LARGE.items()],
        ),
    ]


def draw(records: list[Record], path: Path) -> None:
    """Draw seconds and memory against p; where a method met the limit of either, its mark there is hollow."""
    figure, (time, memory) = new(1, 2, width=9.0, height=4.4)
    for name, method in METHODS.items():
        own = sorted(
            (one for one in records if one.task.method == name and one.cost),
            key=lambda one: one.task.data["p"],
        )
        style = {"marker": method.marker, "color": method.color, "markersize": 6, "label": name}
        for axes, cost, limit in ((time, _seconds, "time limit"), (memory, _megabytes, "memory limit")):
            shown = [one for one in own if one.done or one.status == limit]
            p, values = [one.task.data["p"] for one in shown], [cost(one) for one in shown]
            curve(axes, p, values, [not one.done for one in shown], **style)
    fits = sorted(cells.of(records, SKIM), key=lambda one: one.task.data["p"])
    alone = {"color": METHODS[SKIM].color, "linestyle": "--", "label": "SKIM, its fit alone"}
    time.loglog([one.task.data["p"] for one in fits], [one.cost["seconds"] for one in fits], **alone)
    for axes in (time, memory):
        plain_log(axes.xaxis, 1.0, 2.0, 5.0)
    plain_log(time.yaxis, 1.0)
    plain_log(memory.yaxis, 1.0, 2.0, 5.0)
    time.set(title="Time", xlabel="number of variables p", ylabel="time of fit and selection (s)")
    memory.set(title="Memory", xlabel="number of variables p", ylabel="peak memory of the process (MB)")
    save(figure, path, columns=3)


def _seconds(record: Record) -> float:
    """Of the fit, and of the selection where that is not part of it."""
    return record.cost["seconds"] + _selection(record, "seconds")


def _megabytes(record: Record) -> float:
    return max(record.cost["peak_bytes"], _selection(record, "peak_bytes")) / 1e6


def _selection(record: Record, what: str) -> float:
    return record.values.get("selection", {}).get(what, 0.0)


def _taken(record: Record | None) -> str:
    if record is None or not record.done:
        return cells.ending(record)
    seconds, megabytes = f"{record.cost['seconds']:.3g}", f"{_megabytes(record):.0f}"
    if record.task.method != SKIM:
        return f"{seconds} / {megabytes}"
    selection, r_hat = _selection(record, "seconds"), cells.sampler(record, "r_hat")
    return f"{seconds} + {selection:.3g} / {megabytes} ({r_hat:.3f})"


def _found(record: Record | None, rule: str) -> str:
    return "–" if record is None or not record.done else cells.written(cells.counts(record, rule))


def _given(peer: Peer | None) -> str:
    return "–" if peer is None else f"{peer.seconds:g} / {peer.megabytes:g}; {cells.written(peer[2:6])}"


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
