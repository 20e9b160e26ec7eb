"""The interaction kernel: Gram matrices in O(p) per entry through elementary symmetric polynomials.

Both directions are here: from prior variances to a Gram matrix, and from a derivative with respect to the
Gram matrix back to one with respect to the prior variances. Everything that depends on the data is one of two
operations, F_k diag(v) F_kᵀ and its transpose f_kiᵀ M f_ki, which an engine provides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from interplay.model.layout import Layout, power
from interplay.model.variances import Crossed, Scalar, Symmetric, Variances, gathered, spread

Matrix = Float[np.ndarray, "*b n m"]


@runtime_checkable
class Products(Protocol):
    """Weighted products of columns: F_k diag(v) F_kᵀ, where f_k are the features of power k."""

    def product(self, v: Float[np.ndarray, "*b d"], k: int) -> Matrix:
        """Σ_i v_i f_ki f_kiᵀ, for weights that are not negative."""

    def signed_product(self, v: Float[np.ndarray, "*b d"], k: int) -> Matrix:
        """The same for weights of any sign."""

    def square_product(self, v: Float[np.ndarray, "*b d"]) -> Matrix:
        """Σ_i v_i f_2i f_2iᵀ, for what is linear in it, which may be truncated."""

    def pair_product(self, v: Float[np.ndarray, "*b q"], columns: Int[np.ndarray, "q 2"]) -> Matrix:
        """Σ v φ φᵀ of products φ of two columns each."""


@runtime_checkable
class Forms(Protocol):
    """Quadratic forms of columns, the transpose of the products."""

    def forms(self, M: Matrix, k: int) -> Float[np.ndarray, " d"]:
        """f_kiᵀ M f_ki of every column."""

    def square_forms(self, M: Matrix) -> Float[np.ndarray, " d"]:
        """f_2iᵀ M f_2i; 0 for columns that `square_product` left out."""

    def pair_forms(self, M: Matrix, columns: Int[np.ndarray, "q 2"]) -> Float[np.ndarray, " q"]:
        """φᵀ M φ of products φ of two columns each."""


@dataclass(frozen=True, eq=False)
class Assembled:
    """A Gram matrix, and what its derivative needs: e_1, …, e_r of each component, both e_1 of a cross."""

    K: Matrix
    elementary: tuple[list[Matrix], ...]
    crossed: tuple[tuple[Matrix, Matrix], ...]


def elementary(power_sums: Sequence[Matrix]) -> list[Matrix]:
    """Elementary symmetric polynomials e_1, …, e_r from power sums, by Newton's identities.

    k e_k = Σ_{i=1..k} (−1)^(i−1) e_{k−i} P_i,      P_i = Σ_g z_g^i,      e_0 = 1
    """
    e: list[Matrix] = []
    for k in range(1, len(power_sums) + 1):
        total = (-1) ** (k - 1) * power_sums[k - 1]
        for i in range(1, k):
            total = total + (-1) ** (i - 1) * e[k - i - 1] * power_sums[i - 1]
        e.append(total / k)
    return e


def assemble(
    variances: Variances,
    layout: Layout,
    data: Products,
    squares: Float[np.ndarray, "*b d"] | None = None,
) -> Assembled:
    """Put a Gram matrix together from products of weighted columns.

        K = S_() + Σ_m Σ_q orders[m, q] e_q(z_m) + Σ_m squares[m] Σ_{g numeric} z_mg² + …

    with z_mg = w_mg ⟨x_g, x̃_g⟩ for variable g in component m (Proposition 6.1 of the paper, expanded and
    mended; Appendix A for the higher orders).

    Parameters
    ----------
    variances, layout
        Prior variances, and which variable each column belongs to.
    data
        Computes the products.
    squares
        What `square_weights` gives, where it is known already.
    """
    K = data.square_product(square_weights(variances, layout) if squares is None else squares)
    K += _scalar(variances.intercept)
    parts = []
    for c in variances.symmetric:
        weights = layout.by_column(spread(c.weights, c.variables, variances.p))
        degree = c.orders.shape[-1]
        if degree == 2:
            # e_2 = ½ (e_1² − Σ_g z_g²), whose second part is among the square products already.
            e1 = data.product(weights, 1)
            both = e1 * _scalar(0.5 * c.orders[..., 1])
            both += _scalar(c.orders[..., 0])
            both *= e1
            K += both
            parts.append([e1])
            continue
        e = elementary([data.product(weights if k == 1 else weights**k, k) for k in range(1, degree + 1)])
        for q in range(degree):
            K += _scalar(c.orders[..., q]) * e[q]
        parts.append(e)
    crosses = []
    for cross in variances.crossed:
        left, right = _sides(cross, variances.p)
        a = data.product(layout.by_column(left), 1)
        b = data.product(layout.by_column(right), 1)
        K += _scalar(cross.scale) * (a * b)
        crosses.append((a, b))
    if variances.mains is not None:
        K += data.signed_product(layout.by_column(variances.mains), 1)
    if variances.nu is not None:
        columns, pair = pair_columns(layout, variances.pairs)
        K += data.pair_product(variances.nu[..., pair], columns)
    return Assembled(K, tuple(parts), tuple(crosses))


def pull_back(
    variances: Variances, layout: Layout, assembled: Assembled, G: Matrix, data: Forms
) -> Variances:
    """The derivative with respect to the prior variances, from G = ∂/∂K, as ⟨G, dK⟩.

    With ∂e_q/∂P_k = (−1)^(k−1) e_(q−k)/k, the derivative by a weight is
    Σ_k k w^(k−1) f_kᵀ [G ∘ Σ_q orders[q] ∂e_q/∂P_k] f_k, for every degree. `G` may hold one triangle of a
    symmetric matrix, with what is off the diagonal doubled.
    """
    p = variances.p
    # All that is linear in F_2 shares its quadratic forms.
    squares = data.square_forms(G) if _has_squares(variances) else np.zeros(layout.owner.size)
    numeric, within = layout.by_variable(layout.square * squares, p), layout.by_variable(squares, p)
    symmetric = tuple(
        _component_derivative(c, e, G, numeric, within, p, layout, data)
        for c, e in zip(variances.symmetric, assembled.elementary, strict=True)
    )
    crossed = tuple(
        _crossed_derivative(c, *sides, G, within, p, layout, data)
        for c, sides in zip(variances.crossed, assembled.crossed, strict=True)
    )
    mains = None if variances.mains is None else layout.by_variable(data.forms(G, 1), p)
    nu = None
    if variances.nu is not None:
        columns, pair = pair_columns(layout, variances.pairs)
        nu = np.bincount(pair, weights=data.pair_forms(G, columns), minlength=len(variances.pairs))
    return Variances(
        intercept=np.asarray(G.sum(), dtype=np.float64),
        symmetric=symmetric,
        crossed=crossed,
        mains=mains,
        quadratics=None if variances.quadratics is None else numeric,
        nu=nu,
        pairs=variances.pairs,
        p=p,
    )


def _component_derivative(
    c: Symmetric,
    e: list[Matrix],
    G: Matrix,
    numeric: Float[np.ndarray, " p"],
    within: Float[np.ndarray, " p"],
    p: int,
    layout: Layout,
    data: Forms,
) -> Symmetric:
    """By weights, orders and the multiplier of squares of a component.

    `numeric` and `within` are f_2ᵀ G f_2 of each variable, over numbers and over all columns.
    """
    w, degree = spread(c.weights, c.variables, p), c.orders.shape[-1]
    by_weight = (2.0 * float(c.squares)) * w * numeric
    if degree == 2:
        first, second = float(c.orders[0]), float(c.orders[1])
        slope = second * e[0]
        slope += first
        slope *= G
        forms = layout.by_variable(data.forms(slope, 1), p)
        by_weight += forms
        by_weight -= second * w * within
        # With M = G ∘ (orders[0] + orders[1] e_1), ⟨M, e_1⟩ gives ⟨G, e_1²⟩ from ⟨G, e_1⟩.
        by_first = _inner(G, e[0])
        product = _inner(slope, e[0])
        by_second = 0.5 * ((product - first * by_first) / second if second else _inner(G, e[0] * e[0]))
        orders = np.array([by_first, by_second - 0.5 * float(w**2 @ within)])
    else:
        for k in range(1, degree + 1):
            forms = layout.by_variable(data.forms(G * _by_power_sum(c.orders, e, k), k), p)
            by_weight += k * w ** (k - 1) * forms
        orders = np.array([_inner(G, e_q) for e_q in e])
    return Symmetric(gathered(by_weight, c.variables), orders, np.asarray(w**2 @ numeric), c.variables)


def _crossed_derivative(
    c: Crossed,
    a: Matrix,
    b: Matrix,
    G: Matrix,
    within: Float[np.ndarray, " p"],
    p: int,
    layout: Layout,
    data: Forms,
) -> Crossed:
    """By the weights of both sides, and the scale, of a crossed component."""
    left, right = _sides(c, p)
    by_left = c.scale * (layout.by_variable(data.forms(G * b, 1), p) - right * within)
    by_right = c.scale * (layout.by_variable(data.forms(G * a, 1), p) - left * within)
    by_scale = np.asarray(_inner(G, a * b) - (left * right) @ within)
    sides = gathered(by_left, c.left_variables), gathered(by_right, c.right_variables)
    return Crossed(*sides, by_scale, c.left_variables, c.right_variables)


def gram(
    variances: Variances, layout: Layout, X: Float[np.ndarray, "*b n d"], Z: Float[np.ndarray, "*b m d"]
) -> Float[np.ndarray, "*s n m"]:
    """Gram matrix K(X, Z), in O(p) per entry."""
    return assemble(variances, layout, _Plain(X, Z, layout)).K


def diagonal(variances: Variances, layout: Layout, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
    """The prior variances k(x, x) of the regression function at the rows of X, without a Gram matrix."""
    return assemble(variances, layout, _Diagonal(X, layout)).K[..., 0]


def pair_columns(
    layout: Layout, pairs: tuple[tuple[int, int], ...]
) -> tuple[Int[np.ndarray, "q 2"], Int[np.ndarray, " q"]]:
    """Columns of every product that belongs to one of the named pairs, and which pair it belongs to."""
    places = {int(g): np.flatnonzero(layout.owner == g) for g in {g for pair in pairs for g in pair}}
    products = [(a, b, k) for k, (i, j) in enumerate(pairs) for a in places[i] for b in places[j]]
    indices = np.array(products, dtype=np.intp).reshape(-1, 3)
    return indices[:, :2], indices[:, 2]


@dataclass(frozen=True, eq=False)
class _Plain:
    X: Float[np.ndarray, "*b n d"]
    Z: Float[np.ndarray, "*b m d"]
    layout: Layout

    def product(self, v: np.ndarray, k: int) -> Matrix:
        F = power(self.X, self.layout.levels, k)
        G = F if self.Z is self.X else power(self.Z, self.layout.levels, k)
        return (F * v[..., None, :]) @ np.swapaxes(G, -1, -2)

    def signed_product(self, v: np.ndarray, k: int) -> Matrix:
        return self.product(v, k)

    def square_product(self, v: np.ndarray) -> Matrix:
        return self.product(v, 2)

    def pair_product(self, v: np.ndarray, columns: np.ndarray) -> Matrix:
        i, j = columns.T
        left = self.X[..., i] * self.X[..., j]
        right = self.Z[..., i] * self.Z[..., j]
        return (left * v[..., None, :]) @ np.swapaxes(right, -1, -2)


@dataclass(frozen=True, eq=False)
class _Diagonal:
    X: Float[np.ndarray, "n d"]
    layout: Layout

    def product(self, v: np.ndarray, k: int) -> Matrix:
        return power(self.X, self.layout.levels, k) ** 2 @ v[..., :, None]

    def signed_product(self, v: np.ndarray, k: int) -> Matrix:
        return self.product(v, k)

    def square_product(self, v: np.ndarray) -> Matrix:
        return self.product(v, 2)

    def pair_product(self, v: np.ndarray, columns: np.ndarray) -> Matrix:
        return (self.X[:, columns[:, 0]] * self.X[:, columns[:, 1]]) ** 2 @ v[..., :, None]


def square_weights(variances: Variances, layout: Layout) -> Float[np.ndarray, "*b d"]:
    """What all components have in Σ_g z_g², as weights of the columns' squares."""
    p = variances.p
    total = np.zeros((*np.shape(variances.intercept), layout.levels.shape[-1]))
    for c in variances.symmetric:
        weights = layout.by_column(spread(c.weights, c.variables, p)) ** 2
        multiplier = _column(c.squares) * layout.square
        if c.orders.shape[-1] == 2:
            multiplier = multiplier - 0.5 * c.orders[..., 1:2]
        total = total + multiplier * weights
    for cross in variances.crossed:
        left, right = _sides(cross, p)
        total = total - _column(cross.scale) * layout.by_column(left * right)
    if variances.quadratics is not None:
        total = total + layout.square * layout.by_column(variances.quadratics)
    return total


