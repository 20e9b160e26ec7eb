"""Table 1 and Figure 1: time and memory of p(D | τ, σ²) as the number of variables grows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from benchmarks.method import METHODS
from benchmarks.probe import RESOLUTION, measure
from benchmarks.table import Table

from experiments import cells
from experiments.experiment import Experiment
from experiments.plots import curve, new, save
from experiments.task import Record, Task

ROWS = 50
"""The paper's N."""

GRID = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)

VARIABLES = {
    "interplay": GRID,
    "Woodbury": (*GRID[:6], 5000),
    "naive": (10, 20, 30, 50, 70, 100, 140, 200),
}
"""Values of p; the last ones of Woodbury and naive need more than the memory that there is leave for."""

QUICK = {"interplay": (10, 30), "Woodbury": (10,), "naive": (10,)}

STYLES = {
    "interplay": ("o", "-", "black"),
    "Woodbury": ("s", "--", "tab:blue"),
    "naive": ("^", ":", "tab:red"),
}


def tasks(quick: bool) -> list[Task]:
    """Each method at each number of variables."""
    return [
        Task(
            "figure1",
            {"kind": "isotropic", "n": ROWS, "p": p, "seed": 0},
            method,
            "experiments.figure1:evaluate",
            options={"method": method},
            cost=1.0 + p / 1e4 if method == "interplay" else 2.0 + (p / 100.0) ** 2,
            timed=not quick,
        )
        for method, variables in VARIABLES.items()
        for p in (QUICK[method] if quick else variables)
    ]


def evaluate(data: Mapping[str, Any], threads: int, method: str) -> tuple[dict[str, Any], dict[str, float]]:
    """Time evaluations as `benchmarks.probe` does: all that does not depend on τ and σ² is made before."""
    found = measure(method, data["p"], data["seed"])
    values = {"seconds": found.seconds, "bytes": found.bytes, "log_likelihood": found.value}
    return values, {"seconds": median(found.seconds), "peak_bytes": found.bytes}


def tables(records: list[Record]) -> list[Table]:
    """Times and memory; exponents."""
    return [_times(records), _exponents(records)]


def draw(records: list[Record], path: Path) -> None:
    """Draw time and memory against p; where a method met the limit of memory, its mark there is hollow."""
    figure, (time, memory) = new(1, 2, width=9.0, height=4.0)
    for method, (marker, line, color) in STYLES.items():
        done = sorted(cells.of(records, method), key=_p)
        style = {"marker": marker, "linestyle": line, "color": color, "markersize": 5, "label": method}
        time.loglog([_p(one) for one in done], [one.cost["seconds"] for one in done], **style)
        met = [one for one in records if (one.task.method, one.status) == (method, "memory limit")]
        shown = sorted(done + met, key=_p)
        taken = [one.cost["peak_bytes"] / 1e6 for one in shown]
        curve(memory, [_p(one) for one in shown], taken, [not one.done for one in shown], **style)
    time.set(title="Time", ylabel="time of one evaluation (s)", xlabel="number of variables p")
    memory.set(title="Memory", ylabel="peak memory beyond libraries (MB)", xlabel="number of variables p")
    save(figure, path)


def _p(record: Record) -> int:
    return record.task.data["p"]


def _times(records: list[Record]) -> Table:
    note = (
        f"One log p(D | τ, σ²) with all pairs and squares, N = {ROWS}, isotropic prior as in the paper: "
        "median ms / peak MB of a fresh process beyond what it held before it had the data. Features of "
        "Woodbury and naive are made before, and count as memory."
    )
    rows = []
    for p, some in cells.collect(records, _p).items():
        by_method = {one.task.method: one for one in some}
        rows.append([str(p), *(_cell(by_method.get(method)) for method in VARIABLES)])
    return Table("Time and memory against p", note, ["p", *VARIABLES], rows)


def _cell(record: Record | None) -> str:
    if record is None or not record.done:
        return cells.ending(record)
    taken = record.cost["peak_bytes"]
    return f"{1e3 * record.cost['seconds']:.3g} / {'≤ ' if taken <= RESOLUTION else ''}{taken / 1e6:.3g}"


def exponent(p: Sequence[int], values: Sequence[float]) -> float:
    """Slope of the least squares line through the logarithms."""
    return float(np.polyfit(np.log(p), np.log(values), 1)[0])


def _exponents(records: list[Record]) -> Table:
    note = (
        "Slopes of least squares lines through the logarithms over the upper part of each range of p, beside "
        "the orders of the paper's Table 1, which for large p are p, p² and p⁶ in time and p, p² and p⁴ in "
        "memory."
    )
    rows = []
    for name, method in METHODS.items():
        done = sorted(cells.of(records, name), key=_p)
        upper = [one for one in done if _p(one) >= method.fit_from]
        # In a quick run there is nothing so far up: then all points count.
        used = upper if len(upper) > 1 else done
        if len(used) > 1:
            p = [_p(one) for one in used]
            found = [exponent(p, [one.cost[what] for one in used]) for what in ("seconds", "peak_bytes")]
            orders = [method.time_order, method.memory_order]
            rows.append([name, f"{p[0]} … {p[-1]}", *(f"{one:.2f}" for one in found), *orders])
    heads = ["method", "range of p", "time", "memory", "paper: time", "paper: memory"]
    return Table("Exponents of p", note, heads, rows)


FIGURE1 = Experiment(
    name="figure1",
    title="Table 1 and Figure 1: the marginal likelihood",
    about=(
        "The paper's Table 1 has the orders of time and memory of one p(D | τ, σ²), and its Figure 1 shows "
        "both growing with p at N = 50. See [Benchmarks](benchmarks.md) for more on the speed of this step."
    ),
    tasks=tasks,
    tables=tables,
    draw=draw,
    picture="Time and peak memory of one marginal likelihood against p; hollow where it met the limit",
)
