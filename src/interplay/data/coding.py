"""Columns of values, coded into the columns of a design."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from interplay.data.column import Column
from interplay.data.variable import Variable


def assemble(
    columns: Sequence[Column],
    variables: Sequence[Variable],
    centres: Float[np.ndarray, " d"],
    scales: Float[np.ndarray, " d"],
    fills: Float[np.ndarray, " d"],
) -> Float[np.ndarray, "n d"]:
    """Code each column into the place of its variable.

    Parameters
    ----------
    columns
        One per variable, in the same order; the levels of a factor are all known.
    variables
        The variables.
    centres, scales
        A number x becomes (x - centre) / scale.
    fills
        Coded values of missing numbers.
    """
    X = np.empty((len(columns[0].values), len(centres)))
    pairs = list(zip(columns, variables, strict=True))
    numbers = [(column.values, variable.start) for column, variable in pairs if not variable.levels]
    if numbers:
        values, starts = np.column_stack([v for v, _ in numbers]), [start for _, start in numbers]
        with np.errstate(over="ignore"):
            coded = (values - centres[starts]) / scales[starts]
        X[:, starts] = np.where(np.isnan(values), fills[starts], coded)
    for column, variable in pairs:
        if variable.levels:
            X[:, variable.start : variable.stop] = code_factor(column.values, variable.levels)
    return X


def code_factor(values: np.ndarray, levels: Sequence[str]) -> Float[np.ndarray, "n l"]:
    """Code a factor of L levels as √(L/(L-1)) (indicator - 1/L), so that levels sum to zero.

    A row has norm one; rows of different levels have inner product -1/(L-1). A missing level becomes a row
    of zeros: the average over the levels.

    Parameters
    ----------
    values
        Levels as text, None where missing.
    levels
        All levels, at least two.
    """
    count = len(levels)
    code = {level: index for index, level in enumerate(levels)} | {None: count}
    rows = np.sqrt(count / (count - 1)) * (np.eye(count + 1, count) - 1 / count)
    rows[count] = 0.0
    return rows[[code[value] for value in values]]
