"""Figure 2a: the default sampler and marginal NUTS, coefficients integrated out, against FULL, as p grows."""

from pathlib import Path

from benchmarks.table import Table

from experiments import cells
from experiments.experiment import Experiment
from experiments.methods import growing
from experiments.plots import curve, new, plain_log, save
from experiments.task import Record, Task

ROWS, SCALE = 100, 2.0
"""Rows and λ of the data; the paper does not say which it had."""

ITERATIONS = 500
"""Of warm-up, and as many draws: the paper's 1,000 iterations of a chain."""

VARIABLES = (10, 20, 50, 100, 200, 500)

METHODS = {
    "interplay": ("interplay", "o", "-", "black"),
    "marginal NUTS": ("marginal", "s", "--", "tab:blue"),
    "FULL": ("full", "^", ":", "tab:red"),
}
"""By name: function, marker, line and colour."""


def tasks(quick: bool) -> list[Task]:
    """Each sampler at each number of variables."""
    iterations = {"warmup": 25, "draws": 25} if quick else {"warmup": ITERATIONS, "draws": ITERATIONS}
    rows, scale, variables = (30, 5.0, (6,)) if quick else (ROWS, SCALE, VARIABLES)
    every = [
        Task(
            "figure2a",
            {"kind": "synthetic", "n": rows, "p": p, "scale": scale, "seed": 0},
            method,
            f"experiments.nuts:{function}",
            options=iterations,
            cost={"interplay": 20.0, "marginal": 40.0, "full": 100.0}[function] * (1 + p / 50),
            timed=not quick,
        )
        for p in variables
        for method, (function, *_) in METHODS.items()
    ]
    return growing(every)


def tables(records: list[Record]) -> list[Table]:
    """Seconds and R-hat of each."""
    note = (
        f"Paper's simulation with N = {ROWS}, λ = {SCALE:g}; four chains of {ITERATIONS} iterations of "
        f"warm-up and {ITERATIONS} draws. Seconds, of NumPyro with compilation; largest R-hat of log σ, "
        "log η1 and all main effects (with the coefficients integrated out: of their conditional means), in "
        "brackets that of all pairs, which FULL alone samples; peak MB. *interplay* is the default sampler "
        "(HMC) with the closed-form gradient, and chains in threads; *marginal NUTS* is the plain marginal "
        "model in NumPyro, and *FULL* samples all coefficients in NumPyro, both with chains one "
        "after the other. The paper: FULL always above 1.05, up to 1.5, and KIS below 1.05 (Section 7)."
    )
    rows = []
    for p, some in cells.collect(records, lambda one: one.task.data["p"]).items():
        by_method = {one.task.method: one for one in some}
        rows.append([str(p), *(_cell(by_method.get(method)) for method in METHODS)])
    return [Table("Seconds; R-hat; MB", note, ["p", *METHODS], rows)]


def draw(records: list[Record], path: Path) -> None:
    """Draw seconds and R-hat against p; where a method met the limit of seconds, its mark there is hollow."""
    figure, (time, mixing) = new(1, 2, width=9.0, height=4.0)
    for name, (_, marker, line, color) in METHODS.items():
        done = sorted(cells.of(records, name), key=lambda one: one.task.data["p"])
        p = [one.task.data["p"] for one in done]
        style = {"marker": marker, "linestyle": line, "color": color, "markersize": 5, "label": name}
        met = [one for one in records if (one.task.method, one.status) == (name, "time limit") and one.cost]
        shown = sorted(done + met, key=lambda one: one.task.data["p"])
        taken = [one.cost["seconds"] for one in shown]
        curve(time, [one.task.data["p"] for one in shown], taken, [not one.done for one in shown], **style)
        mixing.plot(p, [one.values["r_hat"] for one in done], **style)
    mixing.axhline(1.05, color="0.4", linewidth=1, linestyle="-.", label="R-hat = 1.05")
    mixing.set_xscale("log")
    for axis in (time.xaxis, mixing.xaxis, time.yaxis):
        plain_log(axis, 1.0, 2.0, 5.0)
    time.set(title="Time", xlabel="number of variables p", ylabel="time of four chains (s)")
    mixing.set(title="Mixing", xlabel="number of variables p", ylabel="largest R-hat (no unit)")
    save(figure, path)


def _cell(record: Record | None) -> str:
    if record is None or not record.done:
        return cells.ending(record)
    r_hat, pairs = record.values["r_hat"], record.values.get("r_hat_pairs")
    brackets = "" if pairs is None else f" ({pairs:.3f})"
    known = "–" if r_hat is None else f"{r_hat:.3f}{brackets}"
    return f"{record.cost['seconds']:.3g}; {known}; {record.cost['peak_bytes'] / 1e6:.0f}"


FIGURE2A = Experiment(
    name="figure2a",
    title="Figure 2a: sampling with and without the coefficients",
    about=(
        "The paper's Figure 2a has the time of four chains of 1,000 iterations of NUTS for SKIM, with the "
        "coefficients integrated out (KIS) and with all of them sampled (FULL). Here the default sampler is "
        "beside both of them, which are NumPyro's NUTS."
    ),
    tasks=tasks,
    tables=tables,
    draw=draw,
    picture="Seconds and R-hat of four chains against p; hollow where they met the limit",
)
