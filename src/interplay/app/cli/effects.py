"""`interplay effects`: any effects of a saved fit."""

from itertools import combinations
from typing import Annotated

import typer

from interplay.app.cli import options
from interplay.app.cli.messages import opened
from interplay.app.cli.tables import Format, write

KINDS = ("mains", "pairs", "quadratic")


def effects(
    saved: options.Saved,
    terms: Annotated[
        list[str] | None,
        typer.Argument(metavar="TERM", help="Such as bmi, bmi:bp or bmi^2; or mains, pairs or quadratic."),
    ] = None,
    pairs: Annotated[
        list[str] | None, typer.Option(metavar="A,B,…", help="Every pair among these variables.")
    ] = None,
    top_pairs: Annotated[
        int | None, typer.Option(min=1, help="So many of the strongest of all pairs.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", "-f", help="How to write the table.")] = Format.table,
) -> None:
    """Show effects of a saved fit, the surest first.

    Without terms: all main and quadratic effects, the pairs among the variables that matter, and the
    strongest of all pairs. CSV and JSON have every column, and every number exactly.

    \b
    Examples:
    interplay effects run.nc
    interplay effects run.nc bmi bmi:bp 'bmi^2'
    interplay effects run.nc --pairs bmi,bp,age
    interplay effects run.nc --top-pairs 20 --format csv > pairs.csv
    """
    among = tuple(dict.fromkeys(options.names(pairs)))
    if top_pairs is not None and (terms or among):
        raise typer.BadParameter("give either terms or --top-pairs.", param_hint="--top-pairs")
    if pairs and len(among) < 2:
        raise typer.BadParameter("give two variables or more, as in --pairs a,b.", param_hint="--pairs")
    kinds = [term for term in terms or () if term in KINDS]
    if kinds and (among or len(terms or ()) > 1):
        raise typer.BadParameter(f"ask for '{kinds[0]}' alone.", param_hint="TERM")
    fit = opened(saved)
    if top_pairs is not None:
        table = fit.top_pairs(top_pairs)
    elif kinds:
        table = fit.effects(kinds[0])
    elif terms or among:
        table = fit.effects([*(terms or ()), *combinations(among, 2)])
    else:
        table = fit.effects()
    write(table, form)
