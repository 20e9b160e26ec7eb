"""Files on disk, read into pandas frames with their header untouched."""

import csv
import gzip
import io
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from interplay.data.errors import DataError

if TYPE_CHECKING:
    import pandas

TEXT_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
ENDINGS = (*TEXT_ENDINGS, ".parquet")
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
DECIMAL_POINT = re.compile(r"[-+]?\d+\.\d+")
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}


@dataclass(frozen=True)
class Delimited:
    """The text of a delimited file and how its fields are written."""

    text: str
    delimiter: str
    header: tuple[str, ...]


def read_file(path: Path, text: Collection[str] = ()) -> "pandas.DataFrame":
    """Read a delimited or Parquet file into a pandas frame.

    Names are exactly those of the header, stripped of blanks around them; duplicates are left for the
    caller to refuse, and a blank name becomes pandas' own `Unnamed: k`.

    Parameters
    ----------
    path
        A file ending in .csv, .tsv (either also with .gz) or .parquet.
    text
        Columns whose cells are kept as text even where they read as numbers.
    """
    if not path.name.lower().endswith(ENDINGS):
        expected = ", ".join(ENDINGS)
        raise DataError(
            f"cannot tell the format of '{path}': expected a name ending in {expected}. "
            "Save the data as CSV, or read the file yourself and pass the frame."
        )
    if not path.is_file():
        raise DataError(
            f"no file at '{path}': expected an existing {path.suffix} file. Check the path "
            f"(the working directory is '{Path.cwd()}')."
        )
    if path.name.lower().endswith(".parquet"):
        return _read_parquet(path)
    return _read_delimited(path, text)


def place(row: int, file: Path | None = None) -> str:
    """Name a row for a message: its position from 0 and, for a delimited file, the line where it starts."""
    if file is None or not file.name.lower().endswith(TEXT_ENDINGS):
        return f"row {row}"
    for index, (line, _) in enumerate(_records(_open_delimited(file))):
        if index == row + 1:
            return f"row {row} (line {line} of {file.name})"
    return f"row {row}"


def _read_parquet(path: Path) -> "pandas.DataFrame":
    import pandas

    try:
        return pandas.read_parquet(path)
    except ImportError as error:
        raise DataError(
            f"reading '{path}' needs pyarrow, which is not installed: "
            "run `pip install 'interplay[parquet]'` or save the data as CSV."
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(
            f"'{path}' could not be read as Parquet ({_first_line(error)}): expected a complete Parquet "
            "file. Write it again, or save the data as CSV."
        ) from error


def _read_delimited(path: Path, text: Collection[str]) -> "pandas.DataFrame":
    import pandas

    content = _open_delimited(path)
    names = [name or f"Unnamed: {position}" for position, name in enumerate(content.header)]
    try:
        frame = pandas.read_csv(
            io.BytesIO(content.text.encode()),
            sep=content.delimiter,
            decimal=_decimal(content),
            header=0,
            names=range(len(names)),
            index_col=False,
            skipinitialspace=True,
            dtype={position: str for position, name in enumerate(names) if name in text},
            low_memory=False,
        )
    except (ValueError, pandas.errors.ParserError) as error:
        raise DataError(
            f"'{path}' is not a regular table ({_first_line(error)}): expected {len(names)} fields "
            f"separated by {DELIMITERS[content.delimiter]} in every line, as in its header. Mend that line, "
            "or put quotes around fields that contain the separator."
        ) from error
    for position, dtype in enumerate(frame.dtypes):
        if dtype.kind not in "biuf":
            frame[position] = frame[position].map(_stripped)
    return frame.set_axis(names, axis=1)


def _open_delimited(path: Path) -> Delimited:
    """Decode a delimited file, find its separator and check that it has a header and regular rows."""
    text = _decode(path)
    if not text or text.isspace():
        raise DataError(
            f"'{path}' is empty: expected a header line with column names and one line per row. "
            "Check that the file was written completely."
        )
    first = next(line for line in _lines(text) if line.strip())
    if path.name.lower().endswith((".tsv", ".tsv.gz")):
        delimiter = "\t"
    else:
        delimiter = max(DELIMITERS, key=lambda mark: len(next(csv.reader([first], delimiter=mark))))
    records = _records(Delimited(text, delimiter, ()))
    header = tuple(name.strip() for name in next(records)[1])
    if all(_is_number(name) for name in header):
        raise DataError(
            f"the first line of '{path}' holds only numbers: expected a header with column names. "
            "Add a header line, or pass the numbers as an array."
        )
    line, cells = next(records, (0, []))
    if any(cell.strip() for cell in cells[len(header) :]):
        raise DataError(
            f"line {line} of '{path}' has {len(cells)} fields, but its header has {len(header)}: expected as "
            "many names as fields. Add the missing names, or quote fields that contain the separator."
        )
    return Delimited(text, delimiter, header)


def _decode(path: Path) -> str:
    try:
        raw = path.read_bytes()
        if raw.startswith(b"\x1f\x8b"):
            raw = gzip.decompress(raw)
    except (OSError, EOFError) as error:
        raise DataError(
            f"'{path}' could not be read ({_first_line(error)}): expected a readable text file. "
            "Check its permissions, or write it again."
        ) from error
    utf16 = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    if not utf16 and b"\x00" in raw[:8192]:
        raise DataError(
            f"'{path}' is a binary file: expected delimited text. Save the data as CSV "
            "(an Excel sheet: 'Save as', 'CSV UTF-8')."
        )
    try:
        text = raw.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise DataError(
            f"'{path}' is not UTF-8 text (byte 0x{raw[error.start]:02x} in line {line}): expected UTF-8. "
            "Save it as UTF-8, or read it with pandas.read_csv(..., encoding=...) and pass the frame."
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _records(content: Delimited) -> Iterator[tuple[int, list[str]]]:
    """Yield each record that is not blank with the number of the line where it starts."""
    reader = csv.reader(_lines(content.text), delimiter=content.delimiter, skipinitialspace=True)
    start = 1
    try:
        for cells in reader:
            if len(cells) > 1 or any(cell.strip() for cell in cells):
                yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"line {start} cannot be split into fields ({error}): expected short fields between "
            f"{DELIMITERS[content.delimiter]}. Look for a quotation mark that is never closed."
        ) from error


def _lines(text: str) -> Iterator[str]:
    """Yield lines one at a time, without a copy of the whole text."""
    start = 0
    while start < len(text):
        stop = text.find("\n", start) + 1 or len(text)
        yield text[start:stop]
        start = stop


def _decimal(content: Delimited) -> str:
    """Tell whether numbers between semicolons are written with decimal commas."""
    if content.delimiter == ",":
        return "."
    fields = {cell.strip() for _, cells in _records(content) for cell in cells}
    commas = any(DECIMAL_COMMA.fullmatch(field) for field in fields)
    points = any(DECIMAL_POINT.fullmatch(field) for field in fields)
    return "," if commas and not points else "."


def _stripped(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
