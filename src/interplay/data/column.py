"""One column: its kind, its values, and for a factor its levels."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Complex, Real
from typing import Any, Literal

import numpy as np

from interplay.data.errors import DataError
from interplay.data.frame import Frame
from interplay.data.text import refuse_dates, refuse_identifier, refuse_numbers

Kind = Literal["numeric", "binary", "categorical"]


@dataclass(frozen=True, eq=False)
class Column:
    """A named column of numbers or of levels.

    Parameters
    ----------
    name
        Its name.
    kind
        `"binary"` for two distinct numbers, whose square is an affine function of the number itself;
        `"numeric"` for other numbers; `"categorical"` for text and categories.
    values
        Numbers with NaN for missing cells, or objects: text, with None for missing cells.
    levels
        The levels of a factor that occur, in the order of its categories, else in natural order.
    """

    name: str
    kind: Kind
    values: np.ndarray
    levels: tuple[str, ...] = ()

    @property
    def missing(self) -> np.ndarray:
        """Which rows have no value."""
        if self.kind == "categorical":
            return np.fromiter((value is None for value in self.values), bool, len(self.values))
        return np.isnan(self.values)


def parse(frame: Frame, names: Sequence[str], *, judge: bool = True) -> tuple[Column, ...]:
    """Turn columns of a frame into columns of known kind.

    Parameters
    ----------
    frame
        The frame.
    names
        The columns to take, in this order.
    judge
        Also refuse text that seems to be meant as numbers, and factors that look like identifiers:
        right for data to learn from, wrong for a few new rows of known kinds.
    """
    schema = frame.data.select(list(names)).schema
    plain = [name for name, dtype in schema.items() if dtype.is_numeric() or dtype.is_boolean()]
    flags = {name for name in plain if schema[name].is_boolean()}
    columns = {column.name: column for column in _from_numbers(plain, _matrix(frame, plain), flags)}
    for name, dtype in schema.items():
        if name not in columns:
            columns[name] = _from_other(frame, name, dtype, judge)
    return tuple(columns[name] for name in names)


def _matrix(frame: Frame, names: list[str]) -> np.ndarray:
    """Take columns of numbers as one float64 matrix, with NaN for missing cells."""
    import narwhals as nw

    if not names:
        return np.empty((len(frame.data), 0))
    if frame.data.implementation.is_pandas():
        matrix = frame.data.to_native()[names].to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        matrix = frame.data.select(nw.col(*names).cast(nw.Float64)).to_numpy()
    return np.asfortranarray(matrix, dtype=np.float64)


def _from_numbers(names: Sequence[str], matrix: np.ndarray, flags: set[str]) -> list[Column]:
    finite = np.isfinite(matrix)
    low = np.min(matrix, axis=0, where=finite, initial=np.inf)
    high = np.max(matrix, axis=0, where=finite, initial=-np.inf)
    two = (low < high) & np.all((matrix == low) | (matrix == high) | ~finite, axis=0)
    return [
        Column(name, "binary" if two[i] or name in flags else "numeric", matrix[:, i])
        for i, name in enumerate(names)
    ]


def _from_other(frame: Frame, name: str, dtype: Any, judge: bool) -> Column:
    import narwhals as nw

    series = frame.data.get_column(name)
    if dtype.is_temporal():
        raise _date_error(name, str(dtype), judge)
    if isinstance(dtype, nw.Categorical | nw.Enum):
        column = _from_categories(name, series, dtype)
    elif isinstance(dtype, nw.String | nw.Object):
        column = _from_objects(name, series.to_list(), frame, judge)
    elif series.is_null().all():
        return Column(name, "numeric", np.full(len(series), np.nan))
    else:
        raise _type_error(name, f"dtype {getattr(series.to_native(), 'dtype', dtype)}", judge)
    if judge and column.kind == "categorical":
        refuse_identifier(name, column.levels, len(column.values))
    return column


def _from_categories(name: str, series: Any, dtype: Any) -> Column:
    import narwhals as nw

    values = series.to_list()
    # polars and Arrow number their unordered categories by appearance, which means nothing.
    if series.implementation.is_pandas():
        order = [str(category) for category in series.to_native().cat.categories]
    elif isinstance(dtype, nw.Enum):
        order = [str(category) for category in dtype.categories]
    else:
        order = sorted({value for value in values if value is not None}, key=_natural)
    if len(set(order)) < len(order):
        raise DataError(
            f"column '{name}' has different categories that are written alike: expected distinct labels. "
            "Rename the categories."
        )
    labels = _objects([None if value is None or value != value else str(value) for value in values])
    present = set(labels)
    return Column(name, "categorical", labels, tuple(level for level in order if level in present))


def _from_objects(name: str, values: list[Any], frame: Frame, judge: bool) -> Column:
    import pandas

    cells = _objects(values)
    missing = pandas.isna(cells) | np.array(
        [isinstance(v, str) and not v.strip() for v in values], dtype=bool
    )
    present = cells[~missing]
    if all(isinstance(value, str) for value in present) and len(present):
        if judge:
            refuse_numbers(name, cells, missing, frame.file)
            refuse_dates(name, cells, missing, frame.file)
        labels = _objects([None if gone else str(v) for v, gone in zip(values, missing, strict=True)])
        return Column(name, "categorical", labels, tuple(sorted(set(present), key=_natural)))
    flags = [isinstance(value, bool | np.bool_) for value in present]
    numbers = [_is_real(value) for value in present]
    if not all(flags) and not (all(numbers) and not any(flags)):
        raise _mixed_error(name, present, judge)
    numeric = np.full(len(values), np.nan)
    numeric[~missing] = [_to_float(name, value) for value in present]
    return _from_numbers([name], numeric[:, None], {name} if len(present) and all(flags) else set())[0]


def _objects(values: list[Any]) -> np.ndarray:
    # Unlike np.array, this never looks inside the values.
    return np.fromiter(values, dtype=object, count=len(values))


def _is_real(value: object) -> bool:
    # Decimal registers as a number but not as a real one.
    return isinstance(value, Real | Decimal)


def _to_float(name: str, value: Any) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise DataError(
            f"column '{name}' holds a whole number too large for double precision: expected values below "
            "1e308. Rescale the column."
        ) from error


def _natural(label: str) -> tuple[list[str | int], str]:
    """Order labels as a reader would: 'dose 2' before 'dose 10'."""
    parts = re.split(r"([0-9]+)", label)
    return [int(part) if i % 2 else part for i, part in enumerate(parts)], label


def _mixed_error(name: str, present: np.ndarray, judge: bool) -> DataError:
    if all(isinstance(value, date | time | timedelta) for value in present):
        return _date_error(name, type(present[0]).__name__, judge)
    types = sorted({type(value).__name__ for value in present})
    if len(types) == 1 or not all(isinstance(value, str | Complex) or _is_real(value) for value in present):
        return _type_error(name, f"{' and '.join(types)} objects", judge)
    return DataError(
        f"column '{name}' mixes {' and '.join(types)}: expected only numbers, only True and False, or only "
        f"text. Mend the odd values, or convert with astype(float) or astype(str){_or_drop(name, judge)}."
    )


def _date_error(name: str, found: str, judge: bool) -> DataError:
    return DataError(
        f"column '{name}' holds dates or times ({found}): expected numbers or text. Convert it, for instance "
        f"to a number of days since the first{_or_drop(name, judge)}."
    )


def _or_drop(name: str, judge: bool) -> str:
    # Only covariates to learn from can be dropped.
    return f", or leave it out with drop=['{name}']" if judge else ""


def _type_error(name: str, found: str, judge: bool) -> DataError:
    return DataError(
        f"column '{name}' holds {found}: expected real numbers, True and False, text or categories. "
        f"Convert it to one of these{_or_drop(name, judge)}."
    )
