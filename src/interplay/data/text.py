"""Text that was probably not meant as labels."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from interplay.data.errors import DataError, quoted
from interplay.data.files import place

NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
COMMA_NUMBER = re.compile(r"\s*[-+]?(\d{1,3}(,\d{3})+(\.\d+)?|\d+,\d+)\s*")

MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[ap]m)?(?: ?(?:z|utc|[-+]\d{2}:?\d{2}))?"
DATE = re.compile(
    rf"(?:\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}|\d{{1,2}}([-/.])\d{{1,2}}\2(?:\d{{2}}|\d{{4}})"
    rf"|\d{{1,2}}[- ]{MONTH}[- ]\d{{2,4}}|{MONTH} \d{{1,2}},? \d{{4}})(?:[t ]{TIME})?"
    rf"|\d{{1,2}}:\d{{2}}:\d{{2}}",
    re.IGNORECASE,
)
"""2024-05-31, 31.5.2024, 5/31/24, 31-May-2024, May 31, 2024, each also with a time; or hours to seconds."""


def refuse_numbers(name: str, cells: np.ndarray, missing: np.ndarray, file: Path | None) -> None:
    """Refuse a text column of which at least half of the values read as numbers.

    Parameters
    ----------
    name
        The column.
    cells
        Its text.
    missing
        Which rows have no value.
    file
        The file that it came from, to name the line.
    """
    rows = np.flatnonzero(~missing)
    plain = np.array([NUMBER.fullmatch(cells[row]) is not None for row in rows], dtype=bool)
    commas = np.array([COMMA_NUMBER.fullmatch(cells[row]) is not None for row in rows], dtype=bool)
    if 2 * np.sum(plain | commas) < len(rows):
        return
    labels = "make it a category dtype if labels are meant, as in astype('category')"
    if plain.all():
        raise DataError(
            f"column '{name}' holds text, but all of its {len(rows)} values read as numbers. "
            f"Expected numbers or labels: use astype(float) if numbers are meant, or {labels}."
        )
    row = first_text(cells, rows)
    remedy = (
        "Take out thousands separators and write decimal points, not commas"
        if np.all(plain | commas)
        else "Mend these values (leave the cell empty if the value is missing)"
    )
    raise DataError(
        f"column '{name}' holds text in a column of numbers: {np.sum(~plain)} of {len(rows)} values do not "
        f"read as numbers, the first in {place(row, file)}: {str(cells[row])!r}. Expected numbers or labels. "
        f"{remedy}, or {labels}."
    )


def first_text(cells: np.ndarray, rows: np.ndarray) -> int:
    """Find the first of these rows whose text does not read as a number, else the first of them."""
    return int(next((row for row in rows if not NUMBER.fullmatch(cells[row])), rows[0]))


def refuse_identifier(name: str, levels: Sequence[str], rows: int) -> None:
    """Refuse a factor with more levels than half of the rows (two levels are always fine)."""
    if len(levels) > 2 and 2 * len(levels) > rows:
        raise DataError(
            f"column '{name}' has {len(levels)} levels in {rows} rows ({quoted(levels, 3)}): it looks like "
            "an identifier, free text or dates. Expected a factor whose levels recur. Leave it out with "
            f"drop=['{name}'], or group its levels."
        )


def refuse_dates(name: str, cells: np.ndarray, missing: np.ndarray, file: Path | None) -> None:
    """Refuse a text column of which at least half of the values read as dates or times.

    Parameters
    ----------
    name, cells, missing, file
        As in `refuse_numbers`.
    """
    rows = np.flatnonzero(~missing)
    dates = np.array([DATE.fullmatch(cells[row].strip()) is not None for row in rows], dtype=bool)
    if 2 * np.sum(dates) < len(rows):
        return
    row = int(rows[np.argmax(dates)])
    raise DataError(
        f"column '{name}' holds dates or times, the first in {place(row, file)}: {str(cells[row])!r}. "
        "Expected numbers or labels. Convert it, for instance to a number of days since the first, or leave "
        f"it out with drop=['{name}']."
    )