def _has_squares(variances: Variances) -> bool:
    return (
        variances.quadratics is not None
        or bool(variances.crossed)
        or any(c.orders.shape[-1] == 2 or np.any(c.squares) for c in variances.symmetric)
    )


def _by_power_sum(orders: Float[np.ndarray, " r"], e: list[Matrix], k: int) -> Matrix:
    """Σ_q orders[q] ∂e_q/∂P_k, with ∂e_q/∂P_k = (−1)^(k−1) e_(q−k) / k and e_0 = 1."""
    total = orders[k - 1] * np.ones_like(e[0])
    for q in range(k + 1, len(orders) + 1):
        total += orders[q - 1] * e[q - k - 1]
    return (-1) ** (k - 1) / k * total


def _sides(component: Crossed, p: int) -> tuple[np.ndarray, np.ndarray]:
    left = spread(component.left, component.left_variables, p)
    return left, spread(component.right, component.right_variables, p)


def _inner(G: Matrix, M: Matrix) -> float:
    """⟨G, M⟩ of two matrices in the same order."""
    return float(G.ravel(order="K") @ M.ravel(order="K"))


def _scalar(value: Scalar) -> np.ndarray:
    return np.asarray(value)[..., None, None]


def _column(value: Scalar) -> np.ndarray:
    return np.asarray(value)[..., None]
