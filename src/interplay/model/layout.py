"""Which columns a variable owns, and the features whose inner products are powers of its kernel."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from interplay.data.design import Design


@dataclass(frozen=True, eq=False)
class Layout:
    """The columns of a design as the kernel sees them.

    Levels and squares may have leading axes, for several sets of columns side by side.

    Parameters
    ----------
    owner
        Variable that each column belongs to, (d,).
    levels
        Number of levels of the column's variable, 1 for a number, (d,).
    square
        1 where the column has a quadratic term (numbers), 0 elsewhere, (d,).
    """

    owner: Int[np.ndarray, " d"]
    levels: Float[np.ndarray, "*b d"]
    square: Float[np.ndarray, "*b d"]

    @classmethod
    def of(cls, design: Design) -> "Layout":
        """Read the layout off a design."""
        widths = [variable.stop - variable.start for variable in design.variables]
        levels = np.repeat([float(max(len(variable.levels), 1)) for variable in design.variables], widths)
        square = np.repeat([float(variable.squares) for variable in design.variables], widths)
        return cls(np.asarray(design.owner, dtype=np.intp), levels, square)

    @cached_property
    def all_square(self) -> bool:
        """Whether every column has a quadratic term."""
        return bool(np.all(self.square == 1.0))

    @cached_property
    def one_each(self) -> bool:
        """Whether every variable has just one column, so that columns and variables are the same."""
        return bool(self.owner.size == 0 or np.array_equal(self.owner, np.arange(self.owner.size)))

    def by_column(self, values: Float[np.ndarray, "*s p"]) -> Float[np.ndarray, "*s d"]:
        """Of values of the variables, that of each column's variable."""
        return values if self.one_each and values.shape[-1] == self.owner.size else values[..., self.owner]

    def by_variable(self, values: Float[np.ndarray, " d"], p: int) -> Float[np.ndarray, " p"]:
        """Sum over the columns of each of p variables: the transpose of `by_column`."""
        if self.one_each and p == self.owner.size:
            return values
        return np.bincount(self.owner, weights=values, minlength=p)

    @cached_property
    def effect_scale(self) -> Float[np.ndarray, "*b d"]:
        """The factor √(L/(L−1)) from a level's column to the feature of its effect, 1 for a number.

        The columns of a factor are √(L/(L−1)) (indicator − 1/L), with independent coefficients; the effect
        of level l is their inner product with the unit vector u_l, the row of that level.
        """
        return np.where(self.levels > 1, np.sqrt(self.levels / np.maximum(self.levels - 1, 1)), 1.0)

    def columns_of(self, variables: Bool[np.ndarray, " p"]) -> Bool[np.ndarray, " d"]:
        """Which columns belong to the given variables."""
        return variables[self.owner]

    def taken(self, columns: Int[np.ndarray, " h"]) -> "Layout":
        """The layout of some of the columns, whose variables keep their numbers."""
        return Layout(self.owner[columns], self.levels[columns], self.square[columns])


def power(
    x: Float[np.ndarray, "*b n d"], levels: Float[np.ndarray, "*b d"], k: int
) -> Float[np.ndarray, "*b n d"]:
    """Features of each column whose inner product over a variable is ⟨x_g, x̃_g⟩^k.

    For a number this is x^k. The rows of a factor have unit norm and inner product ρ = −1/(L−1) between
    different levels, so that ⟨,⟩^k = ρ^k + (1 − ρ^k) [same level], whose symmetric square root is an affine
    function of the columns. A missing level is a row of zeros and stays one.
    """
    if k == 1:
        return x
    if levels.max(initial=1.0) <= 1.0:
        return x * x if k == 2 else x**k
    L = np.maximum(levels, 2.0)[..., None, :]
    rho = (-1.0 / (L - 1.0)) ** k
    slope = np.sqrt((1.0 - rho) * (L - 1.0) / L).astype(x.dtype)
    shift = (np.sqrt(np.maximum(1.0 - rho + L * rho, 0.0)) / L).astype(x.dtype)
    return np.where(levels[..., None, :] > 1, slope * x + np.where(x == 0, x, shift), x**k)
