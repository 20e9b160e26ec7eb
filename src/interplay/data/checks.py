"""What every column must satisfy before it enters a design."""

import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from interplay.data.column import Column
from interplay.data.errors import DataError, listed, quoted
from interplay.data.files import place

# Products of two such values still fit into double precision.
LARGEST = 1e150
# A standard deviation below this share of the mean is rounding, not variation.
FAR = 1000.0
"""Ratio of mean to standard deviation past which a number should be centred."""

NEGLIGIBLE = 1e-12
FEWEST_ROWS = 3


def check_rows(n: int) -> None:
    """Refuse tables too short to learn from."""
    if n < FEWEST_ROWS:
        raise DataError(
            f"got {n} sample(s) (n_samples={n}), where 1 sample is one row: expected at least {FEWEST_ROWS} "
            "rows. Add rows; a few hundred are a good start."
        )


def check_response(column: Column, file: Path | None, weights: Float[np.ndarray, " n"] | None = None) -> None:
    """Refuse a response with missing or infinite values, or one that never varies."""
    missing = np.flatnonzero(np.isnan(column.values))
    if len(missing):
        raise DataError(
            f"the response '{column.name}' is missing (NaN) in rows {listed([str(row) for row in missing])}, "
            f"the first in {place(int(missing[0]), file)}: expected a number in every row. "
            "Leave these rows out; a response is never imputed."
        )
    check_finite([column], file)
    if is_constant(column, weights):
        raise DataError(
            f"the response '{column.name}' is constant ({column.values[0]:g} in every row): expected it to "
            "vary. Choose another response, or check how it was read."
        )


def check_finite(columns: Sequence[Column], file: Path | None) -> None:
    """Refuse infinite values, naming the first."""
    for column in columns:
        if column.kind != "categorical" and np.isinf(column.values).any():
            rows = np.flatnonzero(np.isinf(column.values))
            raise DataError(
                f"column '{column.name}' has infinite values ({len(rows)}), the first in "
                f"{place(int(rows[0]), file)}: expected finite numbers. Replace them, or leave these "
                "rows out."
            )


def check_missing(columns: Sequence[Column], impute: str | None, file: Path | None) -> None:
    """Refuse missing values, unless they are to be imputed and there is something to impute from."""
    empty = [column.name for column in columns if column.missing.all()]
    if empty:
        raise DataError(
            f"column '{empty[0]}' has no values at all: expected at least some. "
            f"Leave it out with drop={empty!r}."
        )
    if impute is None:
        refuse_missing(columns, file, "Leave these rows out, drop the columns, or pass impute='mean'.")


def refuse_missing(columns: Sequence[Column], file: Path | None, advice: str) -> None:
    """Refuse missing values, saying how many there are in each column and where the first is."""
    gaps = [column for column in columns if column.missing.any()]
    if gaps:
        first = [place(int(np.argmax(column.missing)), file) for column in gaps[:10]]
        counts = [int(column.missing.sum()) for column in gaps]
        shown = [f"'{c.name}' {k} (first in {at})" for c, k, at in zip(gaps, counts, first, strict=False)]
        more = f" and {len(gaps) - len(shown)} more columns" if len(gaps) > len(shown) else ""
        raise DataError(
            f"missing values (NaN): {', '.join(shown)}{more}. Expected a value in every cell. {advice}"
        )


def check_impute(impute: str | None) -> None:
    """Refuse ways of imputing that do not exist."""
    if impute not in (None, "mean"):
        raise DataError(f"got impute={impute!r}: expected None or 'mean'. Choose one of these.")


def check_labels(labels: Sequence[str]) -> None:
    """Refuse a column that is named like the level of a factor."""
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise DataError(
            f"'{twice[0]}' is both a column and a level of a factor: expected labels that differ. "
            "Rename the column."
        )


def warn_uncentred(
    names: Sequence[str], centres: Float[np.ndarray, " k"], scales: Float[np.ndarray, " k"]
) -> None:
    """Warn of numbers so far from zero that their products are all but collinear."""
    far = [name for name, flag in zip(names, np.abs(centres) / FAR > scales, strict=True) if flag]
    if far:
        warnings.warn(
            f"not centred, and more than {FAR:g} standard deviations from zero: {quoted(far)}. Products of"
            " such columns cannot be told apart in working precision. Pass standardize=True, or centre them.",
            UserWarning,
            stacklevel=4,
        )


def check_size(X: Float[np.ndarray, "n d"], labels: Sequence[str], file: Path | None, advice: str) -> None:
    """Refuse coded values whose products overflow."""
    too_large = np.abs(X) > LARGEST
    if too_large.any():
        row, position = (int(index[0]) for index in np.nonzero(too_large))
        raise DataError(
            f"column '{labels[position]}' is too large to be squared ({X[row, position]:g} in "
            f"{place(row, file)}): expected values below {LARGEST:g}. {advice}"
        )


def is_constant(column: Column, weights: Float[np.ndarray, " n"] | None = None) -> bool:
    """Tell whether the values that are there are all the same, up to rounding."""
    if column.kind == "categorical":
        return len(column.levels) < 2
    centre, scale = moments(column.values[:, None], weights)
    return not scale[0] > NEGLIGIBLE * abs(centre[0])


def moments(
    matrix: Float[np.ndarray, "n k"], weights: Float[np.ndarray, " n"] | None = None
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Mean and standard deviation of the values that are there, whatever their size, as their rows weigh.

    Each column is first divided by a power of two, which is exact, so that no square overflows.
    """

    def total(values: np.ndarray) -> Float[np.ndarray, " k"]:
        return np.sum(values, axis=0, dtype=float) if weights is None else weights @ values

    there = ~np.isnan(matrix)
    count = total(there)
    count = np.where(count > 0, count, 1.0)
    largest = np.max(np.abs(matrix), axis=0, where=there, initial=0.0)
    exponent = np.frexp(largest)[1]
    reduced = np.where(there, np.ldexp(matrix, -exponent), 0.0)
    mean = total(reduced) / count
    deviation = np.where(there, reduced - mean, 0.0)
    sd = np.sqrt(total(deviation**2) / count)
    return np.ldexp(mean, exponent), np.ldexp(sd, exponent)
