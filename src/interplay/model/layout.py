"""Which columns a variable owns, and the features whose inner products are powers of its kernel."""

from collections.abc import Sequence
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from interplay.data.design import Design
from interplay.model.trees import Leaf, record


@record("has_factors", "pairs")
class Layout:
    """The columns of a design as the kernel sees them.

    Parameters
    ----------
    owner
        Variable that each column belongs to, (d,).
    levels
        Number of levels of the column's variable, 1 for a number, (d,).
    square
        1 where the column has a quadratic term (numbers), 0 elsewhere, (d,).
    pair_columns
        Columns of every product that belongs to one of the prior's named pairs, (q, 2).
    pair_of_product
        Which of the named pairs each product belongs to, (q,).
    has_factors
        Whether any variable has levels.
    pairs
        The named pairs of variables.
    """

    owner: Leaf
    levels: Leaf
    square: Leaf
    pair_columns: Leaf
    pair_of_product: Leaf
    has_factors: bool
    pairs: tuple[tuple[int, int], ...]

    @property
    def effect_scale(self) -> Float[Array, " d"]:
        """The factor √(L/(L−1)) from a level's column to the feature of its effect, 1 for a number.

        The columns of a factor are √(L/(L−1)) (indicator − 1/L), with independent coefficients; the effect
        of level l is their inner product with the unit vector u_l, the row of that level.
        """
        return jnp.where(self.levels > 1, jnp.sqrt(self.levels / jnp.maximum(self.levels - 1, 1)), 1.0)

    def taken(self, index: Int[Array, " h"]) -> "Layout":
        """The layout of some of the columns; named pairs stay as they are."""
        return replace(self, owner=self.owner[index], levels=self.levels[index], square=self.square[index])


def layout(design: Design, pairs: Sequence[tuple[int, int]] = ()) -> Layout:
    """Read the layout off a design, for a prior with the given named pairs of variables."""
    widths = [variable.stop - variable.start for variable in design.variables]
    levels = np.repeat([max(len(variable.levels), 1) for variable in design.variables], widths)
    square = np.repeat([float(variable.squares) for variable in design.variables], widths)
    ranges = [range(variable.start, variable.stop) for variable in design.variables]
    products = [(a, b, k) for k, (i, j) in enumerate(pairs) for a in ranges[i] for b in ranges[j]]
    indices = np.array(products, dtype=np.int32).reshape(-1, 3)
    return Layout(
        owner=jnp.asarray(design.owner, dtype=jnp.int32),
        levels=jnp.asarray(levels, dtype=jnp.float64),
        square=jnp.asarray(square, dtype=jnp.float64),
        pair_columns=jnp.asarray(indices[:, :2]),
        pair_of_product=jnp.asarray(indices[:, 2]),
        has_factors=bool(np.any(levels > 1)),
        pairs=tuple(pairs),
    )


def power(
    x: Float[Array, "a b"], levels: Float[Array, "#a b"] | Float[Array, "a #b"], k: int, *, has_factors: bool
) -> Float[Array, "a b"]:
    """Features of each column whose inner product over a variable is ⟨x_g, x̃_g⟩^k.

    For a number this is x^k. The rows of a factor have unit norm and inner product ρ = −1/(L−1) between
    different levels, so that ⟨,⟩^k = ρ^k + (1 − ρ^k) [same level], whose symmetric square root is an affine
    function of the columns. A missing level is a row of zeros and stays one.
    """
    if k == 1:
        return x
    if not has_factors:
        return x**k
    L = jnp.maximum(levels, 2.0).astype(x.dtype)
    rho = (-1.0 / (L - 1.0)) ** k
    slope = jnp.sqrt((1.0 - rho) * (L - 1.0) / L)
    shift = jnp.sqrt(jnp.maximum(1.0 - rho + L * rho, 0.0)) / L
    return jnp.where(levels > 1, slope * x + jnp.where(x == 0, 0.0, shift), x**k)
