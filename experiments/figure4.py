"""Figure 4: errors on the 36 data sets of Figure 3."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.table import Table

from experiments import cells
from experiments.cells import Key, digits, label
from experiments.experiment import Experiment
from experiments.figure3 import both, tasks
from experiments.methods import METHODS, PEERS
from experiments.plots import new, plain_symlog, save
from experiments.task import Record

TIE = 0.01
"""Neither is closer than the other where squared errors differ by no more than this."""


def tables(records: list[Record]) -> list[Table]:
    """How often SKIM is closer to the truth than each peer, and by how much."""
    note = (
        "Squared error of the peer less that of SKIM, in the coefficients of the columns as they are: above "
        f"0, SKIM is closer; counted where they differ by more than {TIE}. Sums of squares, as the paper's "
        "Euclidean distance; a model without effects has 5 for mains and 10 for pairs."
    )
    rows = []
    for name in PEERS:
        for kind in ("mains", "pairs"):
            found = differences_of_errors(records, name, kind)
            if found.size:
                quantiles = [digits(float(q)) for q in np.quantile(found, [0.0, 0.5, 1.0])]
                closer = [f"{np.sum(side * found > TIE)} of {found.size}" for side in (1, -1)]
                rows.append([name, kind, *closer, *quantiles])
    heads = ["peer", "effects", "SKIM closer", "peer closer", "least", "median", "most"]
    every = ["(N, p, λ)", *METHODS]
    return [
        Table("Differences in squared error", note, heads, rows),
        Table("Squared errors of every data set", "Of mains and of pairs.", every, _errors(records)),
    ]


def draw(records: list[Record], path: Path) -> None:
    """Draw the differences in squared error of every data set."""
    figure, panels = new(1, 2, width=9.5, height=4.6)
    order = {setting: k for k, setting in enumerate(sorted({cells.key(one) for one in records}))}
    for axes, kind in zip(panels, ("mains", "pairs"), strict=True):
        for name in PEERS:
            method = METHODS[name]
            pairs = both(records, name)
            at = [order[cells.key(ours)] + 1 for ours, _ in pairs]
            style = {"marker": method.marker, "color": method.color, "linestyle": "none", "alpha": 0.7}
            axes.plot(at, differences_of_errors(records, name, kind), label=name, **style)
        plain_symlog(axes, 0.1)
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, -1.0), max(high, 1.0))
        axes.axhspan(0.0, axes.get_ylim()[1], facecolor="0.93", zorder=0, label="SKIM is closer to the truth")
        axes.axhline(0.0, color="0.3", linewidth=0.8)
        axes.set(title="Main effects" if kind == "mains" else "Pairs")
        _name_settings(axes, list(order))
    panels[0].set_ylabel("squared error of peer less SKIM (effect units²)")
    save(figure, path, columns=3)


def _name_settings(axes: Any, settings: Sequence[Key]) -> None:
    """Write p of settings 1, 2, … below the horizontal axis and N above it; lines between different N."""
    places = np.arange(1, len(settings) + 1)
    n, p = np.array([setting[:2] for setting in settings]).T
    groups = [(n == rows) & (p == variables) for rows, variables in dict.fromkeys(zip(n, p, strict=True))]
    names = [f"{p[group][0]}" for group in groups]
    axes.set_xticks([places[group].mean() for group in groups], names, fontsize=7.5)
    for rows in dict.fromkeys(n):
        own = places[n == rows]
        middle = {"transform": axes.get_xaxis_transform(), "ha": "center", "va": "bottom", "fontsize": 8}
        axes.text(own.mean(), 0.01, f"N = {rows}", **middle)
        if own[-1] < len(settings):
            axes.axvline(own[-1] + 0.5, color="0.4", linewidth=0.8)
    scales = ", ".join(f"{scale:g}" for scale in sorted({setting[2] for setting in settings}))
    axes.set_xlabel(f"number of variables p (of each, λ = {scales} from left to right)")


def differences_of_errors(records: Sequence[Record], peer: str, kind: str) -> np.ndarray:
    """Squared error of a peer less that of SKIM, of mains or of pairs."""
    pairs = both(records, peer)
    return np.array([theirs.values["errors"][kind] - ours.values["errors"][kind] for ours, theirs in pairs])


def _errors(records: list[Record]) -> list[list[str]]:
    rows = []
    for setting, some in cells.collect(records, cells.key).items():
        by_method = {one.task.method: one for one in some if one.done}
        row = [label(setting)]
        for name in METHODS:
            errors = by_method[name].values["errors"] if name in by_method else None
            row.append("–" if errors is None else f"{digits(errors['mains'])}, {digits(errors['pairs'])}")
        rows.append(row)
    return rows


FIGURE4 = Experiment(
    name="figure4",
    title="Figure 4: errors on the same 36 data sets",
    about=(
        "The paper's Figure 4 has the differences in squared error between each LASSO and SKIM for the same "
        "36 data sets, without numbers: for the great majority SKIM is closer to the truth."
    ),
    tasks=tasks,
    tables=tables,
    draw=draw,
    picture="Squared error of each peer less that of SKIM, for mains and pairs of every data set",
)
