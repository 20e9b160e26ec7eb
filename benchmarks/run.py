"""One run: measure, judge, print, and write if asked."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from benchmarks import gradient, sampling, sampling_goals, sampling_tables, scaling, search
from benchmarks.goals import judge
from benchmarks.page import write, write_sampling
from benchmarks.provenance import provenance
from benchmarks.row import Row
from benchmarks.table import Table
from benchmarks.tables import tables
from benchmarks.timing import Effort


@dataclass(frozen=True)
class Plan:
    """What is measured, and how long.

    Parameters
    ----------
    sizes
        (N, p) of log density and gradient.
    effort
        For each of them.
    grid, extra
        Values of p for all methods of Figure 1, and further ones for some.
    rounds
        How often each point of Figure 1 is measured.
    search
        n, p and number of draws of the search for the strongest pairs.
    """

    sizes: Sequence[tuple[int, int]]
    effort: Effort
    grid: Sequence[int]
    rounds: int
    search: tuple[int, int, int]
    extra: Mapping[str, Sequence[int]] = field(default_factory=dict)


FULL = Plan(
    sizes=gradient.SIZES,
    effort=Effort(least=11, most=101, seconds=20.0),
    grid=[10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000],
    extra={"naive": [20, 50, 70, 140, 200]},
    rounds=3,
    search=(200, 10_000, 100),
)

QUICK = Plan(
    sizes=[(20, 100)],
    effort=Effort(least=3, most=3, seconds=0.0),
    grid=[10, 30],
    rounds=1,
    search=(60, 40, 3),
)


def run(threads: int, seed: int, *, quick: bool, folder: Path | None, old_python: Path | None = None) -> None:
    """Measure and print.

    Parameters
    ----------
    threads
        As settled.
    seed
        Of data and weights.
    quick
        Whether to take the smallest sizes.
    folder
        Where to write figures, plot and page, or None to print only.
    old_python
        Interpreter of an environment with version 0.1.0, to be measured beside this one.
    """
    plan = QUICK if quick else FULL
    console = _console()
    origin = provenance(seed, threads)
    console.print(origin.sentence(), highlight=False)
    if quick:
        console.print("A quick run: the sizes are too small for the goals to mean anything.")
    gradients = gradient.measure(plan.sizes, plan.effort, seed, old_python)
    curves = scaling.measure(plan.grid, plan.extra, plan.rounds, seed)
    found = search.measure(*plan.search, seed)
    goals = judge(gradients, curves, found)
    shown = tables(gradients, curves, found, goals)
    _show(console, shown)
    if provenance(seed, threads).source != origin.source:
        raise SystemExit("The source changed during the run: its figures are of no one version. Run again.")
    if folder is not None:
        for path in write(folder, origin, gradients, curves, found, goals, shown):
            console.print(f"wrote {path}", highlight=False)


def run_sampling(
    threads: int, seed: int, *, quick: bool, folder: Path | None, rows: Sequence[str], fresh: bool
) -> None:
    """Measure the samplers, one row after the other, and print.

    Parameters
    ----------
    threads
        As settled.
    seed
        Of data and samplers.
    quick
        Whether to take the smallest sizes.
    folder
        Where to keep each row as soon as it is measured, or None to print only. Rows that are there are not
        measured again.
    rows
        Parts of the names of the rows that are wanted; none for all.
    fresh
        Whether to forget the wanted rows that are there.
    """
    console = _console()
    origin = provenance(seed, threads)
    console.print(origin.sentence(), highlight=False)
    wanted = [
        entry
        for entry in sampling.entries(quick, seed)
        if not rows or any(text in entry.name for text in rows)
    ]
    path = None if folder is None else folder / "benchmarks" / "results" / "sampling.json"
    done = sampling.read(path) if path else []
    if fresh:
        again = {entry.name for entry in wanted}
        done = [row for row in done if row.name not in again]

    def keep(measured: list[Row]) -> None:
        goals = sampling_goals.judge(measured)
        if path is not None and folder is not None:
            figures = {"provenance": asdict(origin), "goals": [asdict(goal) for goal in goals]}
            sampling.save(path, figures, measured)
            write_sampling(folder, sampling_tables.tables(measured, goals))

    def keep_and_say(measured: list[Row]) -> None:
        keep(measured)
        last = measured[-1]
        took = "no time" if last.seconds is None else f"{last.seconds:.1f} s"
        console.print(f"{last.name}: {took}, {last.note}", highlight=False)

    measured = sampling.measure(wanted, threads, done, keep_and_say)
    # The page may be of an earlier form, even where nothing was measured.
    keep(measured)
    _show(console, sampling_tables.tables(measured, sampling_goals.judge(measured)))


def _console() -> Console:
    return Console() if Console().is_terminal else Console(width=140)


def _show(console: Console, shown: Sequence[Table]) -> None:
    for table in shown:
        console.print()
        console.print(table.to_rich())
        console.print(Markdown(table.note))
