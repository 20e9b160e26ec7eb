"""The interaction kernel: Gram matrices in O(p) per entry through elementary symmetric polynomials.

Both directions are here: from prior variances to a Gram matrix, and from a derivative with respect to the
Gram matrix back to one with respect to the prior variances. Everything that depends on the data is one of two
operations, F_k diag(v) F_kᵀ and its transpose f_kiᵀ M f_ki, which an engine provides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from interplay.model.layout import Layout, power
from interplay.model.variances import Crossed, Scalar, Symmetric, Variances, gathered, spread

Matrix = Float[np.ndarray, "*b n m"]


@runtime_checkable
class Products(Protocol):
    """Weighted products of columns: F_k diag(v) F_kᵀ, where f_k are the features of power k."""

    def product(self, v: Float[np.ndarray, "*b d"], k: int, *, signed: bool = False) -> Matrix:
        """Σ_i v_i f_ki f_kiᵀ; weights of any sign need `signed`."""

    def pair_product(self, v: Float[np.ndarray, "*b q"], columns: Int[np.ndarray, "q 2"]) -> Matrix:
        """Σ v φ φᵀ of products φ of two columns each."""


@runtime_checkable
class Forms(Protocol):
    """Quadratic forms of columns, the transpose of the products."""

    def forms(self, M: Matrix, k: int) -> Float[np.ndarray, " d"]:
        """f_kiᵀ M f_ki of every column; 0 for columns whose features of this power are left out."""

    def pair_forms(self, M: Matrix, columns: Int[np.ndarray, "q 2"]) -> Float[np.ndarray, " q"]:
        """φᵀ M φ of products φ of two columns each."""


class Part(NamedTuple):
    """A product F_k diag(v) F_kᵀ that a Gram matrix is put together from: its power, and its weights."""

    power: int
    weights: Float[np.ndarray, "*b d"]
    signed: bool = False


@dataclass(frozen=True, eq=False)
class Assembled:
    """A Gram matrix, and what its derivative needs.

    Parameters
    ----------
    K
        The Gram matrix.
    elementary
        Of each symmetric component: e_1, …, e_r; of degree 2 only e_1.
    squares
        Of each symmetric component: Σ_g z_g² of all variables, and of numbers; None where K has no such part.
    crossed
        Of each crossed component: e_1 of both sides, and Σ_g a_g b_g.
    """

    K: Matrix
    elementary: tuple[list[Matrix], ...]
    squares: tuple[tuple[Matrix | None, Matrix | None], ...]
    crossed: tuple[tuple[Matrix, Matrix, Matrix], ...]


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


def parts_of(variances: Variances, layout: Layout) -> list[Part]:
    """The products that a Gram matrix needs, in the order in which `combine` takes them.

    Of a symmetric component: powers 1, …, r, and the squares of numbers where they differ from power 2; of a
    crossed one: both sides and their common squares; then further mains, quadratics and named pairs.
    """
    p, parts = variances.p, []
    for c in variances.symmetric:
        w = layout.by_column(spread(c.weights, c.variables, p))
        parts += [Part(k, w if k == 1 else w**k) for k in range(1, c.orders.shape[-1] + 1)]
        if _squares_apart(c, layout):
            parts.append(Part(2, layout.square * w**2))
    for cross in variances.crossed:
        left, right = _sides(cross, p)
        parts += [Part(1, layout.by_column(left)), Part(1, layout.by_column(right))]
        parts.append(Part(2, layout.by_column(left * right)))
    if variances.mains is not None:
        parts.append(Part(1, layout.by_column(variances.mains), signed=True))
    if variances.quadratics is not None:
        parts.append(Part(2, layout.square * layout.by_column(variances.quadratics), signed=True))
    return parts


def combine(variances: Variances, layout: Layout, matrices: Sequence[Matrix]) -> Assembled:
    """Put a Gram matrix together from the products of `parts_of`, without named pairs.

        K = S_() + Σ_m Σ_q orders[m, q] e_q(z_m) + Σ_m squares[m] Σ_{g numeric} z_mg² + …

    with z_mg = w_mg ⟨x_g, x̃_g⟩ for variable g in component m (Proposition 6.1 of the paper, expanded and
    mended; Appendix A for the higher orders).
    """
    given = iter(matrices)
    K: Matrix | None = None

    def add(matrix: Matrix) -> None:
        nonlocal K
        K = matrix if K is None else np.add(K, matrix, out=K)

    parts, squares, crosses = [], [], []
    for c in variances.symmetric:
        degree = c.orders.shape[-1]
        powers = [next(given) for _ in range(degree)]
        numeric = next(given) if _squares_apart(c, layout) else powers[1] if np.any(c.squares) else None
        if degree == 2:
            # e_2 = ½ (e_1² − Σ_g z_g²)
            e1, second = powers[0], _scalar(0.5 * c.orders[..., 1])
            both = e1 * second
            both += _scalar(c.orders[..., 0])
            both *= e1
            if numeric is powers[1]:
                both += (_scalar(c.squares) - second) * powers[1]
            else:
                both -= second * powers[1]
            add(both)
            parts.append([e1])
        else:
            parts.append(elementary(powers))
            for q, e in enumerate(parts[-1]):
                add(_scalar(c.orders[..., q]) * e)
        if numeric is not None and not (degree == 2 and numeric is powers[1]):
            add(_scalar(c.squares) * numeric)
        squares.append((powers[1] if degree > 1 else None, numeric))
    for cross in variances.crossed:
        a, b, common = next(given), next(given), next(given)
        both = a * b
        both -= common
        both *= _scalar(cross.scale)
        add(both)
        crosses.append((a, b, common))
    for extra in (variances.mains, variances.quadratics):
        if extra is not None:
            add(next(given).copy())
    assert K is not None
    K += _scalar(variances.intercept)
    return Assembled(K, tuple(parts), tuple(squares), tuple(crosses))


def assemble(variances: Variances, layout: Layout, data: Products) -> Assembled:
    """A Gram matrix from the weighted columns of a data set."""
    parts = parts_of(variances, layout)
    matrices = [data.product(part.weights, part.power, signed=part.signed) for part in parts]
    assembled = combine(variances, layout, matrices)
    add_named_pairs(assembled.K, variances, layout, data)
    return assembled


def add_named_pairs(K: Matrix, variances: Variances, layout: Layout, data: Products) -> None:
    """Add to a Gram matrix what single pairs have beside the components."""
    if variances.nu is not None:
        columns, pair = pair_columns(layout, variances.pairs)
        K += data.pair_product(variances.nu[..., pair], columns)


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
    squares = data.forms(G, 2) if _has_squares(variances) else np.zeros(layout.owner.size)
    numeric, within = layout.by_variable(layout.square * squares, p), layout.by_variable(squares, p)
    symmetric = tuple(
        _component_derivative(c, e, both, G, numeric, within, p, layout, data)
        for c, e, both in zip(variances.symmetric, assembled.elementary, assembled.squares, strict=True)
    )
    crossed = tuple(
        _crossed_derivative(c, *matrices, G, within, p, layout, data)
        for c, matrices in zip(variances.crossed, assembled.crossed, strict=True)
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
    squares: tuple[Matrix | None, Matrix | None],
    G: Matrix,
    numeric: Float[np.ndarray, " p"],
    within: Float[np.ndarray, " p"],
    p: int,
    layout: Layout,
    data: Forms,
) -> Symmetric:
    """By weights, orders and the multiplier of squares of a component.

    `numeric` and `within` are f_2ᵀ G f_2 of each variable, over numbers and over all columns. Derivatives by
    weights are of the columns of `data` alone; those by multipliers are of the whole Gram matrix.
    """
    w, degree = spread(c.weights, c.variables, p), c.orders.shape[-1]
    by_weight = (2.0 * float(c.squares)) * w * numeric
    all_squares, numeric_squares = squares
    if degree == 2:
        assert all_squares is not None
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
        by_second = (product - first * by_first) / second if second else _inner(G, e[0] * e[0])
        by_square = _inner(G, all_squares)
        orders = np.array([by_first, 0.5 * (by_second - by_square)])
    else:
        for k in range(1, degree + 1):
            forms = layout.by_variable(data.forms(G * _by_power_sum(c.orders, e, k), k), p)
            by_weight += k * w ** (k - 1) * forms
        orders = np.array([_inner(G, e_q) for e_q in e])
    if numeric_squares is None:
        by_squares = float(w**2 @ numeric)
    else:
        shared = degree == 2 and numeric_squares is all_squares
        by_squares = by_square if shared else _inner(G, numeric_squares)
    return Symmetric(gathered(by_weight, c.variables), orders, np.asarray(by_squares), c.variables)


def _crossed_derivative(
    c: Crossed,
    a: Matrix,
    b: Matrix,
    common: Matrix,
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
    by_scale = np.asarray(_inner(G, a * b) - _inner(G, common))
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

    def product(self, v: np.ndarray, k: int, *, signed: bool = False) -> Matrix:
        F = power(self.X, self.layout.levels, k)
        G = F if self.Z is self.X else power(self.Z, self.layout.levels, k)
        return (F * v[..., None, :]) @ np.swapaxes(G, -1, -2)

    def pair_product(self, v: np.ndarray, columns: np.ndarray) -> Matrix:
        i, j = columns.T
        left = self.X[..., i] * self.X[..., j]
        right = self.Z[..., i] * self.Z[..., j]
        return (left * v[..., None, :]) @ np.swapaxes(right, -1, -2)


@dataclass(frozen=True, eq=False)
class _Diagonal:
    X: Float[np.ndarray, "n d"]
    layout: Layout

    def product(self, v: np.ndarray, k: int, *, signed: bool = False) -> Matrix:
        return power(self.X, self.layout.levels, k) ** 2 @ v[..., :, None]

    def pair_product(self, v: np.ndarray, columns: np.ndarray) -> Matrix:
        return (self.X[:, columns[:, 0]] * self.X[:, columns[:, 1]]) ** 2 @ v[..., :, None]


def square_weights(variances: Variances, layout: Layout) -> Float[np.ndarray, " d"]:
    """How much of a Gram matrix is linear in f_2i f_2iᵀ of each column, all signs taken as positive."""
    total = np.zeros(layout.levels.shape[-1])
    for c in variances.symmetric:
        multiplier = float(c.squares) * layout.square
        if c.orders.shape[-1] == 2:
            multiplier = multiplier + 0.5 * float(c.orders[1])
        total += multiplier * layout.by_column(spread(c.weights, c.variables, variances.p)) ** 2
    for cross in variances.crossed:
        left, right = _sides(cross, variances.p)
        total += float(cross.scale) * layout.by_column(left * right)
    if variances.quadratics is not None:
        total += layout.square * layout.by_column(np.abs(variances.quadratics))
    return total


def _squares_apart(c: Symmetric, layout: Layout) -> bool:
    """Whether the squares of numbers need a product beside that of power 2."""
    return bool(np.any(c.squares)) and (c.orders.shape[-1] < 2 or not layout.all_square)


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


def _scalar(value: Scalar) -> float | np.ndarray:
    """A factor of matrices, one a draw; of a single draw a plain number, which keeps their precision."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value)[..., None, None]
