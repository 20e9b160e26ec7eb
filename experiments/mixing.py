"""How soon the sampler agrees with itself: seconds to trust on real, linked, long and short data."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from benchmarks.table import Table

from experiments import cells
from experiments.experiment import Experiment
from experiments.linked import LINKED
from experiments.methods import ANSWERS, HIERARCHICAL, LASSO, METHODS, SKIM
from experiments.plots import new, plain_log, save
from experiments.real import REAL
from experiments.task import Record, Task

LIMITS = {"max_seconds": 1200.0, "max_draws": 100_000}
"""Where a run ends that does not come to trust."""

QUICK = {"max_seconds": 5.0, "max_draws": 50}

SEEDS = range(3)

BUILDING_NOISES, BUILDING_DRAWS = (25.0, 1.0), 10
"""Of Table 2, with standardised covariates."""

SEARCHED = "paper50"
"""The kind of linked data whose chains start where the search over sets ends."""

STRONG, MODERATE = {"kind": "synthetic", "scale": 1.0}, {"kind": "moderate"}

MANY_ROWS: tuple[dict[str, Any], ...] = (
    *({**kind, "n": n, "p": 200} for n in (1_000, 10_000, 100_000) for kind in (STRONG, MODERATE)),
    {**STRONG, "n": 1_000_000, "p": 30},
)
"""Five strong effects with their pairs, or thirty moderate effects."""

FEW_ROWS: tuple[dict[str, Any], ...] = (
    {"kind": "diabetes"},
    *({"kind": "synthetic", "n": n, "p": p, "scale": 2.0} for n, p in ((100, 50), (200, 500))),
    *({"kind": "synthetic", "n": 200, "p": p, "scale": 2.0} for p in (2_000, 10_000)),
)

TO_TRUST, TO_SELECTION = "experiments.timed_fit:to_trust", "experiments.timed_fit:to_selection"

GROUPS = ("real data", "linked columns", "many rows", "few rows")


def tasks(quick: bool) -> list[Task]:
    """Every data set with every seed; the peers on those with few rows."""
    if quick:
        data = {"kind": "paper60", "seed": 0}
        few = {"kind": "synthetic", "n": 40, "p": 10, "scale": 5.0, "seed": 0}
        return [
            _task(data, TO_TRUST, QUICK | {"wrong_starts": True}),
            _task(few, TO_SELECTION, {"draws": 25, "quadratic": False}),
            _peer(few, LASSO),
        ]
    return [*_real(), *_linked(), *_many_rows(), *_few_rows()]


def _real() -> list[Task]:
    data: list[dict[str, Any]] = [{"kind": kind, "seed": seed} for kind in REAL for seed in SEEDS]
    data += [{"kind": "auto", "extra": 100, "seed": seed} for seed in SEEDS]
    data += [
        {"kind": "building", "noise": noise, "standardized": True, "seed": seed}
        for noise in BUILDING_NOISES
        for seed in range(BUILDING_DRAWS)
    ]
    return [_task(one, TO_TRUST, LIMITS) for one in data]


def _linked() -> list[Task]:
    return [
        _task({"kind": kind, "seed": seed}, TO_TRUST, LIMITS | {"wrong_starts": kind != SEARCHED})
        for kind in LINKED
        for seed in SEEDS
    ]


def _many_rows() -> list[Task]:
    return [_task({**one, "seed": seed}, TO_TRUST, LIMITS) for one in MANY_ROWS for seed in SEEDS]


def _few_rows() -> list[Task]:
    found = []
    for one in FEW_ROWS:
        for seed in SEEDS:
            data = {**one, "seed": seed}
            limits = {**LIMITS, "quadratic": one["kind"] == "diabetes"}
            found += [_task(data, TO_SELECTION, limits), _peer(data, HIERARCHICAL), _peer(data, LASSO)]
    return found


def _task(data: Mapping[str, Any], work: str, options: Mapping[str, Any]) -> Task:
    seconds = options.get("max_seconds", QUICK["max_seconds"]) + ANSWERS
    return Task("mixing", data, SKIM, work, options=options, seconds=seconds, cost=_cost(data), timed=True)


def _peer(data: Mapping[str, Any], method: str) -> Task:
    return Task("mixing", data, method, METHODS[method].work, cost=_cost(data), timed=True)


def _cost(data: Mapping[str, Any]) -> float:
    """Cheap ones first, by the products of rows and columns where these are known."""
    return data.get("n", 300) * data.get("p", 100) / 1e3


def group(record: Record) -> str:
    """Which of the tables a record belongs to."""
    kind = record.task.data["kind"]
    if kind in LINKED:
        return "linked columns"
    if record.task.work == TO_TRUST:
        return "many rows" if kind in ("synthetic", "moderate") else "real data"
    return "few rows"


def words(record: Record) -> str:
    """The data set in words, its seed left out."""
    data = record.task.data
    match data["kind"]:
        case "synthetic":
            return f"{'paper' if group(record) == 'few rows' else '5 strong'} ({data['n']}, {data['p']})"
        case "moderate":
            return f"30 moderate ({data['n']}, {data['p']})"
        case "auto":
            return f"Auto MPG + {data['extra']}"
        case "building":
            return f"Residential Building, noise {data['noise']:g}"
        case kind:
            return str(kind)


def tables(records: list[Record]) -> list[Table]:
    """A table for each group of data sets."""
    groups = {name: [one for one in records if group(one) == name] for name in GROUPS}
    watched = [_watched(name, groups[name]) for name in GROUPS[:3] if groups[name]]
    return [*watched, *([_beside(groups["few rows"])] if groups["few rows"] else [])]


def _watched(name: str, records: Sequence[Record]) -> Table:
    note = (
        "Seconds from the data to the first time that a rule held, medians over the seeds and the most in "
        "brackets; *together* is R-hat ≤ 1.02 of hyperparameters, log κ and mains, *verdict* the package's "
        "own rule, *trust* the fixed one. Effective draws and R-hat are the worst at the end, of the "
        "quantity that is named. *Selected* is in how many effects all seeds agree, of how many that any "
        "of them selects, and how many of the others are more than two Monte Carlo errors from the "
        "threshold: only where all seeds have the same data."
    )
    heads = ["data", "rows × columns", "fits", "together", "verdict", "trust", "draws", "R-hat", "ESS"]
    rows = []
    for label, some in cells.collect(records, words).items():
        done = cells.of(some, SKIM)
        missing = cells.unfinished(some)
        if not done:
            rows.append([label, "–", missing, *["–"] * 8])
            continue
        last = done[-1].values
        worst = max(done, key=lambda one: _limit(one, "r_hat"))
        least = min(done, key=lambda one: _limit(one, "ess"))
        rows.append(
            [
                label,
                f"{last['rows']} × {last['columns']}",
                f"{len(done)}" + (f"; {missing}" if missing else ""),
                *(_seconds(done, rule) for rule in ("together", "verdict", "trust")),
                cells.middle([one.values["sampler"]["draws"] for one in done]),
                f"{_limit(worst, 'r_hat'):.3f} ({worst.values['limit']['r_hat_of']})",
                f"{_limit(least, 'ess'):.0f} ({least.values['limit']['ess_of']})",
                _selected(done) if label in REAL else "–",
                cells.middle([one.cost["peak_bytes"] / 1e6 for one in done]),
            ]
        )
    return Table(name.capitalize(), note, [*heads, "selected", "MB"], rows)


def _limit(record: Record, name: str) -> float:
    value = (record.values["limit"] or {}).get(name)
    # A record has no number where nothing could be said.
    return value if value is not None else {"r_hat": float("inf"), "ess": 0.0}[name]


def _seconds(records: Sequence[Record], rule: str) -> str:
    held = [one.values[rule]["seconds"] for one in records if one.values[rule]]
    if len(held) == len(records):
        return cells.middle(held)
    ended = max(one.cost["seconds"] for one in records)
    return f"{len(held)} of {len(records)} in {ended:.0f} s"


def _selected(records: Sequence[Record], threshold: float = 0.05) -> str:
    known = [{one["term"]: one for one in record.values["selected"]} for record in records]
    chosen = [{name for name, one in some.items() if one["selected"]} for some in known]
    common, every = set.intersection(*chosen), set.union(*chosen)
    apart = 0
    for name in every - common:
        # Where a seed does not list an effect, its rate is far above the threshold.
        sure = [
            name not in some or abs(some[name]["lfsr"] - threshold) > 2.0 * some[name]["error"]
            for some in known
        ]
        apart += all(sure)
    return f"{len(common)} of {len(every)}; {apart}"


def _beside(records: Sequence[Record]) -> Table:
    note = (
        "Seconds from the data to the selected effects, medians over the seeds and the most in brackets, "
        "with the same threads; for the peers with cross-validation in five folds. In brackets after "
        "SKIM's how many verdicts are *trust*."
    )
    rows = []
    for label, some in cells.collect(records, words).items():
        own = cells.of(some, SKIM)
        trusted = sum(one.values["sampler"]["verdict"] == "trust" for one in own)
        row = [label, f"{_taken(some, SKIM)} [{trusted} of {len(own)}]"]
        rows.append([*row, *(_taken(some, method) for method in (HIERARCHICAL, LASSO))])
    return Table("Few rows", note, ["data", SKIM, HIERARCHICAL, LASSO], rows)


def _taken(records: Sequence[Record], method: str) -> str:
    every = [one for one in records if one.task.method == method]
    done = [one.cost["seconds"] for one in cells.of(every, method)]
    parts = [f"{median(done):.1f} ({max(done):.1f})"] if done else []
    return "; ".join([*parts, *([cells.unfinished(every)] if cells.unfinished(every) else [])]) or "–"


def draw(records: list[Record], path: Path) -> None:
    """Draw seconds to the verdict and to trust of every fit, by data set."""
    watched = [one for one in cells.of(records, SKIM) if one.task.work == TO_TRUST]
    labels = list(dict.fromkeys(words(one) for one in sorted(watched, key=_place)))
    figure, (axes,) = new(1, 1, width=9.5, height=1.5 + 0.3 * len(labels))
    _points(axes, watched, labels, "verdict", {"marker": "o", "markerfacecolor": "white"}, -0.15)
    _points(axes, watched, labels, "trust", {"marker": "s"}, 0.15)
    stopped = [one for one in watched if not one.values["trust"]]
    at = [labels.index(words(one)) + 0.15 for one in stopped]
    ended = [one.cost["seconds"] for one in stopped]
    axes.plot(ended, at, "x", color="0.5", label="stopped without trust")
    axes.set(xscale="log", xlabel="wall time (s)", ylim=(len(labels) - 0.5, -0.5))
    axes.set_yticks(range(len(labels)), labels)
    plain_log(axes.xaxis, 1.0)
    save(figure, path, columns=3)


def _points(
    axes: Any, records: Sequence[Record], labels: list[str], rule: str, style: Mapping[str, Any], shift: float
) -> None:
    held = [one for one in records if one.values[rule]]
    at = np.array([labels.index(words(one)) for one in held]) + shift
    seconds = [one.values[rule]["seconds"] for one in held]
    axes.plot(seconds, at, color="black", linestyle="none", label=rule, **style)


def _place(record: Record) -> tuple[int, str]:
    return GROUPS.index(group(record)), words(record)


MIXING = Experiment(
    name="mixing",
    title="How soon the sampler agrees with itself",
    about=(
        "`InteractionRegressor()` with its defaults on real tables, on simulated columns that are linked or "
        "nearly equal, on many rows and on few; the rows of the paper's simulation with few rows have no "
        "quadratic effects. *Trust* is one fixed rule, whatever rule the package stops by: rank-normalised "
        "split R-hat ≤ 1.01 and bulk and tail effective sample sizes ≥ 400, with four chains, for every "
        "hyperparameter, log κ of each variable whose η1² κ² N / σ² has a median of at least 1, and the "
        "conditional means of all mains and of the 50 leading pairs (pairs from at most 2,000 draws). A run "
        "goes on until both rules have held, and stops after 1,200 s; the time of looking at the fixed rule "
        "is not counted. On linked columns each chain starts at its own random set of five variables that "
        "do not act, without a search, but for `paper50`. Neither the paper nor version 0.1.0 has this."
    ),
    tasks=tasks,
    tables=tables,
    draw=draw,
    picture="Seconds to the verdict and to trust of every fit, by data set",
)
