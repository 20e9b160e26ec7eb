"""Weights of the rows: a row of weight w counts as w copies of it."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from interplay.data.checks import FEWEST_ROWS
from interplay.data.column import Column
from interplay.data.errors import DataError
from interplay.data.frame import to_array
from interplay.data.table import Table


def check_weights(weights: Any, n: int) -> Float[np.ndarray, " n"]:
    """Turn weights into one number for each row, refusing those that cannot count copies.

    Parameters
    ----------
    weights
        One number for each row, in the order of the rows: an array, a list or a series.
    n
        Number of rows.
    """
    values = _numbers(weights, n)
    for wrong, word in [(np.isnan(values), "missing (NaN)"), (np.isinf(values), "infinite")]:
        if wrong.any():
            raise DataError(
                f"{wrong.sum()} of the {n} weights are {word}, the first in row {np.argmax(wrong)}: expected "
                "a finite number for every row. Give a row that is not to count the weight 0."
            )
    negative = values < 0
    if negative.any():
        row = int(np.argmax(negative))
        raise DataError(
            f"{negative.sum()} of the {n} weights are negative, the first in row {row} ({values[row]:g}): "
            "expected 0 or more. Give a row that is not to count the weight 0."
        )
    if n and not values.any():
        raise DataError(
            f"all {n} weights are zero: expected some rows to count. Give these positive weights, or leave "
            "the weights out."
        )
    # The exact sum: ten weights of 0.3 are three rows.
    total = math.fsum(values) if values.max(initial=0.0) < np.finfo(float).max / max(n, 1) else math.inf
    if not FEWEST_ROWS <= total < math.inf:
        raise DataError(
            f"the weights of the {n} rows add up to {total:g}, and a row of weight w counts as w copies of "
            f"it: expected a finite sum of at least {FEWEST_ROWS}. Rescale them, for instance to an average "
            "of 1 by weights / weights.mean(), or leave them out."
        )
    return values


def forget_unused(table: Table, used: Bool[np.ndarray, " n"]) -> Table:
    """Make a table forget what stands in rows that are not used.

    They keep their places, so that messages name rows as the source has them, but repeat in every column a
    value of a row that is used. Kinds and levels are then those of the used rows alone.
    """
    return replace(
        table,
        columns=tuple(_forget(column, used) for column in table.columns),
        response=None if table.response is None else _forget(table.response, used),
    )


def _forget(column: Column, used: Bool[np.ndarray, " n"]) -> Column:
    factor = column.kind == "categorical"
    known = used & (~column.missing if factor else np.isfinite(column.values))
    values = column.values.copy()
    values[~used] = values[np.argmax(known)] if known.any() else None if factor else np.nan
    if factor:
        present = set(values)
        return replace(column, values=values, levels=tuple(x for x in column.levels if x in present))
    two = np.unique(values[np.isfinite(values)]).size == 2
    return replace(column, values=values, kind="binary" if two else column.kind)


def _numbers(weights: Any, n: int) -> Float[np.ndarray, " n"]:
    if isinstance(weights, str):
        raise DataError(
            f"got the text {weights!r} for the weights: expected one number for each of the {n} rows. Give "
            f"the values, as in frame[{weights!r}], and leave a column of weights out of the covariates."
        )
    array = to_array(weights, "weights")
    if array.shape != (n,):
        raise DataError(
            f"the weights have shape {array.shape} for {n} rows: expected a 1-D array with one number for "
            "each row. Select the same rows in both."
        )
    try:
        # Text and dates would turn into numbers that were never meant.
        return array.astype(np.float64, casting="unsafe" if array.dtype.kind == "O" else "same_kind")
    except (TypeError, ValueError) as error:
        raise DataError(
            f"the weights are not numbers ({error}): expected 0 or more for each row. Convert them with "
            "astype(float), and give a row that is not to count the weight 0."
        ) from error
