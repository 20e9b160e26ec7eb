"""Swaps of correlated neighbours: variables that could stand for each other, where each may be a mode."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float, Int

from interplay.data.design import Design
from interplay.inference.moves.base import ChainState, Move, Randomness, Tuning, WarmUp
from interplay.model.posterior import Posterior

LEAST_CORRELATION = 0.8
"""Variables are neighbours from this correlation on; below it, trajectories pass between the modes."""

MOST_NEIGHBOURS = 64
"""Neighbours of one variable that are kept, the most correlated."""

SHARPNESS = 16
"""Power of |correlation| that a neighbour is chosen by: of many it is mostly one from 0.9 on."""

PROPOSALS = 8
"""Proposals in an iteration; one where the density takes far longer than the surrogate."""

COLUMNS_AT_ONCE = 1024
"""Columns of the correlation matrix that are computed together."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """For each variable, the variables that are much correlated with it; the relation is symmetric.

    Parameters
    ----------
    others
        Neighbours of each variable, padded with itself, (p, k).
    log_weights
        16 log |r| of each, the same for both of a pair, padded with −∞, (p, k).
    log_totals
        Log of the sum of each variable's weights, −∞ where it has no neighbours, (p,).
    """

    others: Int[np.ndarray, "p k"]
    log_weights: Float[np.ndarray, "p k"]
    log_totals: Float[np.ndarray, " p"]

    def __bool__(self) -> bool:
        """Whether there are any."""
        return self.others.shape[1] > 0


def correlated_neighbours(design: Design) -> Neighbours:
    """Find the variables that are much correlated with another, in blocks of the correlation matrix."""
    centred = design.X - design.X.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    columns = (centred / np.where(norms > 0, norms, 1.0)).astype(np.float32)
    pairs: list[np.ndarray] = []
    for start in range(0, design.d, COLUMNS_AT_ONCE):
        correlation = np.abs(columns[:, start : start + COLUMNS_AT_ONCE].T @ columns)
        left, right = np.nonzero(correlation >= LEAST_CORRELATION)
        owners = design.owner[left + start], design.owner[right]
        pairs.append(np.column_stack([*owners, correlation[left, right]])[owners[0] != owners[1]])
    ranked: dict[int, dict[int, float]] = {}
    for i, j, r in np.concatenate(pairs):
        of_i = ranked.setdefault(int(i), {})
        of_i[int(j)] = max(of_i.get(int(j), 0.0), float(r))
    nearest = {i: set(sorted(of_i, key=lambda j: -of_i[j])[:MOST_NEIGHBOURS]) for i, of_i in ranked.items()}
    # Only where each is among the nearest of the other: the chance of a swap and of its reverse must match.
    mutual = {i: sorted(j for j in others if i in nearest[j]) for i, others in nearest.items()}
    width = max((len(others) for others in mutual.values()), default=0)
    table = np.repeat(np.arange(design.p)[:, None], width, axis=1)
    log_weights = np.full(table.shape, -np.inf)
    for i, others in mutual.items():
        table[i, : len(others)] = others
        # Rounding may give the two of a pair different correlations: take the one of the smaller index.
        log_weights[i, : len(others)] = np.log([ranked[min(i, j)][max(i, j)] for j in others])
    log_weights *= SHARPNESS
    totals = np.logaddexp.reduce(log_weights, axis=1, initial=-np.inf)
    return Neighbours(table, log_weights, totals)


@final
@dataclass(frozen=True, eq=False)
class Swap(Move):
    """Swap the local coordinates of two neighbours: one by its λ, the other by its weight.

    The prior is the same for all variables, so that only the likelihood tells the two positions apart. With
    S_i the sum of the weights of i's neighbours,

        log a = log π(x') − log π(x) + log (λ_j / S_i + λ_i / S_j) − log (λ_i / S_i + λ_j / S_j)

    Parameters
    ----------
    neighbours
        Which variables may be swapped.
    """

    neighbours: Neighbours

    @property
    def name(self) -> str:
        """Short name."""
        return "swap"

    @property
    def statistics(self) -> tuple[str, ...]:
        """Share of the proposals that were accepted."""
        return ("swap_acceptance",)

    def begin(self, posterior: Posterior, positions: Float[np.ndarray, "c D"]) -> Tuning:
        """There is nothing to learn."""
        return {}

    def step(
        self, posterior: Posterior, tuning: Tuning, state: ChainState, random: Randomness
    ) -> tuple[ChainState, dict[str, float]]:
        """Some proposals, each accepted by the rule of Metropolis and Hastings; they need no gradient."""
        count = 1 if posterior.engine.has_surrogate else PROPOSALS
        accepted = 0
        for _ in range(count):
            proposal, log_ratio = self.propose(posterior, state.position, random.own)
            value = posterior.log_density(proposal)
            if math.log(random.own.random()) < value - state.log_density + log_ratio:
                state = ChainState(proposal, value, state.auxiliary)
                accepted += 1
        return state, {"swap_acceptance": accepted / count}

    def propose(
        self, posterior: Posterior, x: Float[np.ndarray, " D"], random: np.random.Generator
    ) -> tuple[Float[np.ndarray, " D"], float]:
        """A position with two neighbours swapped, and the log chance of its reverse over its own chance."""
        near = self.neighbours
        coordinates = _by_variable(posterior)
        log_lam = np.where(np.isfinite(near.log_totals), x[coordinates[0]], -np.inf)
        i = _categorical(random, log_lam)
        j = int(near.others[i, _categorical(random, near.log_weights[i])])
        swapped = x.copy()
        swapped[coordinates[:, i]], swapped[coordinates[:, j]] = x[coordinates[:, j]], x[coordinates[:, i]]
        of_i, of_j = -near.log_totals[i], -near.log_totals[j]
        forward = np.logaddexp(log_lam[i] + of_i, log_lam[j] + of_j)
        reverse = np.logaddexp(log_lam[j] + of_i, log_lam[i] + of_j)
        return swapped, float(reverse - forward)

    def adapt(self, tuning: Tuning, posterior: Posterior, warm_up: WarmUp) -> Tuning:
        """There is nothing to learn."""
        return tuning

    def settle(self, tuning: Tuning) -> Tuning:
        """There is nothing to learn."""
        return tuning


def _by_variable(posterior: Posterior) -> Int[np.ndarray, "k p"]:
    """Local coordinates of each variable, one row for each block of the prior's."""
    blocks = posterior.prior.local_coordinates(posterior.p)
    start, rows = int(posterior.local[0]), []
    for variables in blocks.values():
        row = np.empty(posterior.p, dtype=np.intp)
        row[variables] = np.arange(start, start + variables.size)
        rows.append(row)
        start += variables.size
    return np.stack(rows)


def _categorical(random: np.random.Generator, log_weights: Float[np.ndarray, " k"]) -> int:
    """An index with chances in proportion to exp(log_weights), by the largest of Gumbel variables."""
    return int(np.argmax(log_weights + random.gumbel(size=log_weights.size)))
