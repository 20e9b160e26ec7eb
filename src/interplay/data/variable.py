"""A variable: one covariate and the columns of the design that it owns."""

from collections.abc import Iterable
from dataclasses import dataclass

from interplay.data.column import Column, Kind


@dataclass(frozen=True)
class Variable:
    """A covariate and its place in the design.

    Parameters
    ----------
    name
        Its name.
    kind
        `"numeric"`, `"binary"` or `"categorical"`.
    start, stop
        Its columns of X are `start:stop`.
    levels
        The levels of a factor, one column each; empty for numbers.
    """

    name: str
    kind: Kind
    start: int
    stop: int
    levels: tuple[str, ...] = ()

    @property
    def squares(self) -> bool:
        """Whether it has a quadratic term: only a number of more than two values has."""
        return self.kind == "numeric"

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of its columns."""
        return tuple(f"{self.name}[{level}]" for level in self.levels) or (self.name,)


def lay_out(columns: Iterable[Column]) -> tuple[Variable, ...]:
    """Give every column its place, one after the other."""
    variables = []
    start = 0
    for column in columns:
        stop = start + max(len(column.levels), 1)
        variables.append(Variable(column.name, column.kind, start, stop, column.levels))
        start = stop
    return tuple(variables)
