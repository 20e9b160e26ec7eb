"""Terms: which coefficients are meant, their features on the data and their prior covariance."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from jaxtyping import Bool, Float, Int

from interplay.data.design import Design
from interplay.data.errors import DataError, nearest
from interplay.model.layout import Layout
from interplay.model.term_variances import term_variances
from interplay.model.variances import Variances

Term = tuple[int, ...]
"""Columns of the design, sorted: () intercept, (i,) main effect, (i, j) interaction, (i, i) square."""


@dataclass(frozen=True, eq=False)
class Terms:
    """A list of terms as arrays.

    Parameters
    ----------
    columns
        The distinct columns of each term, padded with -1 at the end, (t, q).
    square
        Whether the term is the square of its one column, (t,).
    """

    columns: Int[np.ndarray, "t q"]
    square: Bool[np.ndarray, " t"]

    def __len__(self) -> int:
        return len(self.square)


def as_arrays(terms: Sequence[Term]) -> Terms:
    """Turn a list of terms into arrays."""
    width = max((len(term) for term in terms), default=1) or 1
    columns = np.full((len(terms), width), -1, dtype=np.intp)
    square = np.zeros(len(terms), dtype=bool)
    for row, term in enumerate(tuple(sorted(term)) for term in terms):
        square[row] = is_square(term)
        distinct = term[:1] if square[row] else term
        columns[row, : len(distinct)] = distinct
    return Terms(columns, square)


def term_features(X: Float[np.ndarray, "n d"], layout: Layout, terms: Terms) -> Float[np.ndarray, "n t"]:
    """The features Φ_E of the terms on the rows of X: products of columns, in Fortran order."""
    return column_products(X, terms, layout.effect_scale)


def column_products(
    X: Float[np.ndarray, "n d"], terms: Terms, scale: Float[np.ndarray, " d"] | None = None
) -> Float[np.ndarray, "n t"]:
    """The product of each term's columns: the explicit features, of independent coefficients."""
    # Rows of the transpose are columns in Fortran order, which is what LAPACK takes.
    rows = np.ones((len(terms), len(X)))
    for place in range(terms.columns.shape[1]):
        used = terms.columns[:, place] >= 0
        columns = terms.columns[used, place]
        values = X.T[columns]
        if scale is not None:
            values = values * scale[columns, None]
        rows[used] *= values
    rows[terms.square] **= 2
    return rows.T


def marginal_prior(variances: Variances, layout: Layout, terms: Terms) -> Float[np.ndarray, "*s t"]:
    """Prior variance of each term: every level of a factor has the variance of its variable."""
    variables = np.where(terms.columns >= 0, layout.owner[terms.columns], -1)
    return term_variances(variances, variables, terms.square)


def joint_prior(variances: Variances, layout: Layout, terms: Terms) -> Float[np.ndarray, "t t"]:
    """Prior covariance of the terms: diagonal but for the levels of one factor, which sum to zero."""
    left, right = terms.columns[:, None, :], terms.columns[None, :, :]
    owner = np.where(left >= 0, layout.owner[left], -1), np.where(right >= 0, layout.owner[right], -2)
    between_levels = -1.0 / np.maximum(layout.levels[left] - 1.0, 1.0)
    cosine = np.where(left == right, 1.0, np.where(owner[0] == owner[1], between_levels, 0.0))
    same_kind = terms.square[:, None] == terms.square[None, :]
    return marginal_prior(variances, layout, terms)[:, None] * np.prod(cosine, axis=2) * same_kind


def is_square(term: Term) -> bool:
    """Whether the term is the square of one column."""
    return len(term) == 2 and term[0] == term[1]


def kind(term: Term) -> str:
    """What a term is called in tables."""
    if is_square(term):
        return "quadratic"
    return {0: "intercept", 1: "main", 2: "pair"}.get(len(term), f"{len(term)}-way")


def label(term: Term, design: Design) -> str:
    """Write a term in words: `bmi`, `bmi:bp`, `bmi^2`, `site[London]:bmi`, `1`."""
    if is_square(term):
        return f"{design.labels[term[0]]}^2"
    return ":".join(design.labels[column] for column in term) or "1"


def mains(design: Design) -> list[Term]:
    """Every main effect: one of a number, one per level of a factor."""
    return [(column,) for column in range(design.d)]


