"""Tables on stdout: for people, as CSV and as JSON."""

import json
import sys
from enum import StrEnum
from typing import TYPE_CHECKING

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    import pandas as pd

WIDE = 200
"""Characters in a line where there is no terminal that would have a width."""


class Format(StrEnum):
    """How a table is written."""

    table = "table"
    csv = "csv"
    json = "json"


def console() -> Console:
    """Stdout, for people; a name such as `a:b:c` is not to become an emoji."""
    return Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else WIDE)


def write(table: "pd.DataFrame", form: Format, title: str = "") -> None:
    """Write a table of effects; in CSV and JSON every number is exact."""
    if form is Format.table:
        console().print(effect_table(table, title))
    elif form is Format.csv:
        typer.echo(table.to_csv(index=False), nl=False)
    else:
        typer.echo(as_json(table))


def as_json(table: "pd.DataFrame") -> str:
    """A list of records, one in each line, with null for what is not a number."""
    records = [
        json.dumps(
            {name: None if value != value else value for name, value in record.items()}, allow_nan=False
        )
        for record in table.to_dict("records")
    ]
    return "[\n" + ",\n".join(records) + "\n]"


def effect_table(effects: "pd.DataFrame", title: str = "") -> Table:
    """Effects for people: in units of the data, with what is selected marked."""
    table = Table(
        title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
    )
    table.add_column("effect", overflow="fold")
    for heading in ("mean", "90 % interval", "in units", "90 % interval", "P(> 0)", "lfsr"):
        table.add_column(heading, justify="right", no_wrap=True, min_width=len(heading))
    table.add_column("", no_wrap=True)
    for row in effects.to_dict("records"):
        table.add_row(
            escape(row["term"]),
            f"{row['mean']:.3f}",
            f"{row['lower']:.3f} to {row['upper']:.3f}",
            f"{row['mean_natural']:.3g}",
            f"{row['lower_natural']:.3g} to {row['upper_natural']:.3g}",
            f"{row['prob_positive']:.3f}",
            f"{row['lfsr']:.1g}",
            "✓" if row["selected"] else "",
        )
    return table
