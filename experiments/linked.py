"""Simulated data whose columns are linked or nearly equal, or whose rows are many."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

Matrix = Float[np.ndarray, "n p"]


class Linked(NamedTuple):
    """Columns, a response, and the columns that act, where columns act at all."""

    X: Matrix
    y: Float[np.ndarray, " n"]
    active: Int[np.ndarray, " k"]


LINES, CHROMOSOMES, MARKERS = 158, 5, 23
"""Of a cross of inbred lines: rows, chromosomes, and markers of each."""

CROSSES = {"ril": (5.0, 9.0), "rilhard": (3.0, 40.0)}
"""Centimorgans between two markers, and variance of the signal beside that of the noise."""

FAR_FROM_ENDS = 3
"""Markers between a locus that acts and the end of its chromosome."""


def cross(kind: str, seed: int) -> Linked:
    """Recombinant inbred lines by selfing, with four loci that lie between two markers each.

    The map function is Haldane's, and R = 2r / (1 + 2r) the chance of recombination in the lines (Haldane and
    Waddington, 1931) from one locus to the next. No column acts: each locus is told by its neighbours alone.
    """
    random = np.random.default_rng(1000 + seed)
    distance, signal = CROSSES[kind]
    # Every second locus is a marker: from one locus to the next is half the distance of two markers.
    single = 0.5 * (1.0 - np.exp(-2.0 * (distance / 2.0) / 100.0))
    half = 2.0 * single / (1.0 + 2.0 * single)
    loci = 2 * MARKERS - 1
    flips = np.where(random.random((LINES, CHROMOSOMES, loci)) < half, -1.0, 1.0)
    flips[:, :, 0] = random.choice([-1.0, 1.0], (LINES, CHROMOSOMES))
    genotype = np.cumprod(flips, axis=2)
    places = 2 * random.integers(FAR_FROM_ENDS, MARKERS - FAR_FROM_ENDS, 4) + 1
    a, b, c, d = (genotype[:, chromosome, place] for chromosome, place in enumerate(places))
    if kind == "rilhard":
        mean = a + 0.8 * b + a * b + 0.5 * c + 0.5 * a * c
    else:
        mean = a + 0.8 * b + 0.8 * a * b + 0.35 * c + 0.3 * d
    y = mean + np.sqrt(mean.var() / signal) * random.standard_normal(LINES)
    return Linked(genotype[:, :, ::2].reshape(LINES, -1), y, np.zeros(0, dtype=int))


def autoregressive(seed: int, n: int = 300, p: int = 100, rho: float = 0.95) -> Linked:
    """Neighbours correlated by ρ; five columns far from each other act, with all their pairs."""
    random = np.random.default_rng(seed)
    X = neighbours(random, n, p, rho)
    active = np.linspace(8, p - 9, 5).astype(int)
    return Linked(X, _respond(X, active, 3.0, random), active)


def near_equal(seed: int, n: int = 300, blocks: int = 20, size: int = 5, r: float = 0.98) -> Linked:
    """Blocks of columns with correlation r; one column of each of five blocks acts, with all their pairs."""
    random = np.random.default_rng(seed)
    common = np.repeat(random.standard_normal((n, blocks)), size, axis=1)
    X = np.sqrt(r) * common + np.sqrt(1.0 - r) * random.standard_normal((n, blocks * size))
    chosen = np.sort(random.choice(blocks, 5, replace=False))
    active = size * chosen + random.integers(size, size=5)
    return Linked(X, _respond(X, active, 3.0, random), active)


def paper(seed: int, n: int, p: int, scale: float) -> Linked:
    """The paper's simulation, in which the first five columns act with all their pairs."""
    random = np.random.default_rng(seed)
    X = scale * random.standard_normal((n, p))
    active = np.arange(5)
    return Linked(X, _respond(X, active, 5.0, random), active)


MODERATE_MAINS, MODERATE_PAIRS = 20, 10
"""Of thirty moderate effects."""


def moderate(seed: int, n: int, p: int) -> Linked:
    """Thirty effects of 0.1 to 0.4 standard deviations of the noise, of columns whose neighbours correlate.

    Twenty columns have main effects, and ten pairs of them interact; neighbours correlate by 0.5.
    """
    random = np.random.default_rng(seed)
    X = neighbours(random, n, p, 0.5)
    active = np.sort(random.choice(p, MODERATE_MAINS, replace=False))
    pairs = random.permutation(active).reshape(MODERATE_PAIRS, 2)
    y = random.standard_normal(n) + X[:, active] @ _moderate(random, MODERATE_MAINS)
    y += (X[:, pairs[:, 0]] * X[:, pairs[:, 1]]) @ _moderate(random, MODERATE_PAIRS)
    return Linked(X, y, active)


def neighbours(random: np.random.Generator, n: int, p: int, rho: float) -> Matrix:
    """Standard normal columns, each correlated with the one before it by ρ."""
    X = random.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
    return X


LINKED = {
    "ril": lambda seed: cross("ril", seed),
    "rilhard": lambda seed: cross("rilhard", seed),
    "ar95": autoregressive,
    "blocks98": near_equal,
    "paper60": lambda seed: paper(seed, 60, 40, 2.0),
    "paper50": lambda seed: paper(seed, 50, 500, 5.0),
}
"""By kind of data."""


def _respond(
    X: Matrix, active: Int[np.ndarray, " k"], noise: float, random: np.random.Generator
) -> Float[np.ndarray, " n"]:
    columns = X[:, active]
    pairs = [columns[:, a] * columns[:, b] for a, b in combinations(range(len(active)), 2)]
    return columns.sum(axis=1) + np.sum(pairs, axis=0) + noise * random.standard_normal(len(X))


def _moderate(random: np.random.Generator, size: int) -> Float[np.ndarray, " k"]:
    return random.choice([-1.0, 1.0], size) * random.uniform(0.1, 0.4, size)
