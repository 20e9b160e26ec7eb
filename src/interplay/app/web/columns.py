"""What is in the data: columns, their kinds, and the problems found in them, before anything is fitted."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from interplay.app.web.words import in_words
from interplay.data import checks
from interplay.data.column import Column, parse
from interplay.data.errors import DataError, listed
from interplay.data.frame import Frame, refuse_row_index, to_frame

MOST_CELLS = 20_000_000
"""Rows times columns that are taken."""

USUAL = ("y", "response", "target", "outcome")
"""Names that a response often has."""


@dataclass(frozen=True)
class Found:
    """One column.

    Parameters
    ----------
    name
        Its name.
    kind
        `"numeric"`, `"binary"`, `"categorical"`; `"unusable"` where there is a problem.
    words
        What its values are like.
    missing
        How many rows have none.
    problem
        Why it cannot be a covariate as it is, and what to do; empty if it can.
    """

    name: str
    kind: str
    words: str
    missing: int
    problem: str = ""


def look(data: Path, title: str) -> dict[str, Any]:
    """Read a file, and say what is in it.

    Parameters
    ----------
    data
        The file.
    title
        What its owner calls it, for messages.

    Returns
    -------
    dict
        `rows`; `columns`, each a `Found`; `response`, the one that is likely to be meant, or None.

    Raises
    ------
    DataError
        If the file is no table at all.
    """
    try:
        frame = to_frame(data)
        rows = len(frame.data)
        checks.check_rows(rows)
        if rows * len(frame.names) > MOST_CELLS:
            raise DataError(
                f"'{data}' has {rows:,} rows and {len(frame.names):,} columns: expected at most"
                f" {MOST_CELLS:,} cells. Leave out rows or columns before it is uploaded."
            )
        if len(frame.names) < 2:
            raise DataError(
                f"'{data}' has one column, '{frame.names[0]}': expected a response and at least one"
                " covariate, separated by commas, semicolons or tabs. Check the separator."
            )
        columns = [_found(column, data, title) for column in _columns(frame)]
    except DataError as error:
        raise DataError(in_words(str(error), data, title)) from error
    return {"rows": rows, "columns": [asdict(column) for column in columns], "response": _likely(columns)}


def _columns(frame: Frame) -> list[Column | tuple[str, DataError]]:
    try:
        refuse_row_index(frame.names)
        return list(parse(frame, frame.names))
    except DataError:
        return [_alone(frame, name) for name in frame.names]


def _alone(frame: Frame, name: str) -> Column | tuple[str, DataError]:
    try:
        refuse_row_index([name])
        return parse(frame, [name])[0]
    except DataError as error:
        return name, error


def _found(column: Column | tuple[str, DataError], data: Path, title: str) -> Found:
    if isinstance(column, tuple):
        name, error = column
        return Found(name, "unusable", "", 0, in_words(str(error), data, title))
    missing = int(column.missing.sum())
    problem = _problem(column, missing)
    return Found(column.name, "unusable" if problem else column.kind, _words(column), missing, problem)


def _problem(column: Column, missing: int) -> str:
    if missing == len(column.values):
        return "It has no values at all."
    if column.kind != "categorical" and np.isinf(column.values).any():
        return "It has infinite values. Replace them, or leave it out."
    return "It has the same value in every row." if checks.is_constant(column) else ""


def _words(column: Column) -> str:
    if column.kind == "categorical":
        return f"{len(column.levels)} levels: {listed(column.levels, 4)}"
    values = column.values[np.isfinite(column.values)]
    if not len(values):
        return ""
    if column.kind == "binary":
        return " or ".join(f"{value:g}" for value in np.unique(values))
    return f"{values.min():.4g} to {values.max():.4g}, mean {values.mean():.4g}"


def _likely(columns: list[Found]) -> str | None:
    numbers = [column.name for column in columns if column.kind == "numeric" and not column.missing]
    return next((name for name in numbers if name.lower() in USUAL), numbers[-1] if numbers else None)
