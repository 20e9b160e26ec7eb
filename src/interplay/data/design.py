"""The design: checked, coded and standardised columns, and the same coding for new rows."""

import math
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from interplay.data import checks
from interplay.data.coding import assemble
from interplay.data.errors import DataError, quoted
from interplay.data.matching import match
from interplay.data.table import Column, Table, read
from interplay.data.variable import Variable, lay_out
from interplay.data.weights import check_weights, forget_unused

__all__ = ["Design", "Variable", "design", "encode"]

ScaleResponse = Callable[[np.ndarray, np.ndarray | None], tuple[float, float]]
"""Centre and scale of a response, given its values and the weights of the rows."""


@dataclass(frozen=True, eq=False)
class Design:
    """Everything that the model needs to know of the data.

    Parameters
    ----------
    X
        Coded columns. A number has one column, (x - centre) / scale. A factor of L levels has L columns,
        √(L/(L-1)) (indicator - 1/L): every row has norm one, the columns add up to zero in every row, and
        no level is singled out.
    y
        The response, (y - centre) / scale.
    variables
        The covariates and the columns they own.
    centres, scales
        Per column; 0 and 1 for factors, and for everything if not standardised. With missing values these
        are the mean and standard deviation of the values that are there.
    response, response_centre, response_scale
        Name, centre and scale of the response.
    impute
        What stands for a missing covariate: None refuses it, `"mean"` puts `fills` there.
    left_out
        Covariates without variation, left out.
    fills
        Per column, the value of X for a missing cell: the mean of a number; 0 in all columns of a factor,
        which is the average over its levels.
    source_names
        Covariate names of the source in their order, those left out or dropped included; empty if they are
        just the names of the variables.
    weights
        How many copies each row counts as, all positive; None for one each.
    """

    X: Float[np.ndarray, "n d"]
    y: Float[np.ndarray, " n"]
    variables: tuple[Variable, ...]
    centres: Float[np.ndarray, " d"]
    scales: Float[np.ndarray, " d"]
    response: str
    response_centre: float
    response_scale: float
    impute: str | None
    left_out: tuple[str, ...]
    fills: Float[np.ndarray, " d"]
    source_names: tuple[str, ...] = ()
    weights: Float[np.ndarray, " n"] | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @property
    def total_weight(self) -> float | int:
        """Number of rows, each counted as often as its weight says: the n of priors."""
        return self.n if self.weights is None else math.fsum(self.weights)

    @cached_property
    def row_weights(self) -> Float[np.ndarray, " n"]:
        """Weight of each row, one if there are none."""
        return np.ones(self.n) if self.weights is None else self.weights

    @property
    def p(self) -> int:
        """Number of variables."""
        return len(self.variables)

    @property
    def d(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def owner(self) -> Int[np.ndarray, " d"]:
        """For each column, the index of the variable that owns it."""
        return np.repeat(np.arange(self.p), [variable.stop - variable.start for variable in self.variables])

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Labels of the columns: `age`, or `site[London]` for a level of a factor."""
        return tuple(label for variable in self.variables for label in variable.labels)


def design(
    source: Any,
    response: Any = None,
    *,
    names: Collection[str] | None = None,
    drop: Collection[str] | str = (),
    standardize: bool = True,
    impute: str | None = None,
    weights: Any = None,
    scale_response: ScaleResponse | None = None,
) -> Design:
    """Read, check, code and standardise covariates and a response.

    Parameters
    ----------
    source, response, names, drop
        As in `interplay.data.table.read`; or a `Table` alone.
    standardize
        Centre and scale numbers and the response (standard deviation with divisor n, or the sum of the
        weights). Factors never are.
    impute
        `"mean"` puts the mean in place of a missing number and the average over the levels in place of a
        missing level. None refuses missing values.
    weights
        How many copies each row counts as, 0 or more: one number for each row, by position. The noise
        variance of a row of weight w is σ²/w. Weights need not be whole, and their size matters: twice the
        weights are twice the data. Rows of weight 0 are left out, whatever they hold.
    scale_response
        Gives centre and scale of the response, from the response and the weights, where it is
        standardised; mean and standard deviation if None. A family of likelihoods has its own.

    Raises
    ------
    DataError
        If the data cannot be used as it is.

    Warns
    -----
    UserWarning
        Once, naming the covariates that do not vary and are left out.
    """
    checks.check_impute(impute)
    table = _table(source, response, names, drop)
    w = None if weights is None else check_weights(weights, table.n)
    used: slice | Bool[np.ndarray, " n"] = slice(None)
    if w is not None and not w.all():
        used = w > 0
        table = forget_unused(table, used)
    target = table.response
    if target is None:
        raise DataError(
            "a design requires y to be passed, but the target y is None: expected one number per row. "
            "Give the name of a column, or the values."
        )
    if w is None:
        checks.check_rows(table.n)
    checks.check_response(target, table.file, w)
    checks.check_missing(table.columns, impute, table.file)
    checks.check_finite(table.columns, table.file)
    columns, centres, scales, left_out = _varying(table.columns, w)

    variables = lay_out(columns)
    d = variables[-1].stop
    starts = [variable.start for variable in variables if variable.kind != "categorical"]
    all_centres, all_scales, fills = np.zeros(d), np.ones(d), np.zeros(d)
    if standardize:
        all_centres[starts], all_scales[starts] = centres, scales
    else:
        checks.warn_uncentred([v.name for v in variables if not v.levels], centres, scales)
        fills[starts] = centres
    X = assemble(columns, variables, all_centres, all_scales, fills)
    centre, scale = (scale_response or _moments)(target.values, w) if standardize else (0.0, 1.0)
    y = (target.values - centre) / scale
    labels = [label for variable in variables for label in variable.labels]
    checks.check_labels(labels)
    advice = "Rescale it (divide by a power of ten), or pass standardize=True."
    checks.check_size(X, labels, table.file, advice)
    checks.check_size(y[:, None], [target.name], table.file, advice)
    return Design(
        X=X[used],
        y=y[used],
        variables=variables,
        centres=all_centres,
        scales=all_scales,
        response=target.name,
        response_centre=float(centre),
        response_scale=float(scale),
        impute=impute,
        left_out=left_out,
        fills=fills,
        source_names=table.source_names or table.names,
        weights=None if w is None else w[used],
    )


def encode(design: Design, source: Any) -> Float[np.ndarray, "m d"]:
    """Bring new rows onto the columns of a design, with its centres and scales.

    Columns are matched by name, in any order; those of an array by position, as many as the design's source
    had beside the response. The response, and covariates that the design left out or dropped, may be there
    and are ignored.

    Parameters
    ----------
    design
        The design.
    source
        The new rows, in any form that `interplay.data.table.read` takes, or a `Table`.

    Raises
    ------
    DataError
        If a column is missing, unknown or of another kind, or if a value cannot be used.
    """
    ignored = {design.response, *design.left_out, *design.source_names}
    source_names = design.source_names or design.names
    columns, file = match(source, design.variables, source_names, ignored)
    checks.check_finite(columns, file)
    if design.impute is None:
        advice = "Leave these rows out, or make the design with impute='mean'."
        checks.refuse_missing(columns, file, advice)
    X = assemble(columns, design.variables, design.centres, design.scales, design.fills)
    checks.check_size(X, design.labels, file, "Check the units of these rows against those of the design.")
    return X


def _table(source: Any, response: Any, names: Collection[str] | None, drop: Collection[str] | str) -> Table:
    if not isinstance(source, Table):
        return read(source, response, names=names, drop=drop)
    if response is not None or names is not None or len(drop):
        raise DataError(
            "got a Table together with `response`, `names` or `drop`: expected the Table alone. "
            "Give these to `read` when the Table is made."
        )
    return source


def _moments(y: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"] | None) -> tuple[float, float]:
    (centre,), (scale,) = checks.moments(y[:, None], weights)
    return float(centre), float(scale)


def _varying(
    columns: Sequence[Column], weights: Float[np.ndarray, " n"] | None
) -> tuple[list[Column], Float[np.ndarray, " k"], Float[np.ndarray, " k"], tuple[str, ...]]:
    """Leave out constant columns; also give the mean and standard deviation of the numbers that stay."""
    n = len(columns[0].values)
    numbers = [column for column in columns if column.kind != "categorical"]
    matrix = np.column_stack([column.values for column in numbers]) if numbers else np.empty((n, 0))
    centres, scales = checks.moments(matrix, weights)
    varies = scales > checks.NEGLIGIBLE * np.abs(centres)
    constant = {column.name for column, flag in zip(numbers, varies, strict=True) if not flag}
    constant |= {column.name for column in columns if column.kind == "categorical" and len(column.levels) < 2}
    left_out = tuple(column.name for column in columns if column.name in constant)
    if len(left_out) == len(columns):
        raise DataError(
            f"every covariate is constant ({quoted(left_out)}): expected at least one that varies. "
            "Check how the data was read, or add covariates."
        )
    if left_out:
        warnings.warn(
            f"left out, as they are constant: {quoted(left_out, len(left_out))}", UserWarning, stacklevel=3
        )
    kept = [column for column in columns if column.name not in constant]
    return kept, centres[varies], scales[varies], left_out
