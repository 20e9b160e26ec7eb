"""The interaction kernel: Gram matrices in O(p) per entry through elementary symmetric polynomials."""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from interplay.model.layout import Layout, power
from interplay.model.variances import Variances

Product = Callable[[Float[Array, " d"], int], Float[Array, "n m"]]
"""Weights v of the columns and a power k -> F_k(X) diag(v) F_k(Z)ᵀ."""

PairProduct = Callable[[Float[Array, " q"]], Float[Array, "n m"]]
"""Weights v of the products of columns that belong to named pairs -> their weighted Gram matrix."""


def elementary(power_sums: list[Float[Array, "n m"]]) -> list[Float[Array, "n m"]]:
    """Elementary symmetric polynomials e_0, …, e_r from power sums, by Newton's identities.

    k e_k = Σ_{i=1..k} (−1)^(i−1) e_{k−i} P_i,      P_i = Σ_g z_g^i
    """
    e = [jnp.ones_like(power_sums[0])]
    for k in range(1, len(power_sums) + 1):
        terms = ((-1) ** (i - 1) * e[k - i] * power_sums[i - 1] for i in range(1, k + 1))
        e.append(sum(terms, jnp.zeros_like(e[0])) / k)
    return e


def assemble(
    variances: Variances,
    layout: Layout,
    product: Product,
    square_product: Product,
    pair_product: PairProduct,
) -> Float[Array, "n m"]:
    """Put a Gram matrix together from products of weighted columns.

        K = S_() + Σ_m Σ_q orders[m, q] e_q(z_m) + Σ_m squares[m] Σ_{g numeric} z_mg² + …

    with z_mg = w_mg ⟨x_g, x̃_g⟩ for variable g in component m (Proposition 6.1 of the paper, expanded and
    mended; Appendix A for the higher orders). Given differentiable products, the result is differentiable.

    Parameters
    ----------
    variances
        Prior variances of the coefficients.
    layout
        Which variable each column belongs to.
    product
        Computes F_k diag(v) F_kᵀ.
    square_product
        The same for what is linear in F_2, which may be truncated.
    pair_product
        Computes Φ diag(v) Φᵀ for the products Φ of the columns of the layout's named pairs.
    """
    if variances.pairs != layout.pairs:
        raise ValueError(
            f"The prior has {len(variances.pairs)} named pairs, the data were made ready for"
            f" {len(layout.pairs)} others. Make them ready with the same prior."
        )
    owner, degree = layout.owner, variances.degree
    # What is linear in F_2 needs one product for all components: the quadratic effects and, where no
    # interaction beyond pairs is wanted, the −½ Σ_g z_g² in e_2 = ½ (e_1² − Σ_g z_g²).
    in_squares = variances.squares[:, None] * layout.square
    if degree == 2:
        in_squares -= 0.5 * variances.orders[:, 1:2]
    F2_weights = jnp.sum(in_squares * variances.weights[:, owner] ** 2, axis=0)
    if variances.quadratics is not None:
        F2_weights += layout.square * variances.quadratics[owner]

    K = variances.intercept + square_product(F2_weights, 2)
    for weights, orders in zip(variances.weights, variances.orders, strict=True):
        sums = [product(weights[owner] ** k, k) for k in range(1, 2 if degree == 2 else degree + 1)]
        if degree == 2:
            sums.append(jnp.zeros_like(sums[0]))
        K += sum((c * e for c, e in zip(orders, elementary(sums)[1:], strict=True)), jnp.zeros_like(K))
    if variances.mains is not None:
        K += product(variances.mains[owner], 1)
    if variances.nu is not None:
        K += pair_product(variances.nu[layout.pair_of_product])
    return K


def gram(
    variances: Variances, layout: Layout, X: Float[Array, "n d"], Z: Float[Array, "m d"]
) -> Float[Array, "n m"]:
    """Gram matrix K(X, Z), in O(p) per entry."""

    def product(v: Float[Array, " d"], k: int) -> Float[Array, "n m"]:
        F = power(X, layout.levels[None], k, has_factors=layout.has_factors)
        G = power(Z, layout.levels[None], k, has_factors=layout.has_factors)
        return (F * v) @ G.T

    def pair_product(v: Float[Array, " q"]) -> Float[Array, "n m"]:
        return (pair_features(X, layout) * v) @ pair_features(Z, layout).T

    return assemble(variances, layout, product, product, pair_product)


def diagonal(variances: Variances, layout: Layout, X: Float[Array, "n d"]) -> Float[Array, " n"]:
    """The prior variances k(x, x) of the regression function at the rows of X, without a Gram matrix."""

    def product(v: Float[Array, " d"], k: int) -> Float[Array, "n 1"]:
        F = power(X, layout.levels[None], k, has_factors=layout.has_factors)
        return (F**2) @ v[:, None]

    def pair_product(v: Float[Array, " q"]) -> Float[Array, "n 1"]:
        return (pair_features(X, layout) ** 2) @ v[:, None]

    return assemble(variances, layout, product, product, pair_product)[:, 0]


def pair_features(X: Float[Array, "n d"], layout: Layout) -> Float[Array, "n q"]:
    """The products of columns that belong to the layout's named pairs."""
    return X[:, layout.pair_columns[:, 0]] * X[:, layout.pair_columns[:, 1]]
