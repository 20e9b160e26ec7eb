"""The samplers as tables."""

from benchmarks.goals import Goal, goals_table
from benchmarks.row import Row
from benchmarks.table import Table

HEADS = [
    "contender",
    "(N, p, λ)",
    "effective draws / s",
    "/ processor s",
    "gradients / effective draw",
    "seconds to enough",
    "seconds",
    "peak GB",
    "R-hat",
    "draws",
    "others",
]


def tables(rows: list[Row], goals: list[Goal]) -> list[Table]:
    """All tables in the order in which they are shown."""
    return [
        goals_table(goals, "From the table below, as far as it has been measured."),
        _rows(rows),
        _notes(rows),
    ]


def _rows(rows: list[Row]) -> Table:
    note = (
        "Simulated data of the paper's protocol, each contender in fresh processes on the same cores. "
        "*Effective draws / s*: bulk effective sample size, the worst of log σ, log η1 and the conditional "
        "means of the true effects, per second after the warm-up; and per second of processor time, which "
        "others on the machine disturb less. *Seconds to enough*: until R-hat ≤ 1.01 "
        "and bulk and tail effective sample sizes ≥ 400, compilation and warm-up included; interplay asks "
        "this of all its main effects too, and ≈ is worked out from the effective draws per second of a run "
        "that ended before. *Seconds*: of the whole run, or of the LASSO with its cross-validation. "
        "*Others*: cores that were busy with something else meanwhile, on average; where that is not near "
        "0, times are too long."
    )
    ordered = sorted(rows, key=lambda row: (row.problem.p, row.problem.n))
    return Table("Samplers side by side", note, HEADS, [_cells(row) for row in ordered])


def _notes(rows: list[Row]) -> Table:
    ordered = sorted(rows, key=lambda row: (row.problem.p, row.problem.n))
    cells = [[row.name, row.time, row.source, row.note.replace("|", "/")] for row in ordered]
    note = "When each row was measured, with which source of interplay, and what else is to be said."
    return Table("Samplers: notes", note, ["row", "time", "source", "note"], cells)


def _cells(row: Row) -> list[str]:
    problem = row.problem
    sign = "≈ " if row.extrapolated else ""
    return [
        row.contender,
        f"({problem.n}, {problem.p}, {problem.scale:g})",
        _number(row.rate),
        _number(row.processor_rate),
        _number(row.cost),
        "–" if row.to_enough is None else f"{sign}{_number(row.to_enough)}",
        _number(row.seconds),
        "–" if row.bytes is None else f"{row.bytes / 1e9:.2f}",
        "–" if row.r_hat is None else f"{row.r_hat:.3f}",
        "–" if row.draws is None else f"{row.chains} × {row.draws}",
        f"{row.others:.1f}",
    ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{float(f'{value:.3g}'):g}"
