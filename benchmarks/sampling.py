"""Samplers side by side: which contender is run on which data, cheap ones first, each kept when measured."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

from benchmarks import numpyro_nuts, ours, peers, stan
from benchmarks.peers import Cost, Problem
from benchmarks.provenance import source
from benchmarks.row import Row, others

MEASURED = ("data", "model", "inference", "baselines")
"""The folders of interplay whose speed is in question."""

Measure = Callable[[Problem, int], Row]
"""From a problem and a number of threads to a row."""


@dataclass(frozen=True)
class Entry:
    """A row that is to be measured."""

    contender: str
    problem: Problem
    measure: Measure

    @property
    def name(self) -> str:
        """The name that its row will have."""
        return Row(self.contender, self.problem).name


def entries(quick: bool, seed: int) -> list[Entry]:
    """All rows in the order in which they are measured."""
    return list(_quick(seed) if quick else _full(seed))


def measure(
    plan: Sequence[Entry], threads: int, done: Sequence[Row], keep: Callable[[list[Row]], None]
) -> list[Row]:
    """Measure what is not there yet, one at a time.

    Parameters
    ----------
    plan
        What is to be measured.
    threads
        Cores that each contender has.
    done
        Rows that were measured before; what the plan has anew is measured again only if it is not here.
    keep
        Called with all rows after each that is measured.
    """
    rows = {row.name: row for row in done}
    version = source(MEASURED)
    for entry in plan:
        if entry.name in rows:
            continue
        with others() as busy:
            row = entry.measure(entry.problem, threads)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows[entry.name] = replace(row, others=busy[0], source=version, time=now)
        keep(list(rows.values()))
    return list(rows.values())


def read(path: Path) -> list[Row]:
    """The rows of a file of figures."""
    return [Row(**(one | {"problem": Problem(**one["problem"])})) for one in _load(path).get("rows", [])]


def save(path: Path, figures: dict[str, Any], rows: list[Row]) -> None:
    """Write figures and rows; a stop in the middle leaves the file as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    text = json.dumps(
        figures | {"rows": [asdict(row) for row in rows]}, indent=1, ensure_ascii=False, allow_nan=False
    )
    beside.write_text(text + "\n")
    beside.replace(path)


def _load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def _full(seed: int) -> Iterator[Entry]:
    small, strong, wide, large, huge = (
        Problem(n, p, scale, seed)
        for n, p, scale in (
            (100, 100, 2.0),
            (200, 200, 5.0),
            (200, 500, 2.0),
            (200, 2000, 2.0),
            (200, 10_000, 2.0),
        )
    )
    for problem in (small, strong, wide):
        yield Entry("interplay", problem, _ours)
        yield Entry("LassoCV", problem, _lasso)
        yield Entry("adelie", problem, _adelie)
    # The more dimensions, the shorter NumPyro's warm-up: the usual one would take hours.
    yield Entry("NumPyro", small, _numpyro())
    yield Entry("NumPyro", strong, _numpyro(warmup=500))
    yield Entry("interplay", large, _ours)
    yield Entry("Stan", small, _stan())
    yield Entry("NumPyro", wide, _numpyro(warmup=200))
    yield Entry("adelie", large, _adelie)
    yield Entry("LassoCV", large, _lasso)
    yield Entry("interplay", huge, _ours)


def _quick(seed: int) -> Iterator[Entry]:
    problem = Problem(30, 8, 5.0, seed)
    yield Entry("interplay", problem, lambda problem, _: ours.measure(problem, draws=50))
    yield Entry("LassoCV", problem, _lasso)
    yield Entry("NumPyro", problem, _numpyro(warmup=25, draws=50))


def _ours(problem: Problem, threads: int) -> Row:
    return ours.measure(problem)


def _numpyro(warmup: int = 1000, **settings: Any) -> Measure:
    return lambda problem, threads: numpyro_nuts.measure(problem, threads, warmup=warmup, **settings)


def _stan(warmup: int = 1000, draws: int = 1000, limit: float = 1800.0) -> Measure:
    def run(problem: Problem, threads: int) -> Row:
        return stan_row(problem, warmup, draws, limit)

    return run


def stan_row(problem: Problem, warmup: int, draws: int, limit: float) -> Row:
    """Four chains of Stan in four processes on the cores of this one."""
    from benchmarks.quality import first_enough, quality, watched
    from interplay.data.design import design
    from interplay.data.simulate import synthetic
    from interplay.inference.stopping import ESS, R_HAT
    from interplay.model.priors.skim import SKIM

    if not stan.available():
        return Row("Stan", problem, note=stan.MISSING)
    simulation = synthetic(problem.n, problem.p, scale=problem.scale, seed=problem.seed)
    made, prior = design(simulation.X, simulation.y), SKIM(quadratic=False)
    try:
        sampled = stan.sample(
            made, prior, seed=problem.seed, chains=4, warmup=warmup, draws=draws, limit=limit
        )
    except TimeoutExpired:
        return Row("Stan", problem, note=f"more than {limit:.0f} s")
    series = watched(made, prior, sampled.draws, list(simulation.effects))
    found = quality(series)
    sampling = sampled.seconds - sampled.warmup_seconds
    before = sampled.compile_seconds + sampled.warmup_seconds
    lengths = range(draws // 10, draws + 1, draws // 20)
    enough = first_enough(series, lengths)
    share = enough / draws if enough else ESS / min(found.ess_bulk, found.ess_tail)
    reached = enough is not None or found.r_hat <= R_HAT
    note = (
        f"4 chains in 4 processes, {warmup} iterations of warm-up, {sampled.compile_seconds:.0f} s of "
        "compilation; the share of the warm-up in the time is that of its gradients"
    )
    return Row(
        "Stan",
        problem,
        seconds=sampled.compile_seconds + sampled.seconds,
        to_enough=before + share * sampling if reached else None,
        extrapolated=reached and enough is None,
        sampling_seconds=sampling,
        chains=4,
        draws=draws,
        gradients=sampled.gradients,
        warmup_gradients=sampled.warmup_gradients,
        ess_bulk=found.ess_bulk,
        ess_tail=found.ess_tail,
        r_hat=found.r_hat,
        worst=found.worst,
        divergences=sampled.divergences,
        note=note if reached else f"{note}; R-hat was {found.r_hat:.2f} at the end",
    )


def _lasso(problem: Problem, threads: int) -> Row:
    # All pairs of 2,000 variables have no room for two folds at a time.
    return _priced("LassoCV", problem, peers.lasso(problem, threads if problem.p < 1000 else 1))


def _adelie(problem: Problem, threads: int) -> Row:
    return _priced("adelie", problem, peers.hierarchical(problem, threads))


def _priced(contender: str, problem: Problem, cost: Cost | str) -> Row:
    if isinstance(cost, str):
        return Row(contender, problem, note=cost)
    found = cost.found
    note = f"found {found.mains}:{found.false_mains} mains, {found.pairs}:{found.false_pairs} pairs"
    return Row(
        contender,
        problem,
        seconds=cost.seconds,
        processor_seconds=cost.processor_seconds,
        bytes=cost.bytes,
        note=note,
    )
