"""The columns of a data set, and the two products that cost O(n² p): F diag(v) Fᵀ and f_iᵀ M f_i.

Symmetric matrices are held as their lower triangle in Fortran order. What stands above the diagonal of a
product is not to be used, and is finite.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

from interplay._support import lapack
from interplay.model.layout import Layout, power

BLOCK = 1024
"""Columns at a time, which bounds the memory of what is made on the way."""

STRIPES = 4
"""Row stripes of a triangular product, where it is large: 4 stripes cost 10/16 of the whole square."""

KEPT_SQUARES = 2**20
"""Entries of the squares of the columns up to which they are kept, and not formed each time."""

SMALL = 256
"""Rows up to which one product of the whole square is faster than stripes."""

Matrix = Float[np.ndarray, "n n"]


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of X with their weighted products, in one precision.

    Parameters
    ----------
    values
        The columns, (n, d), in Fortran order and in the precision of the products.
    layout
        Which variable each belongs to.
    norms
        ‖f_i‖² of the features of power 1 and 2, (2, d).
    squares
        The columns whose features of power 2 are used; None for all.
    """

    values: Float[np.ndarray, "n d"]
    layout: Layout
    norms: Float[np.ndarray, "2 d"]
    squares: Int[np.ndarray, " h"] | None = None

    def truncated(self, v: Float[np.ndarray, " d"], slack: float) -> "Columns":
        """The same columns, of whose squares only as few are used as leave Σ |v_i| ‖f_2i‖² below the slack.

        That sum bounds the norm of what a product with weights v leaves out. The weights of squares fall off
        as the square of those of the columns themselves, so that a few carry the product.
        """
        sizes = np.abs(v) * self.norms[1]
        order = np.argsort(sizes)
        left_out = int(np.searchsorted(np.cumsum(sizes[order]), slack))
        if 2 * left_out < v.size:
            return self
        return Columns(self.values, self.layout, self.norms, order[left_out:])

    def taken(self, columns: Int[np.ndarray, " h"]) -> "Columns":
        """Some of the columns, with nothing to leave out."""
        values = np.asfortranarray(self.values[:, columns])
        return Columns(values, self.layout.taken(columns), self.norms[:, columns])

    def product(
        self, v: Float[np.ndarray, " d"], k: int, *, signed: bool = False, wide: bool = True
    ) -> Matrix:
        """Σ_i v_i f_ki f_kiᵀ, the lower triangle; of power 2 over the columns in `squares`.

        Parameters
        ----------
        v, k
            Weights of the columns, and the power of their features.
        signed
            Whether weights may be negative.
        wide
            Whether the result is in double precision, in which blocks of columns are added up; else it is in
            the precision of the columns.
        """
        n, precision = len(self.values), np.float64 if wide else self.values.dtype
        parts = [self.squares] if k == 2 and self.squares is not None else self._blocks
        total: np.ndarray | None = None
        for part in parts:
            block = self._product(self._features(part, k), v[part], signed)
            total = block.astype(precision, copy=False) if total is None else np.add(total, block, out=total)
        return np.zeros((n, n), dtype=precision, order="F") if total is None else total

    def pair_product(self, v: Float[np.ndarray, " q"], columns: Int[np.ndarray, "q 2"]) -> Matrix:
        """Σ v φ φᵀ of products φ of two columns each."""
        features = self._pairs(columns)
        return np.asfortranarray((features * v.astype(features.dtype)) @ features.T, dtype=np.float64)

    def forms(self, M: Matrix, k: int) -> Float[np.ndarray, " d"]:
        """f_kiᵀ M f_ki of every column, for a lower triangular M; 0 for columns that are left out."""
        lower = M.astype(self.values.dtype, copy=False)
        if k == 2 and self.squares is not None:
            forms = np.zeros(self.values.shape[1])
            forms[self.squares] = _forms(lower, self._features(self.squares, 2))
            return forms
        parts = [_forms(lower, self._features(part, k)) for part in self._blocks]
        return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0), *parts])

    def pair_forms(self, M: Matrix, columns: Int[np.ndarray, "q 2"]) -> Float[np.ndarray, " q"]:
        """φᵀ M φ of products φ of two columns each."""
        return _forms(M.astype(self.values.dtype, copy=False), self._pairs(columns))

    def _features(self, columns: slice | Int[np.ndarray, " h"], k: int) -> Float[np.ndarray, "n h"]:
        if k == 1:
            return self.values[:, columns]
        if k == 2 and self._second is not None:
            return self._second[:, columns]
        return power(self.values[:, columns], self.layout.levels[columns], k)

    @cached_property
    def _second(self) -> Float[np.ndarray, "n d"] | None:
        """Features of power 2, where they are few enough to be kept."""
        few = self.values.size <= KEPT_SQUARES
        return np.asfortranarray(power(self.values, self.layout.levels, 2)) if few else None

    @cached_property
    def _blocks(self) -> list[slice]:
        d = self.values.shape[1]
        return [slice(start, min(start + BLOCK, d)) for start in range(0, d, BLOCK)]

    def _pairs(self, columns: Int[np.ndarray, "q 2"]) -> Float[np.ndarray, "n q"]:
        return self.values[:, columns[:, 0]] * self.values[:, columns[:, 1]]

    def _product(
        self, features: Float[np.ndarray, "n h"], v: Float[np.ndarray, " h"], signed: bool
    ) -> Matrix:
        """F diag(v) Fᵀ, the lower triangle, in the precision of the columns."""
        weights = v.astype(features.dtype, copy=False)
        n = len(features)
        if signed and n <= SMALL:
            # One product of the whole square is quicker than two of a triangle.
            return ((features * weights) @ features.T).T
        total = np.zeros((n, n), dtype=features.dtype, order="F")
        if not signed:
            lapack.add_gram(np.asfortranarray(features * np.sqrt(weights)), total)
            return total
        root = np.sqrt(np.abs(weights))
        for sign in (1.0, -1.0):
            chosen = np.flatnonzero(sign * weights > 0)
            if chosen.size:
                lapack.add_gram(np.asfortranarray(features[:, chosen] * root[chosen]), total, sign=sign)
        return total


def _forms(lower: Matrix, features: Float[np.ndarray, "n h"]) -> Float[np.ndarray, " h"]:
    """fᵀ M f of each column, for a lower triangular M; nothing above the diagonal is multiplied if large."""
    # Transposed, rows are contiguous: both for the product and for the inner products of rows.
    rows, upper = features.T, lower.T
    n = len(features)
    if n <= SMALL:
        return np.vecdot(rows, rows @ upper).astype(np.float64)
    total = np.zeros(len(rows))
    for start, stop in pairwise(np.linspace(0, n, STRIPES + 1).astype(int).tolist()):
        total += np.vecdot(rows[:, start:stop], rows[:, :stop] @ upper[:stop, start:stop])
    return total
