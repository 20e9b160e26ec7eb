"""Records as cells of tables."""

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from experiments.methods import SKIM
from experiments.task import Record

RULES = ("paper", "lfsr", "fdr")
"""How SKIM selects."""

COUNTS = ("mains", "false_mains", "pairs", "false_pairs")

EMPTY = ("failed", "not available", "no answer")
"""How a task may end with nothing to show, and not because it took too much."""

Key = tuple[int, int, float]
"""Rows, variables and scale λ of a simulation."""


def key(record: Record) -> Key:
    """The setting of a simulation."""
    data = record.task.data
    return data["n"], data["p"], data["scale"]


def label(setting: Key) -> str:
    """(N, p, λ) as text."""
    return f"({setting[0]}, {setting[1]}, {setting[2]:g})"


def of(records: Sequence[Record], method: str) -> list[Record]:
    """The records of a method that came to their end."""
    return [record for record in records if record.task.method == method and record.done]


def rules(method: str) -> tuple[str, ...]:
    """How a method selects, the one that stands for it first."""
    return ("lfsr", *(rule for rule in RULES if rule != "lfsr")) if method == SKIM else ("nonzero",)


def named(method: str, rule: str) -> str:
    """Method and rule in words."""
    return f"{method}, rule {rule}" if method == SKIM else method


def counts(record: Record, rule: str) -> tuple[int, int, int, int]:
    """Mains right and wrong, pairs right and wrong."""
    found = record.values["found"][rule]
    return tuple(found[name] for name in COUNTS)


def written(values: Sequence[float]) -> str:
    """Four counts, or means of them, as mains right:wrong, pairs right:wrong."""
    mains, false_mains, pairs, false_pairs = (f"{round(value, 1):g}" for value in values)
    return f"{mains}:{false_mains}, {pairs}:{false_pairs}"


def total(records: Sequence[Record], rule: str) -> str:
    """Sums of the counts."""
    return written([sum(column) for column in zip(*(counts(one, rule) for one in records), strict=True)])


def mean(values: Sequence[float]) -> float:
    """The mean; no number of nothing."""
    return sum(values) / len(values) if values else float("nan")


def middle(values: Sequence[float], *, least: bool = False) -> str:
    """The median, and the worst in brackets."""
    if not values:
        return "–"
    return f"{median(values):.0f} ({min(values) if least else max(values):.0f})"


def digits(value: float | None) -> str:
    """Two digits, without an exponent where it can be."""
    return "–" if value is None or value != value else f"{float(f'{value:.2g}'):g}"


def ending(record: Record | None) -> str:
    """Why a task did not come to its end, in words."""
    if record is None:
        return "–"
    return record.status if record.status in EMPTY else record.note


def unfinished(records: Sequence[Record]) -> str:
    """Why tasks did not come to their end, in words: empty if all did."""
    notes: dict[str, int] = {}
    for record in records:
        if not record.done:
            what = ending(record)
            notes[what] = notes.get(what, 0) + 1
    return "; ".join(f"{count} × {note}" for note, count in notes.items())


def sampler(record: Record, name: str) -> Any:
    """What is known of a sampler; no number where there is none."""
    value = record.values["sampler"][name]
    return float("nan") if value is None else value


def unconverged(records: Sequence[Record], bound: float = 1.01) -> list[Record]:
    """The fits of SKIM whose R-hat is above a bound, or not known."""
    return [one for one in of(records, SKIM) if not sampler(one, "r_hat") <= bound]


def collect(records: Sequence[Record], by: Callable[[Record], Any]) -> dict[Any, list[Record]]:
    """Records by what they have in common, in sorted order."""
    groups: dict[Any, list[Record]] = {}
    for record in sorted(records, key=by):
        groups.setdefault(by(record), []).append(record)
    return groups
