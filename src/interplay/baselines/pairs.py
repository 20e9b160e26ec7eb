"""All pairs of columns of different variables, one after the other."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int

from interplay.data.checks import NEGLIGIBLE
from interplay.data.design import Design


def pair_columns(design: Design) -> tuple[Int[np.ndarray, " m"], Int[np.ndarray, " m"]]:
    """The columns i and j of each pair: by i, then by j, both of different variables and i < j."""
    stops = later(design)
    i = np.repeat(np.arange(design.d), design.d - stops)
    j = np.concatenate([np.arange(stop, design.d) for stop in stops])
    return i, j


def pair_blocks(design: Design) -> Iterator[tuple[int, slice, slice]]:
    """For each column i: i, the columns that it is paired with, and where these pairs are among all."""
    start = 0
    for i, stop in enumerate(later(design)):
        width = design.d - int(stop)
        yield i, slice(int(stop), design.d), slice(start, start + width)
        start += width


def later(design: Design) -> Int[np.ndarray, " d"]:
    """For each column, the first column of the next variable: the columns of a variable are neighbours."""
    return np.array([design.variables[owner].stop for owner in design.owner])


def moments(columns: Float[np.ndarray, "n k"]) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Means and standard deviations of columns; 1 in place of a deviation that is only rounding."""
    centres, scales = columns.mean(axis=0), columns.std(axis=0)
    return centres, np.where(scales > NEGLIGIBLE * np.abs(centres), scales, 1.0)
