"""The two products that cost O(n² p): F diag(v) Fᵀ and the quadratic forms f_iᵀ M f_i.

They are each other's derivative, so one custom rule makes the gradient of everything built on them closed
form. Both go over blocks of columns, so that nothing of the size of X is made on the way, and compute half
of what is symmetric.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import sequential_vmap
from jaxtyping import Array, Bool, Float, Int

from interplay.model.layout import Layout, power
from interplay.model.trees import Leaf, record
from interplay.model.triangle import stripes

BLOCK = 512
"""Columns at a time: a block of 500 rows stays within a core's cache."""

STRIPES = 4
"""Row stripes of a symmetric product; 4 stripes cost 10/16 of the whole square."""

LEADING = 64
"""Smallest number of columns that a truncated product keeps; it grows as a 32nd of the columns."""


@record("d", "has_factors")
class Blocks:
    """The columns of X, turned to rows and cut into blocks.

    Parameters
    ----------
    values
        Columns, zero beyond the last, (blocks, columns in a block, n).
    levels
        Levels of each column's variable, (blocks, columns in a block).
    norms
        ‖f_i‖² of the features for k = 1 and k = 2, as the rows weigh, (2, d): what truncation needs to tell
        how much it leaves out.
    d, has_factors
        Number of columns; whether any variable has levels.
    """

    values: Leaf
    levels: Leaf
    norms: Leaf
    d: int
    has_factors: bool

    def taken(self, index: Int[Array, " h"]) -> "Blocks":
        """Some of the columns, in one block."""
        values = self.values.reshape(-1, self.values.shape[-1])[index]
        levels = self.levels.reshape(-1)[index]
        return Blocks(values[None], levels[None], self.norms[:, index], index.size, self.has_factors)


