"""When to stop: candidate rules on stored draws of good fits and of bad ones."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from benchmarks.table import Table

from experiments import cells
from experiments.experiment import Experiment
from experiments.plots import new, save
from experiments.stopping_rules import RULES, TODAY
from experiments.task import Record, Task

AS_SAMPLED = "as sampled"

AMOUNTS = {"exchange": (0.75, 1.5, 3.0), "shift": (0.75, 1.5), "drift": (1.0, 2.0), "transient": (3.0,)}
"""Standard deviations of the defects that are planted in good fits."""

SLIGHT = {"exchange": (0.25, 0.5), "shift": (0.25, 0.375, 0.5), "drift": (0.25, 0.5)}
"""Defects so small that it is open whether a fit with them is bad: when does a rule begin to see them?"""

POWER = {"shift": (0.25, 0.375, 0.5, 0.75), "drift": (0.5, 0.75, 1.0, 1.25, 1.5)}
"""Sizes of defects in one quantity, from those that nobody can see to those that every rule should."""

REPEATS, SPAN = 40, 400
"""Sets of chains of each size, and about as many draws as today's rule takes of them without a defect."""

FIT: dict[str, Any] = {"draws": 2000}

SIMULATED: dict[str, Any] = {"kind": "series", "draws": 2000}

FITS: tuple[dict[str, Any], ...] = (
    *({"kind": "synthetic", "n": 40, "p": 8, "scale": 2.0, **FIT, "seed": seed} for seed in range(4)),
    *({"kind": "synthetic", "n": 50, "p": 16, "scale": 2.0, **FIT, "seed": seed} for seed in range(2)),
    *(
        {"kind": kind, "n": 40, "p": 12, "scale": 2.0, **FIT, "seed": seed}
        for kind in ("ar", "block", "weak", "heavy")
        for seed in range(2)
    ),
)
"""Small data on which chains agree."""

CHAINS_ALONE: tuple[dict[str, Any], ...] = (
    *({**SIMULATED, "q": 20, "phi": phi, "seed": seed} for phi in (0.5, 0.7, 0.8, 0.85) for seed in range(3)),
    *(
        {**SIMULATED, "q": 100, "phi": phi, "even": True, "seed": seed}
        for phi in (0.3, 0.6, 0.8)
        for seed in range(3)
    ),
    *({**SIMULATED, "q": 400, "phi": 0.5, "even": True, "seed": seed} for seed in range(2)),
)
"""Simulated chains that are as they should be."""

NEAR_EQUAL: dict[str, Any] = {"kind": "blocks98", "n": 60, "blocks": 5, "size": 3}

WRONG: tuple[dict[str, Any], ...] = (
    *({"kind": "paper60", "draws": 100, "wrong": 10, "seed": seed} for seed in range(2)),
    *({**NEAR_EQUAL, "draws": 200, "wrong": 10, "seed": seed} for seed in range(4)),
    *({**SIMULATED, "kind": "switching", "q": 20, "phi": 0.998, "seed": seed} for seed in range(4)),
    *({**SIMULATED, "kind": "switching", "q": 20, "phi": 0.99, "seed": seed} for seed in range(4)),
    *({**SIMULATED, "kind": "slow", "q": 20, "phi": 0.998, "seed": seed} for seed in range(4)),
)
"""Chains from wrong sets after next to no warm-up, and chains that hardly move in something."""


def tasks(quick: bool) -> list[Task]:
    """Fits as they were sampled, and good ones with defects."""
    if quick:
        data = {**SIMULATED, "draws": 800, "q": 10, "phi": 0.5, "seed": 0}
        return [_task(data), _task(data, "shift", 1.5)]
    planted = [
        _task(data, defect, amount)
        for data in (*FITS, *CHAINS_ALONE)
        for defect in AMOUNTS
        for amount in (*SLIGHT.get(defect, ()), *AMOUNTS[defect])
        # Only variables can be exchanged, and one set of simulated chains of each kind is enough.
        if (defect != "shift" if data in FITS else defect != "exchange" and data["seed"] == 0)
    ]
    return [*(_task(data) for data in (*FITS, *CHAINS_ALONE, *WRONG)), *planted, *_power()]


def _power() -> list[Task]:
    data = {**SIMULATED, "draws": 900, "q": 14, "phi": 0.4, "even": True, "seed": 1000}
    return [
        Task(
            "stopping",
            data,
            f"power {defect} {amount:g}",
            "experiments.stored:passing",
            options={"defect": defect, "amount": amount, "repeats": REPEATS, "span": SPAN},
        )
        for defect, amounts in POWER.items()
        for amount in amounts
    ]


def _task(data: Mapping[str, Any], defect: str | None = None, amount: float = 0.0) -> Task:
    method = AS_SAMPLED if defect is None else f"{defect} {amount:g}"
    options: dict[str, Any] = {} if defect is None else {"defect": defect, "amount": amount}
    # Draws are made, and kept, by the tasks without a defect, which come first.
    cost = 1.0 if defect is None else 10.0
    return Task("stopping", data, method, "experiments.stored:replayed", options=options, cost=cost)


def what(record: Record) -> str:
    """What is wrong with a bad fit."""
    if record.task.method != AS_SAMPLED:
        return record.task.method
    return {"switching": "seldom switching", "slow": "slow"}.get(record.task.data["kind"], "wrong starts")


def good(records: Sequence[Record]) -> list[Record]:
    """The fits that are as they should be."""
    return [one for one in records if one.done and one.values["state"] == "good"]