def quadratics(design: Design) -> list[Term]:
    """Every quadratic effect; factors and two-valued columns have none."""
    return [(v.start, v.start) for v in design.variables if v.squares]


def interactions(design: Design, variables: Iterable[int], order: int = 2) -> list[Term]:
    """Every interaction of the given order among the given variables."""
    columns = [range(design.variables[v].start, design.variables[v].stop) for v in sorted(set(variables))]
    return [term for chosen in combinations(columns, order) for term in product(*chosen)]


def monomials(design: Design, degree: int, *, quadratic: bool = True) -> list[Term]:
    """Every coefficient of the explicit feature map: intercept, mains, interactions, squares."""
    higher = [term for order in range(2, degree + 1) for term in interactions(design, range(design.p), order)]
    return [(), *mains(design), *higher, *(quadratics(design) if quadratic else [])]


def dimension(design: Design, degree: int, *, quadratic: bool = True) -> int:
    """The number of monomials, without listing them."""
    counts = [1] + [0] * degree
    for variable in design.variables:
        width = variable.stop - variable.start
        counts = [1] + [counts[k] + width * counts[k - 1] for k in range(1, degree + 1)]
    return sum(counts) + (sum(v.squares for v in design.variables) if quadratic else 0)


def parse(request: str | tuple[str, ...], design: Design) -> list[Term]:
    """Find the terms that a label asks for.

    Parameters
    ----------
    request
        `"bmi"`, `"bmi:bp"`, `"bmi^2"`, `"1"`, `"site[London]:bmi"`, or a tuple of names such as
        `("bmi", "bp")` for names that themselves hold a colon. A factor without a level means all of them.
    design
        The design that the names belong to.

    Returns
    -------
    list of Term
        One term, or one for each combination of levels.
    """
    known = {name: range(v.start, v.stop) for name, v in zip(design.names, design.variables, strict=True)}
    known |= {text: range(c, c + 1) for c, text in enumerate(design.labels) if text not in known}
    if isinstance(request, tuple):
        return _combine(request, known, design)
    if request == "1" and request not in known:
        return [()]
    readings = _readings(request, set(known) | {f"{name}^2" for name in design.names})
    if not readings:
        unknown = next((part for part in request.split(":") if part not in known), request)
        raise DataError(
            f"There is no term {request!r}: {unknown!r} is not a variable of this design."
            f"{nearest(unknown.removesuffix('^2'), design.names)}"
            " Terms are written 'a', 'a:b', 'a^2', 'a[level]' or '1'."
        )
    if len(readings) > 1:
        raise DataError(
            f"The term {request!r} can be read in {len(readings)} ways, because names hold a colon:"
            f" {', '.join(map(str, readings))}. Give one of these tuples instead of the text."
        )
    return _combine(readings[0], known, design)


def _readings(text: str, names: set[str]) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [(text,)] if text in names else []
    for cut, character in enumerate(text):
        if character == ":" and text[:cut] in names:
            found += [(text[:cut], *rest) for rest in _readings(text[cut + 1 :], names)]
    return found


def _combine(parts: tuple[str, ...], known: dict[str, range], design: Design) -> list[Term]:
    expanded = [
        name
        for part in parts
        for name in ([part] if part in known else [part.removesuffix("^2")] * (1 + part.endswith("^2")))
    ]
    for name in expanded:
        if name not in known:
            raise DataError(
                f"{name!r} is not a variable of this design.{nearest(name, design.names)}"
                " Give names as they stand in the data."
            )
    owners = [int(design.owner[known[name][0]]) for name in expanded]
    if len(owners) == 2 and owners[0] == owners[1]:
        variable = design.variables[owners[0]]
        if not variable.squares:
            raise DataError(
                f"{variable.name!r} is {variable.kind}, and has no quadratic effect: its square and the"
                " products of its levels repeat its main effect. Ask for its main effect."
            )
    elif len(set(owners)) < len(owners):
        raise DataError(
            f"The term {':'.join(parts)!r} repeats a variable; interactions are between different"
            " variables, and powers go up to the square of one variable alone."
        )
    return [tuple(sorted(columns)) for columns in product(*(known[name] for name in expanded))]
