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
        The columns that `square_product` uses, and `square_forms` answers for; None for all.
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

    def product(self, v: Float[np.ndarray, " d"], k: int) -> Matrix:
        """Σ_i v_i f_ki f_kiᵀ for weights that are not negative: the lower triangle, in double precision."""
        n = len(self.values)
        root = np.sqrt(v).astype(self.values.dtype, copy=False)
        total: np.ndarray | None = None
        for part in self._blocks:
            block = np.zeros((n, n), dtype=self.values.dtype, order="F")
            lapack.add_gram(self._features(part, k) * root[part], block)
            total = block.astype(np.float64, copy=False) if total is None else np.add(total, block, out=total)
        return np.zeros((n, n), order="F") if total is None else total

    def signed_product(self, v: Float[np.ndarray, " d"], k: int) -> Matrix:
        """Σ_i v_i f_ki f_kiᵀ for weights of any sign: the lower triangle, in double precision."""
        n = len(self.values)
        total = np.zeros((n, n), order="F")
        for part in self._blocks:
            total += self._signed(self._features(part, k), v[part])
        return total

    def square_product(self, v: Float[np.ndarray, " d"]) -> Matrix:
        """Σ_i v_i f_2i f_2iᵀ over the columns in `squares`."""
        used = self.squares
        if used is None:
            return self.signed_product(v, 2)
        return self._signed(self._features(used, 2), v[used]).astype(np.float64, copy=False)

    def pair_product(self, v: Float[np.ndarray, " q"], columns: Int[np.ndarray, "q 2"]) -> Matrix:
        """Σ v φ φᵀ of products φ of two columns each."""
        features = self._pairs(columns)
        return np.asfortranarray((features * v.astype(features.dtype)) @ features.T, dtype=np.float64)

    def forms(self, M: Matrix, k: int) -> Float[np.ndarray, " d"]:
        """f_kiᵀ M f_ki of every column, for a lower triangular M."""
        lower = M.astype(self.values.dtype, copy=False)
        parts = [_forms(lower, self._features(part, k)) for part in self._blocks]
        return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0), *parts])

    def square_forms(self, M: Matrix) -> Float[np.ndarray, " d"]:
        """f_2iᵀ M f_2i of the columns in `squares`, 0 for the others."""
        used = self.squares
        if used is None:
            return self.forms(M, 2)
        forms = np.zeros(self.values.shape[1])
        forms[used] = _forms(M.astype(self.values.dtype, copy=False), self._features(used, 2))
        return forms

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

    def _signed(self, features: Float[np.ndarray, "n h"], v: Float[np.ndarray, " h"]) -> Matrix:
        """F diag(v) Fᵀ for weights of any sign, the lower triangle."""
        weights = v.astype(features.dtype, copy=False)
        if len(features) <= SMALL:
            # One product of the whole square is quicker than two of a triangle.
            return ((features * weights) @ features.T).T
        n = len(features)
        part = np.zeros((n, n), dtype=features.dtype, order="F")
        root = np.sqrt(np.abs(weights))
        for sign in (1.0, -1.0):
            chosen = np.flatnonzero(sign * weights > 0)
            if chosen.size:
                lapack.add_gram(np.asfortranarray(features[:, chosen] * root[chosen]), part, sign=sign)
        return part


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
