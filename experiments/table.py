"""The figures of the study as tables."""

from collections.abc import Callable

import numpy as np
from benchmarks.goals import Goal, goals_table
from benchmarks.table import Table

from experiments.goals import by_setting, label
from experiments.peers import PEERS, SOURCE
from experiments.protocol import RULES, Outcome


def tables(outcomes: list[Outcome], goals: list[Goal]) -> list[Table]:
    """All tables in the order in which they are shown."""
    return [
        goals_table(goals, "Computed from the figures below."),
        _settings(outcomes),
        _beside(outcomes),
        _fits(outcomes),
    ]


def _settings(outcomes: list[Outcome]) -> Table:
    note = (
        "Sums over the fits of a setting as correct:false, mains then pairs. Seconds, gradients (all chains, "
        "warm-up included) and effective draws are medians, the worst in brackets; R-hat is the largest of "
        "all quantities that are watched, and the effective draws are the fewest."
    )
    rows = []
    for key, fits in by_setting(outcomes).items():
        found = [_cell(fits, rule) for rule in RULES]
        trusted = sum(one.verdict == "trust" for one in fits)
        rows.append(
            [
                label(key),
                str(len(fits)),
                *found,
                f"{trusted} of {len(fits)}",
                f"{max(one.r_hat for one in fits):.3f}",
                _both(fits, lambda one: min(one.ess_bulk, one.ess_tail), least=True),
                _both(fits, lambda one: one.seconds),
                _both(fits, lambda one: one.gradients),
            ]
        )
    heads = ["(N, p, λ)", "fits", *RULES, "trusted", "R-hat", "effective draws", "seconds", "gradients"]
    return Table("What was found", note, heads, rows)


def _beside(outcomes: list[Outcome]) -> Table:
    note = (
        "Mains correct:false, pairs correct:false; squared errors of the coefficients of all mains and of "
        "all pairs, in the columns as they are (a model without effects has 5 and 10). interplay: rule lfsr, "
        f"means over the fits. {SOURCE}: their data are not those of interplay's fits, and cells without an "
        "error have none known."
    )
    keys = by_setting(outcomes)
    ours = []
    for fits in keys.values():
        found = [one.found["lfsr"] for one in fits]
        counts = [
            np.mean([getattr(one, name) for one in found])
            for name in ("mains", "false_mains", "pairs", "false_pairs")
        ]
        mains = float(np.mean([one.errors.mains for one in fits]))
        pairs = float(np.mean([one.errors.pairs for one in fits]))
        ours.append(
            f"{counts[0]:g}:{counts[1]:g}, {counts[2]:g}:{counts[3]:g}; {_digits(mains)}, {_digits(pairs)}"
        )
    rows = [["**interplay**", *ours]]
    for name, cells in PEERS.items():
        row = [name]
        for key in keys:
            peer = cells.get(key)
            if peer is None:
                row.append("–")
                continue
            text = f"{peer.mains}:{peer.false_mains}, {peer.pairs}:{peer.false_pairs}"
            if peer.main_error is not None and peer.pair_error is not None:
                text += f"; {_digits(peer.main_error)}, {_digits(peer.pair_error)}"
            row.append(text)
        rows.append(row)
    return Table("Beside others", note, ["method", *map(label, keys)], rows)


def _fits(outcomes: list[Outcome]) -> Table:
    note = (
        "One row for each fit. *Slopes* is the squared error of the slope of every variable where the others "
        "are at their means, which is what interplay calls a main effect; *mains* is that of the "
        "coefficients in the columns as they are."
    )
    rows = [
        [
            label(key),
            str(one.seed),
            *(_cell([one], rule) for rule in RULES),
            _digits(one.errors.mains),
            _digits(one.errors.pairs),
            _digits(one.errors.slopes),
            one.verdict,
            f"{one.r_hat:.3f}",
            f"{min(one.ess_bulk, one.ess_tail):.0f}",
            f"{one.chains} × {one.draws}",
            f"{one.seconds:.0f}",
            str(one.gradients),
        ]
        for key, fits in by_setting(outcomes).items()
        for one in fits
    ]
    heads = ["(N, p, λ)", "seed", *RULES, "mains", "pairs", "slopes", "verdict", "R-hat", "effective draws"]
    return Table("Every fit", note, [*heads, "draws", "seconds", "gradients"], rows)


def _cell(fits: list[Outcome], rule: str) -> str:
    found = [one.found[rule] for one in fits]
    mains, pairs = sum(one.mains for one in found), sum(one.pairs for one in found)
    false_mains, false_pairs = sum(one.false_mains for one in found), sum(one.false_pairs for one in found)
    return f"{mains}:{false_mains}, {pairs}:{false_pairs}"


def _both(fits: list[Outcome], value: Callable[[Outcome], float], *, least: bool = False) -> str:
    values = [value(one) for one in fits]
    return f"{np.median(values):.0f} ({min(values) if least else max(values):.0f})"


def _digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):g}"
