"""The data sets of the paper and one to start with, from scikit-learn, a path or the UCI repository."""

import io
import urllib.request
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from interplay.data.errors import DataError, nearest, quoted
from interplay.data.files import read_file

if TYPE_CHECKING:
    import pandas

UCI = "https://archive.ics.uci.edu/static/public"
AUTO_FEATURES = ("cylinders", "displacement", "horsepower", "weight", "acceleration", "model_year")
BUILDING_DATES = ("start_year", "start_quarter", "completion_year", "completion_quarter")
BUILDING_COVARIATES = (
    *(f"v{i}" for i in range(1, 9)),
    *(f"v{i}_lag{lag}" for lag in range(1, 6) for i in range(11, 30)),
    "v9",
    "v10",
)


def diabetes() -> "tuple[pandas.DataFrame, pandas.Series]":
    """Load the diabetes data of Efron et al. (2004): 442 patients, 10 covariates, progression after a year.

    It comes with scikit-learn; the covariates are in their own units.
    """
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(as_frame=True, scaled=False)
    return bunch.data, bunch.target


def auto_mpg(
    path: str | Path | None = None, download: bool = False
) -> "tuple[pandas.DataFrame, pandas.Series]":
    """Load Auto MPG: 398 cars, the paper's six numeric features, miles per gallon as response.

    Horsepower is missing (NaN) for six cars.

    Parameters
    ----------
    path
        A CSV file with the columns `mpg, cylinders, displacement, horsepower, weight, acceleration,
        model_year` (others are ignored), or the repository's own `auto-mpg.data`.
    download
        Fetch it from the UCI Machine Learning Repository if no path is given.
    """
    if path is None:
        raw = _fetch("Auto MPG", 9, "auto+mpg.zip", "auto-mpg.data", download)
        frame = parse_auto_mpg(raw.decode("utf-8"), "auto-mpg.data")
    elif str(path).endswith(".data"):
        frame = parse_auto_mpg(_read_text(Path(path)), str(path))
    else:
        frame = _select(read_file(Path(path)), ("mpg", *AUTO_FEATURES), str(path))
    return frame[list(AUTO_FEATURES)], frame["mpg"]


def residential_building(path: str | Path | None = None, download: bool = False) -> "pandas.DataFrame":
    """Load the 105 covariates of Residential Building (Rafiei and Adeli 2016) for 372 buildings.

    There is no response: as in the paper, responses are simulated, with
    `interplay.data.simulate.real_covariates`. The covariates are v1 … v8, then v11 … v29 at lags 1 to 5,
    then v9 and v10 (price and cost).

    Parameters
    ----------
    path
        A CSV file with the columns `v1, …, v8, v11_lag1, …, v29_lag5, v9, v10` (others are ignored).
    download
        Fetch it from the UCI Machine Learning Repository if no path is given; needs `openpyxl`.
    """
    if path is not None:
        return _select(read_file(Path(path)), BUILDING_COVARIATES, str(path))
    archive, member = "residential+building+data+set.zip", "Residential-Building-Data-Set.xlsx"
    raw = _fetch("Residential Building", 437, archive, member, download)
    import pandas

    try:
        sheet = pandas.read_excel(io.BytesIO(raw), header=None)
    except ImportError as error:
        raise DataError(
            "the Residential Building data comes as an Excel sheet, and reading it needs openpyxl, which is "
            "not installed: run `pip install openpyxl`, or give the path of a CSV copy."
        ) from error
    return parse_building(sheet)


def parse_auto_mpg(text: str, origin: str) -> "pandas.DataFrame":
    """Parse the repository's `auto-mpg.data`: blanks between numbers, ? for missing, a quoted name last.

    Parameters
    ----------
    text
        The text of the file.
    origin
        Where it came from, for messages.
    """
    import pandas

    names = ("mpg", *AUTO_FEATURES)
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        cells = line.split('"')[0].split()
        if not cells:
            continue
        try:
            rows.append([float("nan") if cell == "?" else float(cell) for cell in cells[: len(names)]])
        except ValueError:
            rows.append([])
        if len(rows[-1]) < len(names):
            raise DataError(
                f"line {number} of '{origin}' is {line[:60]!r}: expected {len(names)} numbers "
                f"({quoted(names)}). Fetch the file again, or give a CSV copy."
            )
    if not rows:
        raise DataError(f"'{origin}' is empty: expected one car per line. Fetch the file again.")
    return pandas.DataFrame(rows, columns=list(names))


def parse_building(sheet: "pandas.DataFrame") -> "pandas.DataFrame":
    """Take the covariates from the repository's Excel sheet, whose two header rows repeat names.

    Parameters
    ----------
    sheet
        The sheet read without a header.
    """
    names = [*BUILDING_DATES, *BUILDING_COVARIATES]
    if sheet.shape[1] != len(names):
        raise DataError(
            f"the Residential Building sheet has {sheet.shape[1]} columns: expected {len(names)}. The "
            "repository may have changed it; give the path of a CSV copy."
        )
    body = sheet.iloc[2:].reset_index(drop=True).set_axis(names, axis=1)
    return body[list(BUILDING_COVARIATES)].astype(float)


def _fetch(title: str, number: int, archive: str, member: str, download: bool) -> bytes:
    page = f"https://archive.ics.uci.edu/dataset/{number}"
    if not download:
        raise DataError(
            f"the {title} data does not come with interplay: expected the path of a copy. Get it from the "
            f"UCI Machine Learning Repository ({page}, dataset {number}, licence CC BY 4.0) and pass its "
            "path, or pass download=True to try that here."
        )
    url = f"{UCI}/{number}/{archive}"
    try:
        with urllib.request.urlopen(url, timeout=60) as reply:
            return zipfile.ZipFile(io.BytesIO(reply.read())).read(member)
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise DataError(
            f"could not download {title} from {url} ({error}): expected a zip archive with '{member}'. Check "
            f"the connection, or get it by hand from {page} and pass its path."
        ) from error


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"'{path}' could not be read ({error}): expected the text file auto-mpg.data. Check the path."
        ) from error


def _select(frame: "pandas.DataFrame", names: tuple[str, ...], origin: str) -> "pandas.DataFrame":
    for name in names:
        if name not in frame.columns:
            raise DataError(
                f"'{origin}' has no column '{name}': expected {quoted(names)}."
                f"{nearest(name, list(frame.columns))} Check that it is the right file."
            )
    return frame[list(names)]
