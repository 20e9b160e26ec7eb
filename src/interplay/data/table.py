"""A table of covariates with its response, read from whatever holds it."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from interplay.data.column import Column, Kind, parse
from interplay.data.errors import DataError, nearest, quoted
from interplay.data.files import place
from interplay.data.frame import Frame, refuse_row_index, to_array, to_frame
from interplay.data.text import first_text

__all__ = ["Column", "Kind", "Table", "read"]


@dataclass(frozen=True, eq=False)
class Table:
    """Covariates, and the response if there is one.

    Parameters
    ----------
    columns
        The covariates.
    response
        The response; None in a table to predict for.
    source_names
        All covariate names of the source in their order, those dropped on purpose included.
    file
        The file it was read from, to name lines in messages.
    """

    columns: tuple[Column, ...]
    response: Column | None
    source_names: tuple[str, ...] = ()
    file: Path | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.columns[0].values)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the covariates."""
        return tuple(column.name for column in self.columns)


def read(
    source: Any,
    response: Any = None,
    *,
    names: Collection[str] | None = None,
    drop: Collection[str] | str = (),
) -> Table:
    """Read covariates and a response from a file, a frame or an array.

    Rows are matched by position; a pandas index is ignored. In a CSV file an empty cell and the words
    that `pandas.read_csv` knows (NA, NaN, null, None, …) are missing values, and blanks around a cell are
    stripped. Blank text is missing everywhere.

    Parameters
    ----------
    source
        A path to a .csv, .tsv (either also with .gz) or .parquet file, a pandas or polars frame or any other
        eager frame that narwhals knows, a mapping of columns, a 2-D array or a list of rows.
    response
        The name of a column of the source, or one value per row. A Series keeps its name; other values are
        called `y` (`response` if a covariate has that name).
    names
        Names for the columns of an array; `x0, x1, …` when not given.
    drop
        Columns to leave out.

    Raises
    ------
    DataError
        If the source cannot be used as it is.
    """
    frame = to_frame(source, names)
    dropped = _check_drop(drop, frame.names)
    target: Column | None = None
    if isinstance(response, str | int | float | np.generic):
        name = _check_name(str(response), frame.names, dropped)
        target = parse(frame, [name], judge=False)[0]
        source_names = tuple(other for other in frame.names if other != name)
    else:
        source_names = frame.names
    kept = [name for name in source_names if name not in dropped]
    if not kept:
        raise DataError(
            f"0 feature(s) (shape=({len(frame.data)}, 0)) while a minimum of 1 is required: no covariates "
            "are left beside the response and the dropped columns. Add a covariate, or drop fewer."
        )
    refuse_row_index(kept)
    columns = parse(frame, kept)
    if response is not None and target is None:
        target = _given_response(response, columns)
    if target is not None:
        _check_response(target, frame.file)
        _check_copies(target, columns)
    return Table(columns, target, source_names, frame.file)


def _check_drop(drop: Collection[str] | str, names: tuple[str, ...]) -> frozenset[str]:
    wanted = [drop] if isinstance(drop, str) else [str(name) for name in drop]
    known = frozenset(names)
    for name in wanted:
        if name not in known:
            raise DataError(
                f"cannot drop '{name}': expected one of the columns {quoted(names)}."
                f"{nearest(name, names)} Correct the name, or take it out of `drop`."
            )
    return frozenset(wanted)


def _check_name(name: str, names: tuple[str, ...], dropped: frozenset[str]) -> str:
    if name not in names:
        raise DataError(
            f"no column '{name}' for the response: expected one of {quoted(names)}.{nearest(name, names)} "
            "Give the name of a column, or pass the values themselves."
        )
    if name in dropped:
        raise DataError(
            f"column '{name}' is both the response and in `drop`: expected one or the other. "
            "Take it out of `drop`; the response is never a covariate."
        )
    return name


def _given_response(response: Any, columns: tuple[Column, ...]) -> Column:
    """Turn values given beside the covariates into the response."""
    covariates = {column.name: column for column in columns}
    frame = _response_frame(response, covariates)
    name = frame.names[0]
    if name in covariates:
        raise DataError(
            f"the response '{name}' is also a covariate: expected it only once. "
            f"Pass response='{name}' alone, or leave the covariate out with drop=['{name}']."
        )
    n = len(columns[0].values)
    if len(frame.data) != n:
        raise DataError(
            f"the response has {len(frame.data)} values for {n} rows of covariates: expected as many values "
            "as rows. Select the same rows in both."
        )
    return parse(frame, [name], judge=False)[0]


def _check_copies(response: Column, columns: tuple[Column, ...]) -> None:
    """Refuse a covariate that is the response under another name."""
    if response.kind == "categorical" or np.unique(response.values).size < 2:
        return
    for covariate in columns:
        if covariate.kind == response.kind and np.array_equal(
            covariate.values, response.values, equal_nan=True
        ):
            raise DataError(
                f"covariate '{covariate.name}' equals the response '{response.name}' in every row: expected "
                f"covariates without the response. Leave it out with drop=['{covariate.name}']."
            )


def _response_frame(response: Any, covariates: dict[str, Column]) -> Frame:
    import narwhals as nw
    import pandas

    series = nw.from_native(response, pass_through=True, allow_series=True)
    if isinstance(series, nw.Series):
        name = _response_name(covariates) if series.name is None or series.name == "" else str(series.name)
        if nw.dependencies.is_pandas_series(response):
            return to_frame(response.to_frame(name))
        return to_frame(series.rename(name).to_frame().to_native())
    if isinstance(series, nw.DataFrame | nw.LazyFrame):
        raise DataError(
            "the response is a data frame: y should be a 1d array or the name of a column. "
            "Select one column, as in frame['name']."
        )
    array = to_array(response, "y")
    if array.ndim != 1:
        raise DataError(
            f"the response has shape {array.shape}: y should be a 1d array with one value per row. "
            "Use y.ravel() for a single column; fit several responses one at a time."
        )
    values = pandas.Series(response if isinstance(response, list | tuple) else array)
    return to_frame(values.to_frame(_response_name(covariates)))


def _response_name(covariates: dict[str, Column]) -> str:
    return "response" if "y" in covariates else "y"


def _check_response(column: Column, file: Path | None) -> None:
    if column.kind == "categorical":
        row = first_text(column.values, np.flatnonzero(~column.missing))
        raise DataError(
            f"the response '{column.name}' holds text or categories ({column.values[row]!r} in "
            f"{place(row, file)}): expected numbers. Mend the values, code two classes as 0 and 1, or choose "
            "another column as response."
        )
