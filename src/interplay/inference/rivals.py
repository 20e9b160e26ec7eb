"""Variables that could stand for each other: where the posterior may have a mode for each of them."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from interplay.data.design import Design
from interplay.inference.target import Target
from interplay.model.trees import Leaf, record

LEAST_CORRELATION = 0.8
"""Variables are rivals from this correlation on; below it, trajectories pass from one mode to the other."""

MOST_RIVALS = 64
"""Rivals of one variable that are kept, the most correlated."""

SHARPNESS = 16
"""Power of |correlation| that a rival is chosen by: of many it is mostly one from 0.9 on."""

BLOCK = 1024


@record()
class Rivals:
    """For each variable, the variables that are much correlated with it; the relation is symmetric.

    Parameters
    ----------
    others
        Rivals of each variable, padded with itself, (p, k).
    log_weights
        16 log |r| of each, the same for both of a pair, padded with −∞, (p, k).
    log_totals
        Log of the sum of each variable's weights, −∞ where it has no rivals, (p,).
    """

    others: Leaf
    log_weights: Leaf
    log_totals: Leaf

    def __bool__(self) -> bool:
        """Whether there are any."""
        return self.others.shape[1] > 0


def rivals(design: Design) -> Rivals:
    """Find the variables that are much correlated with another, in blocks of the correlation matrix."""
    norms = np.linalg.norm(design.X - design.X.mean(axis=0), axis=0)
    columns = ((design.X - design.X.mean(axis=0)) / np.where(norms > 0, norms, 1.0)).astype(np.float32)
    pairs: list[np.ndarray] = []
    for start in range(0, design.d, BLOCK):
        correlation = np.abs(columns[:, start : start + BLOCK].T @ columns)
        left, right = np.nonzero(correlation >= LEAST_CORRELATION)
        owners = design.owner[left + start], design.owner[right]
        pairs.append(np.column_stack([*owners, correlation[left, right]])[owners[0] != owners[1]])
    ranked: dict[int, dict[int, float]] = {}
    for i, j, r in np.concatenate(pairs):
        of_i = ranked.setdefault(int(i), {})
        of_i[int(j)] = max(of_i.get(int(j), 0.0), r)
    nearest = {i: set(sorted(of_i, key=lambda j: -of_i[j])[:MOST_RIVALS]) for i, of_i in ranked.items()}
    # Only where each is among the nearest of the other: the chance of a swap and of its reverse must match.
    mutual = {i: sorted(j for j in others if i in nearest[j]) for i, others in nearest.items()}
    # One width wherever there are rivals, so that data of the same shape compile once.
    width = min(MOST_RIVALS, design.p - 1) if any(mutual.values()) else 0
    table = np.repeat(np.arange(design.p, dtype=np.int32)[:, None], width, axis=1)
    log_weights = np.full(table.shape, -np.inf)
    for i, others in mutual.items():
        table[i, : len(others)] = others
        # Of the two that rounding may tell apart, the same for both.
        log_weights[i, : len(others)] = np.log([ranked[min(i, j)][max(i, j)] for j in others])
    log_weights *= SHARPNESS
    totals = np.logaddexp.reduce(log_weights, axis=1, initial=-np.inf)
    return Rivals(jnp.asarray(table), jnp.asarray(log_weights), jnp.asarray(totals))


def propose_swap(
    rivals: Rivals, target: Target, x: Float[Array, " D"], key: Key[Array, ""]
) -> tuple[Float[Array, " D"], Float[Array, ""]]:
    """Swap the coordinates of two rivals, one of them chosen in proportion to its λ, the other to its weight.

    The prior is the same for all variables, so that only the likelihood tells the two positions apart.

    Returns
    -------
    tuple
        The proposal, and the log of the chance of its reverse over its own chance: with S_i the sum of the
        weights of i's rivals, (λ_j / S_i + λ_i / S_j) / (λ_i / S_i + λ_j / S_j).
    """
    for_first, for_second = jax.random.split(key)
    coordinates = _coordinates(target)
    log_lam = jnp.where(jnp.isfinite(rivals.log_totals), x[coordinates[0]], -jnp.inf)
    i = jax.random.categorical(for_first, log_lam)
    j = rivals.others[i, jax.random.categorical(for_second, rivals.log_weights[i])]
    swapped = (
        x.at[coordinates[:, i]].set(x[coordinates[:, j]]).at[coordinates[:, j]].set(x[coordinates[:, i]])
    )
    of_i, of_j = -rivals.log_totals[i], -rivals.log_totals[j]
    forward = jnp.logaddexp(log_lam[i] + of_i, log_lam[j] + of_j)
    reverse = jnp.logaddexp(log_lam[j] + of_i, log_lam[i] + of_j)
    return swapped, reverse - forward


def _coordinates(target: Target) -> Int[Array, "k p"]:
    return jnp.asarray(target.locals.reshape(-1, target.p))