def bad(records: Sequence[Record]) -> list[Record]:
    """The fits that must not pass."""
    return [one for one in records if one.done and one.values["state"] == "bad"]


def passed(records: Sequence[Record], rule: str) -> list[Record]:
    """The fits that a rule lets pass at any check."""
    return [one for one in records if one.values["stops"][rule] is not None]


def saved(record: Record, rule: str) -> float:
    """The share of today's draws that a rule saves."""
    stops, every = record.values["stops"], record.values["draws"]
    # Where a rule does not stop a fit, all its draws are the fewest that it would take.
    return 1.0 - (stops[rule] or every) / (stops[TODAY] or every)


def tables(records: list[Record]) -> list[Table]:
    """What each rule saves and lets pass; which bad fits they are; how small a defect each sees."""
    return [_rules(records), _passed(records), _seen(records)]


def _rules(records: list[Record]) -> Table:
    fine, wrong = good(records), bad(records)
    fits = [one for one in fine if one.task.data["kind"] != "series"]
    chains = [one for one in fine if one.task.data["kind"] == "series"]
    note = (
        f"{len(fits)} good fits and {len(chains)} sets of simulated chains, and {len(wrong)} bad ones. Every "
        "rule asks for 400 effective draws in the bulk and in the tails of every quantity, and is checked "
        "every 25 draws. *Saved* is the share of the draws of today's rule (the first), median and range; "
        "*error* the largest difference of a mean at the stop from that of all draws, in sds, median "
        "over good fits; *pass* how many bad ones the rule lets pass at any check."
    )
    rows = []
    for rule in RULES:
        stopped = [one for one in fine if one.values["stops"][rule] is not None]
        errors = [one.values["errors"][rule] for one in stopped]
        rows.append(
            [
                rule,
                f"{len(stopped)} of {len(fine)}",
                _span([saved(one, rule) for one in fits]),
                _span([saved(one, rule) for one in chains]),
                f"{median(errors):.2f}" if errors else "–",
                f"{len(passed(wrong, rule))} of {len(wrong)}",
            ]
        )
    heads = ["rule", "good that stop", "saved, fits", "saved, chains", "error", "bad that pass"]
    return Table("Rules of stopping", note, heads, rows)


def _span(shares: Sequence[float]) -> str:
    if not shares:
        return "–"
    return f"{100 * median(shares):.0f} % ({100 * min(shares):.0f} to {100 * max(shares):.0f})"


def _passed(records: list[Record]) -> Table:
    note = (
        "How many of the bad fits of a kind, and of those with slight defects, which do not count, "
        "each rule lets pass at any check. A number after a defect is "
        "its size in standard deviations: of the difference of one chain from the others, of how far all "
        "chains drift until today's rule would stop, or of how far away they come from."
    )
    spoilt = [one for one in records if one.done and one.values["state"] in ("bad", "slight")]
    groups = cells.collect(spoilt, what)
    rows = [[rule, *(f"{len(passed(some, rule))}" for some in groups.values())] for rule in RULES]
    return Table(
        "Bad fits that pass",
        note,
        ["rule", *(f"{name} (of {len(some)})" for name, some in groups.items())],
        rows,
    )


def _seen(records: list[Record]) -> Table:
    note = (
        f"How many of {REPEATS} sets of 14 simulated chains, in one of whose quantities a defect was "
        "planted, each rule lets pass at any check: one chain shifted, or all chains drifting by so many "
        f"standard deviations in {SPAN} draws, about as many as the first rule takes without a defect."
    )
    found = [one for one in records if one.done and one.values["state"] == "power"]
    heads = [f"{one.values['defect']} {one.values['amount']:g}" for one in found]
    rows = [[rule, *(str(one.values["passed"][rule]) for one in found)] for rule in RULES]
    return Table("The smallest defects that are seen", note, ["rule", *heads], rows)


def draw(records: list[Record], path: Path) -> None:
    """Draw what each rule saves of every good fit, and the share of bad fits that it lets pass."""
    fine, wrong = good(records), bad(records)
    figure, (left, right) = new(1, 2, width=9.5, height=1.2 + 0.4 * len(RULES))
    at = np.arange(len(RULES))
    for k, rule in enumerate(RULES):
        shares = [100.0 * saved(one, rule) for one in fine]
        left.plot(shares, np.full(len(shares), k), "o", color="black", alpha=0.4, label="a good fit")
    passing = [100.0 * len(passed(wrong, rule)) / max(len(wrong), 1) for rule in RULES]
    right.plot(passing, at, "x", color="tab:red", label="bad fits")
    left.set(xlabel="draws saved beside R-hat ≤ 1.01 (%)", ylim=(len(RULES) - 0.5, -0.5))
    left.set_yticks(at, list(RULES))
    right.set(xlabel="bad fits that pass (%)", ylim=(len(RULES) - 0.5, -0.5))
    right.set_yticks(at, [""] * len(RULES))
    save(figure, path)


STOPPING = Experiment(
    name="stopping",
    title="When to stop",
    about=(
        "Rules of stopping on stored draws: small fits whose chains agree and simulated chains, and bad "
        "ones: chains from wrong sets of variables after next to no warm-up, chains that seldom change "
        "between two modes, slow ones, and good fits with one chain in another mode (two variables "
        "exchanged, or shifted) or with all chains drifting. Draws "
        "are kept in `build/stopping`; another source makes its own."
    ),
    tasks=tasks,
    tables=tables,
    draw=draw,
    picture="Draws that each rule saves of every good fit, and bad fits that it lets pass",
)