def blocks(
    X: Float[np.ndarray, "n d"],
    layout: Layout,
    dtype: str = "float64",
    weights: Float[np.ndarray, " n"] | None = None,
) -> Blocks:
    """Cut X into blocks of columns, in the precision that the products will have.

    Weights of the rows enter the norms alone: the products are to be multiplied by their roots afterwards.
    """
    n, d = X.shape
    count = -(-d // BLOCK)
    width = -(-d // count)
    padding = count * width - d
    values = np.pad(np.asarray(X, dtype=dtype).T, ((0, padding), (0, 0))).reshape(count, width, n)
    levels = jnp.pad(layout.levels, (0, padding), constant_values=1.0)
    features = [power(jnp.asarray(X), layout.levels[None], k, has_factors=layout.has_factors) for k in (1, 2)]
    row_weights = jnp.ones(n) if weights is None else jnp.asarray(weights)
    return Blocks(
        values=jnp.asarray(values),
        levels=levels.reshape(count, width),
        norms=jnp.stack([row_weights @ f**2 for f in features]),
        d=d,
        has_factors=layout.has_factors,
    )


def weighted_gram(F: Blocks, v: Float[Array, " d"], k: int) -> Float[Array, "n n"]:
    """F_k diag(v) F_kᵀ, in double precision outside and in the precision of the blocks inside.

    Parameters
    ----------
    F
        The columns.
    v
        One weight for each column.
    k
        Which power of the within-variable kernel: 1 for the columns themselves, 2 for their squares.
    """
    return truncated_gram(F, v, None, k)


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def truncated_gram(
    F: Blocks, v: Float[Array, " d"], slack: Float[Array, ""] | None, k: int
) -> Float[Array, "n n"]:
    """F_k diag(v) F_kᵀ, from its leading columns alone where the rest is provably below the slack.

    What is left out is Σ v_i f_i f_iᵀ over the other columns, a matrix of norm at most Σ |v_i| ‖f_i‖². Where
    that sum is not below `slack`, and where there is none, all columns are used. Truncation is for k = 2,
    whose norms the blocks hold: there the weights fall off as the square of those for k = 1, so that a few
    columns carry the product.
    """
    return _sequential(_gram, k)(F, v, *_leading(F, v, slack))


def _forward(
    F: Blocks, v: Float[Array, " d"], slack: Float[Array, ""] | None, k: int
) -> tuple[Float[Array, "n n"], tuple]:
    index, suffices = _leading(F, v, slack)
    return _sequential(_gram, k)(F, v, index, suffices), (F, index, suffices, slack)


def _backward(k: int, saved: tuple, cotangent: Float[Array, "n n"]) -> tuple:
    F, index, suffices, slack = saved
    # The data are constants here: their derivative is given as zero.
    # Only the symmetric part counts, and of that one triangle, twice.
    triangle = jnp.triu(cotangent + cotangent.T, 1) + jnp.diag(jnp.diag(cotangent))
    forms = _sequential(_quadratic_forms, k)(F, triangle, index, suffices)
    return jax.tree.map(jnp.zeros_like, F), forms, jax.tree.map(jnp.zeros_like, slack)


truncated_gram.defvjp(_forward, _backward)


def _sequential(function: Callable[..., Array], k: int) -> Callable[..., Array]:
    """Evaluate batched calls one after the other.

    Each product fills the machine by itself, and a batched `cond` would compute both of its branches.
    """
    return sequential_vmap(partial(function, k=k))


def _leading(
    F: Blocks, v: Float[Array, " d"], slack: Float[Array, ""] | None
) -> tuple[Int[Array, " h"] | None, Bool[Array, ""]]:
    """The columns that matter most, and whether they suffice; None where all are to be used."""
    count = max(LEADING, F.d // 32)
    if slack is None or 2 * count >= F.d:
        return None, jnp.asarray(False)
    weight = jnp.abs(v) * F.norms[1]
    _, index = jax.lax.top_k(weight, count)
    return index, jnp.sum(weight.at[index].set(0.0)) < slack


def _gram(
    F: Blocks,
    v: Float[Array, " d"],
    index: Int[Array, " h"] | None,
    suffices: Bool[Array, ""],
    k: int,
) -> Float[Array, "n n"]:
    w = v.astype(F.values.dtype)
    n = F.values.shape[-1]

    def of_all() -> Float[Array, "n n"]:
        def add(total: Array, block: tuple[Array, Array, Array]) -> tuple[Array, None]:
            x, levels, weights = block
            f = power(x, levels[:, None], k, has_factors=F.has_factors)
            return total + _lower_gram(f, weights).astype(total.dtype), None

        shaped = jnp.pad(w, (0, F.levels.size - F.d)).reshape(F.levels.shape)
        return jax.lax.scan(add, jnp.zeros((n, n), v.dtype), (F.values, F.levels, shaped))[0]

    def of_leading(some: Int[Array, " h"]) -> Float[Array, "n n"]:
        return _lower_gram(_features(F, some, k), w[some]).astype(v.dtype)

    lower = of_all() if index is None else jax.lax.cond(suffices, partial(of_leading, index), of_all)
    return jnp.tril(lower) + jnp.tril(lower, -1).T


def _quadratic_forms(
    F: Blocks,
    triangle: Float[Array, "n n"],
    index: Int[Array, " h"] | None,
    suffices: Bool[Array, ""],
    k: int,
) -> Float[Array, " d"]:
    """f_iᵀ U f_i of each column, for an upper triangular U."""
    U = triangle.astype(F.values.dtype)

    def of_all() -> Float[Array, " d"]:
        def forms(_: None, block: tuple[Array, Array]) -> tuple[None, Array]:
            x, levels = block
            return None, _triangular_forms(power(x, levels[:, None], k, has_factors=F.has_factors), U)

        return jax.lax.scan(forms, None, (F.values, F.levels))[1].reshape(-1)[: F.d]

    def of_leading(some: Int[Array, " h"]) -> Float[Array, " d"]:
        return jnp.zeros(F.d, U.dtype).at[some].set(_triangular_forms(_features(F, some, k), U))

    forms = of_all() if index is None else jax.lax.cond(suffices, partial(of_leading, index), of_all)
    return forms.astype(triangle.dtype)


def _features(F: Blocks, index: Int[Array, " h"], k: int) -> Float[Array, "h n"]:
    some = F.taken(index)
    return power(some.values[0], some.levels[0][:, None], k, has_factors=F.has_factors)


def _lower_gram(f: Float[Array, "b n"], w: Float[Array, " b"]) -> Float[Array, "n n"]:
    """The lower triangle of fᵀ diag(w) f, in stripes of rows; what stands above it is not to be used."""
    n = f.shape[1]
    weighted = f * w[:, None]
    rows = [
        jnp.pad(weighted[:, start:stop].T @ f[:, :stop], ((0, 0), (0, n - stop)))
        for start, stop in stripes(n, STRIPES)
    ]
    return jnp.concatenate(rows)


def _triangular_forms(f: Float[Array, "b n"], U: Float[Array, "n n"]) -> Float[Array, " b"]:
    forms = [
        jnp.sum(f[:, start:stop] * (f[:, :stop] @ U[:stop, start:stop]), axis=1)
        for start, stop in stripes(f.shape[1], STRIPES)
    ]
    return jnp.sum(jnp.stack(forms), axis=0)
