"""Options and arguments that commands share."""

import csv
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from interplay.app.request import Request
    from interplay.data.design import Design


class Imputation(StrEnum):
    """What stands for a missing covariate."""

    mean = "mean"


Data = Annotated[
    str, typer.Argument(metavar="DATA", help="A .csv, .tsv or .parquet file; - for CSV from stdin.")
]
Saved = Annotated[str, typer.Argument(metavar="FIT", help="A file that `interplay fit` has saved.")]
Response = Annotated[str, typer.Option("--response", "-r", help="The column to be explained.")]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="A,B,…", help="Columns to leave out, with commas between them."),
]
Impute = Annotated[
    Imputation | None,
    typer.Option("--impute", metavar="mean", help="Put the mean in place of missing covariates."),
]
ExpectedMains = Annotated[
    float | None,
    typer.Option(
        "--expected-mains",
        help="Number of variables expected to matter; unless given, 5, or half of all if that is fewer.",
    ),
]
Quadratic = Annotated[
    bool, typer.Option("--quadratic/--no-quadratic", help="Whether there are quadratic effects.")
]


def names(given: list[str] | None) -> tuple[str, ...]:
    """Names from options such as `a,b`; one that holds a comma goes between double quotes, as in CSV."""
    return tuple(name.strip() for row in csv.reader(given or [], skipinitialspace=True) for name in row)


def request(
    response: str,
    drop: list[str] | None,
    impute: Imputation | None,
    expected_mains: float | None,
    quadratic: bool,
) -> "Request":
    """What a user asks for, from the options that commands share."""
    from interplay.app.request import Request

    return Request(
        response=response,
        drop=names(drop),
        impute=impute.value if impute else None,
        expected_mains=expected_mains,
        quadratic=quadratic,
    )


def size(design: "Design") -> str:
    """Rows and variables of the data, in words."""
    return f"{design.n:,} rows, {design.p:,} variable{'s' if design.p != 1 else ''}"
