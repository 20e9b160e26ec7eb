"""From the prior variances of all pairs to few product-form components and few single pairs.

Wanted are weights q ≥ 0 and a short list ν with V_ij = 2 Σ_m q_mi q_mj + ν_ij for all i < j: the paper's
system of equations for its two-way kernel (Section 4), with as few components as the structure allows.
"""

from collections.abc import Callable, Iterator

import numpy as np
from jaxtyping import Float
from scipy.optimize import least_squares, nnls

Pairs = float | int | np.ndarray | Callable[[np.ndarray, np.ndarray], np.ndarray]
Block = Callable[[np.ndarray, np.ndarray], np.ndarray]
Named = dict[tuple[int, int], float]

TOLERANCE = 1e-9
"""Difference, relative to the largest variance, below which two variances are the same."""

ROWS = 512
"""Rows of V looked at together, so that p² numbers are never held."""

TRIES = 3
"""Starting points for each number of components."""


def decompose(
    p: int, pairs: Pairs, max_components: int, max_named: int
) -> tuple[Float[np.ndarray, "m p"], Named]:
    """Weights q of the components, and the single pairs that they leave over.

    Parameters
    ----------
    p
        Number of variables.
    pairs
        Variance of each pair: a number, a symmetric matrix, or a function of two index arrays.
    max_components, max_named
        How many components and single pairs may be used.
    """
    block = _reader(p, pairs)
    largest = _check(p, block)
    best: tuple[np.ndarray, Named] | None = None
    for weights in _candidates(p, block, max_components):
        if best is not None and _cost(*best) <= len(weights) * p:
            break
        named = _left_over(p, block, weights, TOLERANCE * largest, max_named)
        if named is not None and (best is None or _cost(weights, named) < _cost(*best)):
            best = weights, named
    if best is None:
        raise ValueError(
            f"The variances of the {p * (p - 1) // 2} pairs of {p} variables are not a sum of at most"
            f" {max_components} products q_i q_j with at most {max_named} exceptions, so that a kernel for"
            " them would need about p² terms and cost as much as all pairs themselves. Give variances of"
            " product form, raise max_components or max_named_pairs, or keep fewer variables."
        )
    return best


def _cost(weights: np.ndarray, named: Named) -> int:
    """Numbers to go through for one entry of a Gram matrix."""
    return weights.size + len(named)


def _reader(p: int, pairs: Pairs) -> Block:
    if callable(pairs):

        def block(i: np.ndarray, j: np.ndarray) -> np.ndarray:
            values = np.asarray(pairs(i[:, None], j[None]), dtype=float)
            return np.broadcast_to(values, (len(i), len(j)))

        return block
    if np.shape(pairs) not in {(), (p, p)}:
        raise ValueError(
            f"The variances of the pairs have shape {np.shape(pairs)}; expected a number or ({p}, {p})."
        )
    V = np.broadcast_to(np.asarray(pairs, dtype=float), (p, p))
    return lambda i, j: V[np.ix_(i, j)]


def _strips(p: int) -> Iterator[np.ndarray]:
    return (np.arange(start, min(start + ROWS, p)) for start in range(0, p, ROWS))


def _check(p: int, block: Block) -> float:
    """Refuse what is not a symmetric matrix of variances; give the largest."""
    largest = 0.0
    for i in _strips(p):
        for j in (strip for strip in _strips(p) if strip[0] >= i[0]):
            off = i[:, None] != j
            V, V_T = np.where(off, block(i, j), 0.0), np.where(off, block(j, i).T, 0.0)
            if not np.all(np.isfinite(V) & (V >= 0)):
                raise ValueError("The variances of the pairs must be finite numbers ≥ 0.")
            if not np.allclose(V, V_T, rtol=TOLERANCE, atol=0):
                raise ValueError("The variances of the pairs must be symmetric: V[i, j] = V[j, i].")
            largest = max(largest, float(V.max(initial=0.0)))
    return largest


def _left_over(p: int, block: Block, weights: np.ndarray, tolerance: float, most: int) -> Named | None:
    """The pairs that the components do not give, or None where there are too many."""
    named: Named = {}
    everything = np.arange(p)
    for index in _strips(p):
        difference = block(index, everything) - 2.0 * weights[:, index].T @ weights
        above = everything[None] > index[:, None]
        found = np.argwhere((np.abs(difference) > tolerance) & above)
        if len(named) + len(found) > most:
            return None
        named |= {(int(index[a]), int(b)): float(difference[a, b]) for a, b in found}
    return named


def _candidates(p: int, block: Block, max_components: int) -> Iterator[np.ndarray]:
    yield np.zeros((0, p))
    if p < 2:
        return
    random = np.random.default_rng(0)
    if max_components and p == 2:
        yield np.full((1, 2), np.sqrt(block(np.array([0]), np.array([1]))[0, 0] / 2.0))
    if max_components and p > 2:
        for _ in range(4 * TRIES):
            anchors = random.choice(p, 3, replace=False)
            V = block(anchors, anchors)
            if min(V[0, 1], V[0, 2], V[1, 2]) > 0:
                # V_ia = u_i u_a gives u_i, for every i but the anchor a itself.
                u_a = np.sqrt(V[0, 1] * V[0, 2] / V[1, 2])
                u = block(anchors[:1], np.arange(p))[0] / u_a
                u[anchors[0]] = u_a
                yield u[None] / np.sqrt(2.0)
    for components in range(2, max_components + 1):
        for _ in range(TRIES):
            yield _fit(p, block, components, random)


def _fit(p: int, block: Block, components: int, random: np.random.Generator) -> Float[np.ndarray, "m p"]:
    """Non-negative weights by least squares on some variables, then for each of the others."""
    some = random.choice(p, min(p, 6 * components + 4), replace=False)
    V = block(some, some)
    above = np.triu_indices(len(some), 1)

    def residuals(flat: np.ndarray) -> np.ndarray:
        q = flat.reshape(components, -1)
        return 2.0 * (q[:, above[0]] * q[:, above[1]]).sum(axis=0) - V[above]

    def jacobian(flat: np.ndarray) -> np.ndarray:
        q = flat.reshape(components, -1)
        J = np.zeros((above[0].size, components, len(some)))
        each = np.arange(above[0].size)
        for m in range(components):
            J[each, m, above[0]] += 2.0 * q[m, above[1]]
            J[each, m, above[1]] += 2.0 * q[m, above[0]]
        return J.reshape(above[0].size, -1)

    typical = np.sqrt(np.mean(V[above]) / 2.0) if above[0].size else 0.0
    start = typical * random.exponential(size=components * len(some)) + 1e-12
    fit = least_squares(
        residuals, start, jacobian, bounds=(0, np.inf), xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=100
    )
    q = fit.x.reshape(components, -1)
    q[q < 1e-7 * q.max()] = 0.0
    weights = np.zeros((components, p))
    weights[:, some] = q
    for index in _strips(p):
        known = block(index, some)
        for i in np.flatnonzero(~np.isin(index, some)):
            weights[:, index[i]] = nnls(2.0 * q.T, known[i])[0]
    return weights
