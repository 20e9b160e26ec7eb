"""Anything that holds columns, as one frame with unique text names."""

import re
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from interplay.data.errors import DataError, quoted
from interplay.data.files import read_file

EXPECTED = "expected a CSV or Parquet path, a data frame, or a 2-D array of numbers"
UNNAMED = re.compile(r"Unnamed: \d+")


@dataclass(frozen=True)
class Frame:
    """A narwhals frame whose names are unique text.

    Parameters
    ----------
    data
        The `narwhals.DataFrame`.
    names
        Its column names.
    named
        Whether the source came with names; the columns of an array have only positions.
    file
        The file it was read from, if any.
    """

    data: Any
    names: tuple[str, ...]
    named: bool
    file: Path | None


def to_frame(source: Any, names: Collection[str] | None = None, text: Collection[str] = ()) -> Frame:
    """Bring a path, frame, array, mapping or nested list into one form.

    Parameters
    ----------
    source
        A path, any eager frame that narwhals knows, a 2-D array or nested list, or a mapping of columns.
    names
        Column names for an array; `x0, x1, …` when not given.
    text
        Columns of a delimited file to keep as text.
    """
    import narwhals as nw

    if isinstance(source, str | Path):
        file = Path(source).expanduser()
        return _from_pandas(read_file(file, text), names, file)
    if isinstance(source, Mapping):
        return _from_pandas(_mapping_frame(source), names, None)
    if nw.dependencies.is_pandas_dataframe(source):
        return _from_pandas(source, names, None)
    data = nw.from_native(source, pass_through=True)
    if isinstance(data, nw.LazyFrame):
        raise DataError(
            f"got a lazy frame ({type(source).__module__}.{type(source).__name__}): expected one that holds "
            "its values. Call `.collect()` on it."
        )
    if isinstance(data, nw.DataFrame):
        _refuse_names(names)
        return Frame(data, unique(data.columns), named=True, file=None)
    return _from_array(to_array(source, "X"), names)


def to_array(source: Any, what: str) -> np.ndarray:
    """Turn an array-like into a NumPy array, with NaN for masked cells."""
    if _is_sparse(source):
        raise DataError(
            f"{what} is a sparse matrix, but sparse data is not supported: expected a dense array. "
            f"Call `{what}.toarray()`."
        )
    if source is None or isinstance(source, set | frozenset | bytes):
        raise DataError(f"got {type(source).__name__} for {what}: {EXPECTED}. Convert it to one of these.")
    try:
        array = np.asarray(source)
    except ValueError as error:
        raise DataError(
            f"{what} is a nested list whose rows differ in length: expected a rectangle of numbers. "
            "Give every row the same number of values."
        ) from error
    if isinstance(source, np.ma.MaskedArray):
        array = np.ma.filled(source.astype(float), np.nan)
    if array.dtype.kind == "c":
        raise DataError(
            f"Complex data not supported: {what} has dtype {array.dtype}, expected real numbers. "
            "Pass the real and imaginary parts, or modulus and angle, as columns of their own."
        )
    if array.dtype.names is not None:
        raise DataError(
            f"{what} is a structured array: {EXPECTED}. Call `pandas.DataFrame({what})` and pass that."
        )
    return array


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names as a tuple, refusing those that are blank or occur twice."""
    blank = [position for position, name in enumerate(names) if not name.strip()]
    if blank:
        raise DataError(
            f"column {blank[0]} has no name: expected a name for every column. Rename or remove it."
        )
    if len(set(names)) < len(names):
        repeated = [name for name, count in Counter(names).items() if count > 1]
        raise DataError(
            f"column names occur more than once: {quoted(repeated)}. Expected every name once (numbers "
            "used as names count as text). Rename or remove the duplicates."
        )
    return tuple(names)


def refuse_row_index(names: Sequence[str]) -> None:
    """Refuse the row numbers that `DataFrame.to_csv` writes as a first column without a name."""
    unnamed = [name for name in names if UNNAMED.fullmatch(name)]
    if unnamed:
        raise DataError(
            f"column '{unnamed[0]}' had no name in its file; it is often the row index that pandas writes. "
            f"Expected named covariates. Pass drop={unnamed!r}, or save with `to_csv(..., index=False)`."
        )


def _from_pandas(frame: Any, names: Collection[str] | None, file: Path | None) -> Frame:
    import narwhals as nw

    _refuse_names(names)
    if frame.columns.nlevels > 1:
        raise DataError(
            f"the columns are a MultiIndex of {frame.columns.nlevels} levels: expected one name per column. "
            "Join the levels, as in `frame.columns = frame.columns.map('_'.join)`."
        )
    texts = unique([str(name) for name in frame.columns])
    if any(str(dtype).startswith("Sparse") for dtype in frame.dtypes.unique()):
        sparse = [name for name, dtype in zip(texts, frame.dtypes, strict=True) if str(dtype)[:6] == "Sparse"]
        raise DataError(
            f"sparse columns are not supported: {quoted(sparse)}. Expected dense columns. "
            "Call `frame.sparse.to_dense()` on those columns."
        )
    return Frame(nw.from_native(frame.set_axis(list(texts), axis=1)), texts, named=True, file=file)


def _from_array(array: np.ndarray, names: Collection[str] | None) -> Frame:
    import narwhals as nw
    import pandas

    if array.ndim != 2:
        remedy = (
            "Reshape your data: `X.reshape(-1, 1)` for one covariate, `X.reshape(1, -1)` for one row."
            if array.ndim == 1
            else "Reshape your data to rows by columns, or pass a data frame or the path of a file."
        )
        raise DataError(f"expected a 2-D array, got {array.ndim}-D with shape {array.shape}. {remedy}")
    count = array.shape[1]
    texts = unique([f"x{i}" for i in range(count)] if names is None else [str(name) for name in names])
    if len(texts) != count:
        raise DataError(
            f"got {len(texts)} names for an array of {count} columns: expected one name per column. "
            "Give as many names as columns."
        )
    if array.dtype.kind == "S":
        array = array.astype(str)
    frame = pandas.DataFrame(array, columns=list(texts), copy=False)
    return Frame(nw.from_native(frame), texts, named=names is not None, file=None)


def _mapping_frame(source: Mapping[str, Any]) -> Any:
    import pandas

    try:
        return pandas.DataFrame(dict(source))
    except ValueError as error:
        raise DataError(
            f"the mapping is not a table ({error}): expected columns of the same length. "
            "Give every name a list of one value per row."
        ) from error


def _refuse_names(names: Collection[str] | None) -> None:
    if names is not None:
        raise DataError(
            "got `names` for a source that has names of its own: expected them only for arrays. "
            "Leave `names` out, or rename the columns."
        )


def _is_sparse(source: Any) -> bool:
    # Only a program that already imported scipy.sparse can hold a sparse matrix.
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(source))
