"""How the likelihood depends on the weights of single variables, from the factor at one position."""

import numpy as np
from jaxtyping import Float, Int

from interplay._support import lapack
from interplay.inference.moves.local import Evidence
from interplay.model.engines.kernel_space import Resolvent
from interplay.model.layout import Layout
from interplay.model.posterior import Posterior
from interplay.model.term_variances import term_variances
from interplay.model.variances import Variances, pair_variances_with

MOST_PARTNERS = 12
"""Most columns of active variables whose products with a variable's columns are looked at."""

PROBES = 8
"""Vectors of random signs from which a trace is estimated."""

ENTRIES = 2**23
"""Entries of the features of several variables that are held at a time."""


def signs(n: int, random: np.random.Generator) -> Float[np.ndarray, "n s"]:
    """Vectors of random signs, in Fortran order."""
    return np.asfortranarray(np.where(random.random((n, PROBES)) < 0.5, -1.0, 1.0))


def strongest(
    posterior: Posterior, weights: Float[np.ndarray, " p"], variables: Int[np.ndarray, " a"]
) -> Int[np.ndarray, " b"]:
    """The variables with the largest weights whose columns together are few enough."""
    order = variables[np.argsort(-weights[variables], kind="stable")]
    layout = posterior.engine.layout
    widths = np.bincount(layout.owner, minlength=posterior.p)[order]
    return order[np.cumsum(widths) <= MOST_PARTNERS]


def trace_evidence(
    posterior: Posterior,
    variances: Variances,
    resolvent: Resolvent,
    candidates: Int[np.ndarray, " c"],
    partners: Int[np.ndarray, " a"],
    probes: Float[np.ndarray, "n s"],
) -> Evidence:
    """From α and an estimate of the trace of H: each feature alone, with φᵀHφ put at ‖φ‖² tr H / n.

    Tipping and Faul (2003). Enough for variables that matter little.

    Parameters
    ----------
    posterior, variances, resolvent
        The model, the prior variances at the position, the factor of K + V there, and α.
    candidates, partners
        The variables in question, sorted, and those whose pairs with them are looked at.
    probes
        Vectors of signs.
    """
    lower, alpha = resolvent
    layout, X = posterior.engine.layout, posterior.kernel.columns.values
    white = probes.astype(lower.dtype, order="F")
    lapack.solve_triangle(lower, white)
    mean_inverse = float(np.vdot(white, white)) / probes.size
    columns, owner = _columns(layout, candidates)
    others = _columns(layout, partners)[0]
    rates = _rates(variances, layout, candidates, others)[owner]
    factors = np.ones((len(X), 1 + others.size), dtype=X.dtype, order="F")
    factors[:, 1:] = X[:, others]
    values = X[:, columns]
    projections = values.T @ (alpha[:, None] * factors)
    norms = (values**2).T @ factors**2
    reference = _main_variances(variances)[candidates]
    return Evidence(rates * projections**2, mean_inverse * rates * norms, owner, reference)


def joint_evidence(
    posterior: Posterior,
    variances: Variances,
    resolvent: Resolvent,
    candidates: Int[np.ndarray, " c"],
    partners: Int[np.ndarray, " a"],
) -> Evidence:
    """With the correlations among a variable's own features: exact but for features that are left out.

    Parameters
    ----------
    posterior, variances
        The model, and the prior variances at the position.
    resolvent
        The factor of K + V there, and α.
    candidates, partners
        The variables in question, sorted, and those whose pairs with them are looked at.
    """
    lower, alpha = resolvent
    layout, X = posterior.engine.layout, posterior.kernel.columns.values
    others = _columns(layout, partners)[0]
    factors = np.concatenate([np.ones((1, len(X)), dtype=X.dtype), X[:, others].T])
    f = len(factors)
    widths = np.bincount(layout.owner, minlength=posterior.p)[candidates]
    roots = np.sqrt(_rates(variances, layout, candidates, others))
    squares, determinants = np.empty((widths.sum(), f)), np.empty((widths.sum(), f))
    owner = np.repeat(np.arange(candidates.size), widths)
    for width in np.unique(widths):
        chosen = np.flatnonzero(widths == width)
        size = max(1, ENTRIES // (len(X) * int(width) * f))
        for start in range(0, chosen.size, size):
            some = chosen[start : start + size]
            columns = _columns(layout, candidates[some])[0]
            rows = (X[:, columns].T[:, None, :] * factors).reshape(-1, len(X))
            white = rows.T.copy(order="F")
            lapack.solve_triangle(lower, white)
            stacked = white.T.reshape(some.size, int(width) * f, len(X))
            scale = np.tile(roots[some], (1, int(width)))
            gram = (stacked @ np.swapaxes(stacked, 1, 2)).astype(np.float64)
            values, vectors = np.linalg.eigh(gram * scale[:, :, None] * scale[:, None, :])
            along = scale * (rows @ alpha).reshape(some.size, -1).astype(np.float64)
            projected = np.einsum("ckf,ck->cf", vectors, along)
            at = np.flatnonzero(np.isin(owner, some))
            squares[at] = (projected**2).reshape(-1, f)
            determinants[at] = np.maximum(values, 0.0).reshape(-1, f)
    return Evidence(squares, determinants, owner, _main_variances(variances)[candidates])


def _columns(layout: Layout, variables: Int[np.ndarray, " c"]) -> tuple[Int[np.ndarray, " m"], np.ndarray]:
    """Columns of some variables, in their order, and the place of the variable of each among them."""
    if layout.one_each:
        return variables, np.arange(variables.size)
    place = np.full(int(layout.owner.max(initial=-1)) + 1, -1)
    place[variables] = np.arange(variables.size)
    columns = np.flatnonzero(place[layout.owner] >= 0)
    order = np.argsort(place[layout.owner[columns]], kind="stable")
    return columns[order], place[layout.owner[columns[order]]]


def _rates(
    variances: Variances, layout: Layout, candidates: Int[np.ndarray, " c"], others: Int[np.ndarray, " b"]
) -> Float[np.ndarray, "c f"]:
    """Prior variances of a candidate's main effect, and of its pairs with other columns, by its weight."""
    rates = np.ones((candidates.size, 1 + others.size))
    if others.size:
        partners = layout.owner[others]
        pairs = pair_variances_with(variances[None], partners[None])[0][:, candidates].T
        main = _main_variances(variances)[candidates][:, None]
        rates[:, 1:] = np.divide(pairs, main, out=np.zeros_like(pairs), where=main > 1e-250)
    return rates


def _main_variances(variances: Variances) -> Float[np.ndarray, " p"]:
    p = variances.p
    return term_variances(variances, np.arange(p)[:, None], np.zeros(p, dtype=bool))
