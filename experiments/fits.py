"""A table with a row for each fit of SKIM."""

from collections.abc import Callable, Sequence

from benchmarks.table import Table

from experiments import cells
from experiments.cells import RULES, digits
from experiments.methods import SKIM
from experiments.task import Record


def effective(record: Record) -> float:
    """The fewest effective draws, in the bulk or in the tails, of all quantities that are watched."""
    return min(cells.sampler(record, "ess_bulk"), cells.sampler(record, "ess_tail"))


def every_fit(
    records: Sequence[Record], heads: Sequence[str], which: Callable[[Record], Sequence[str]]
) -> Table:
    """Selections, errors and convergence of every fit that came to its end.

    Parameters
    ----------
    records
        In the order of the rows; those of other methods are passed over.
    heads, which
        Columns that tell which data a fit is of.
    """
    note = (
        "One row for each fit of SKIM. *Slopes* is the squared error of the slope of every variable where "
        "the others are at their means, which is what interplay calls a main effect; *mains* is that of the "
        "coefficients in the columns as they are."
    )
    rows = []
    for one in cells.of(records, SKIM):
        known, errors = one.values["sampler"], one.values["errors"]
        rows.append(
            [
                *which(one),
                *(cells.total([one], rule) for rule in RULES),
                *(digits(errors[kind]) for kind in ("mains", "pairs", "slopes")),
                known["verdict"],
                f"{cells.sampler(one, 'r_hat'):.3f}",
                f"{effective(one):.0f}",
                f"{known['chains']} × {known['draws']}",
                f"{one.cost['seconds']:.0f}",
                str(known["gradients"]),
            ]
        )
    found = [*RULES, "mains", "pairs", "slopes", "verdict", "R-hat", "effective draws"]
    return Table("Every fit", note, [*heads, *found, "draws", "seconds", "gradients"], rows)
