"""Real data sets: the response, and the covariates that are taken as they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Float

Table = tuple[pd.DataFrame, Float[np.ndarray, " n"]]
"""Covariates, and the response."""


@dataclass(frozen=True)
class Source:
    """How a file becomes covariates and a response.

    Parameters
    ----------
    file
        In the folder of the real data.
    response
        From the table to the response.
    drop
        Columns that are no covariates, the response's own included.
    absent
        Columns of text in which an empty cell means that there is none of it.
    numbers
        Whether columns of text are left out.
    """

    file: str
    response: Callable[[pd.DataFrame], pd.Series]
    drop: Sequence[str]
    absent: Sequence[str] = ()
    numbers: bool = False

    def read(self, path: Path) -> Table:
        """The covariates and the response of a file."""
        table = pd.read_csv(path)
        X = table.drop(columns=list(self.drop))
        X = X.fillna(dict.fromkeys(self.absent, "none"))
        if self.numbers:
            X = X.select_dtypes("number")
        return X, self.response(table).to_numpy(dtype=float)


AMES = Source(
    "ames.csv.gz",
    lambda table: np.log(table["Sale_Price"]),
    ("Sale_Price",),
    absent=("Mas_Vnr_Type", "Misc_Feature"),
)

REAL = {
    "diamonds": Source("diamonds.csv.gz", lambda table: np.log(table["price"]), ("price",)),
    "ames": AMES,
    "ames-numbers": replace(AMES, numbers=True),
    "gutlength": Source("gutlength.csv.gz", lambda table: table["gutlength"], ("gutlength",)),
    "chicago": Source("chicago.csv.gz", lambda table: table["ridership"], ("ridership", "date")),
    "cells": Source("cells.csv.gz", lambda table: table["class"] == "WS", ("class", "case")),
    "hiv": Source("hiv_pi_lpv.csv.gz", lambda table: table["log10_fold"], ("log10_fold",)),
    "meats": Source("meats.csv.gz", lambda table: table["fat"], ("water", "fat", "protein")),
}
"""By kind of data. A class of two is the number 0 or 1."""
