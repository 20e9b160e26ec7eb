"""New rows, matched to the variables of a design."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from interplay.data.column import Column, parse
from interplay.data.errors import DataError, nearest, quoted
from interplay.data.files import place
from interplay.data.frame import to_frame
from interplay.data.table import Table
from interplay.data.text import first_text
from interplay.data.variable import Variable


def match(
    source: Any, variables: Sequence[Variable], source_names: Sequence[str], ignored: Collection[str]
) -> tuple[tuple[Column, ...], Path | None]:
    """Take from new rows one column of the right kind for each variable.

    Parameters
    ----------
    source
        New rows in any form that `read` takes, or a `Table`.
    variables
        What is wanted.
    source_names
        Covariates of the original source in their order, by which the columns of an array are known.
    ignored
        Names that may be there and are not used.

    Returns
    -------
    columns
        One per variable, in their order.
    file
        The file that the rows came from, if any.
    """
    wanted = [variable.name for variable in variables]
    if isinstance(source, Table):
        _check_names(source.names, wanted, ignored)
        by_name = {column.name: column for column in source.columns}
        columns, file = tuple(by_name[name] for name in wanted), source.file
    else:
        frame = to_frame(source, text={variable.name for variable in variables if variable.levels})
        file = frame.file
        if frame.named:
            _check_names(frame.names, wanted, ignored)
            columns = parse(frame, wanted, judge=False)
        else:
            _check_count(len(frame.names), source_names)
            position = {name: frame.names[i] for i, name in enumerate(source_names)}
            found = parse(frame, [position[name] for name in wanted], judge=False)
            columns = tuple(replace(column, name=name) for column, name in zip(found, wanted, strict=True))
    if not len(columns[0].values):
        raise DataError(
            "got 0 rows: expected at least one row to predict for. Check how the rows were chosen."
        )
    pairs = zip(columns, variables, strict=True)
    return tuple(_as_kind(column, variable, file) for column, variable in pairs), file


def _check_names(names: Sequence[str], wanted: Sequence[str], ignored: Collection[str]) -> None:
    known = set(wanted)
    extra = [name for name in names if name not in known and name not in ignored]
    given = set(names)
    for name in wanted:
        if name not in given:
            raise DataError(
                f"the new rows lack the column '{name}': expected all of {quoted(wanted)}."
                f"{nearest(name, extra)} Add the column, or rename the one that is meant."
            )
    if extra:
        raise DataError(
            f"the new rows have columns that the design does not know: {quoted(extra)}. Expected only "
            f"{quoted(wanted)}. Drop them, as in `frame.drop(columns={extra[:10]!r})`."
        )


def _check_count(count: int, source_names: Sequence[str]) -> None:
    if count != len(source_names):
        raise DataError(
            f"X has {count} features, but Design is expecting {len(source_names)} features as input, in this "
            f"order: {quoted(source_names)}. Give all of them, or a data frame with these names."
        )


def _as_kind(column: Column, variable: Variable, file: Path | None) -> Column:
    """Check that a column can stand for a variable."""
    name, n = column.name, len(column.values)
    factor, text = variable.kind == "categorical", column.kind == "categorical"
    if factor != text:
        present = np.flatnonzero(~column.missing)
        if len(present) and factor:
            raise DataError(
                f"column '{name}' holds numbers, but it was a factor in the design: expected one of the "
                f"levels {quoted(variable.levels)}. Convert it to text with astype(str)."
            )
        if len(present):
            row = first_text(column.values, present)
            raise DataError(
                f"column '{name}' holds text ({column.values[row]!r} in {place(row, file)}), but it was a "
                "number in the design: expected numbers. Mend the values, or convert it with astype(float)."
            )
        return Column(name, variable.kind, np.full(n, None) if factor else np.full(n, np.nan))
    if factor:
        unseen = [level for level in column.levels if level not in variable.levels]
        if unseen:
            row = int(np.flatnonzero(column.values == unseen[0])[0])
            raise DataError(
                f"column '{name}' has the level '{unseen[0]}' in {place(row, file)}, which the design has "
                f"not seen: expected one of {quoted(variable.levels)}. Correct it, leave these rows out, or "
                "fit again with data that has this level."
            )
    return column
