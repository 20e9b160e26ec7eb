"""Random small problems: designs with factors, and hyperparameters over many orders of magnitude."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from interplay.data.design import Design, design
from interplay.model.variances import Crossed, Symmetric, Variances


def make_design(seed: int, n: int, numbers: int, factors: list[int], binaries: int = 0) -> Design:
    """A design with numeric columns, two-valued columns and factors of the given numbers of levels."""
    random = np.random.default_rng(seed)
    columns: dict[str, np.ndarray] = {f"x{i}": random.normal(size=n) for i in range(numbers)}
    columns |= {f"b{i}": random.permutation(np.arange(n) % 2) for i in range(binaries)}
    for i, levels in enumerate(factors):
        names = np.array([f"level {k}" for k in range(levels)])
        columns[f"f{i}"] = names[random.permutation(np.arange(n) % levels)]
    order = random.permutation(list(columns))
    frame = pd.DataFrame({name: columns[name] for name in order})
    return design(frame, random.normal(size=n))


def make_variances(
    seed: int,
    p: int,
    degree: int,
    components: int = 1,
    pairs: int = 0,
    extra: bool = False,
    spread: float = 2.0,
    crossed: int = 0,
    subsets: bool = False,
) -> Variances:
    """Prior variances of every form, spread over orders of magnitude."""
    random = np.random.default_rng(seed)

    def positive(*shape: int) -> np.ndarray:
        return np.asarray(np.exp(spread * random.normal(size=shape)))

    def subset() -> np.ndarray | None:
        count = int(random.integers(1, p + 1)) if subsets else p
        return np.sort(random.permutation(p)[:count]) if subsets else None

    chosen = [(i, j) for i in range(p) for j in range(i + 1, p)]
    named = tuple(chosen[k] for k in sorted(random.permutation(len(chosen))[:pairs]))
    intercept, weights, orders = positive(), positive(components, p), positive(components, degree)
    squares = positive(components)
    variances = Variances(
        intercept=intercept,
        symmetric=tuple(Symmetric(weights[m], orders[m], np.asarray(squares[m])) for m in range(components)),
        mains=positive(p) if extra else None,
        quadratics=positive(p) if extra else None,
        nu=positive(len(named)) if named else None,
        pairs=named,
        p=p,
    )
    if subsets:
        sets = [subset() for _ in variances.symmetric]
        parts = zip(variances.symmetric, sets, strict=True)
        variances = replace(
            variances,
            symmetric=tuple(replace(c, weights=c.weights[g], variables=g) for c, g in parts),
        )
    sides = [(subset(), subset()) for _ in range(crossed)]
    size = [[p if g is None else g.size for g in pair] for pair in sides]
    crosses = tuple(
        Crossed(positive(k), positive(m), positive(), *pair) for (k, m), pair in zip(size, sides, strict=True)
    )
    return replace(variances, crossed=crosses)


def stacked(draws: list[Variances]) -> Variances:
    """Several draws as one record, whose arrays have the draws as their first axis."""
    together = zip(*(arrays_of(draw) for draw in draws), strict=True)
    return mapped(draws[0], lambda _: np.stack(next(together)))


def ravel(variances: Variances) -> tuple[np.ndarray, Callable[[np.ndarray], Variances]]:
    """All numbers of prior variances as one vector, and the way back."""

    def unravel(flat: np.ndarray) -> Variances:
        at = 0

        def take(array: np.ndarray) -> np.ndarray:
            nonlocal at
            at += array.size
            return np.asarray(flat[at - array.size : at]).reshape(array.shape)

        return mapped(variances, take)

    return np.concatenate([array.ravel() for array in arrays_of(variances)]), unravel


def arrays_of(variances: Variances) -> list[np.ndarray]:
    """The arrays of numbers in prior variances, in the order of their fields."""
    arrays: list[np.ndarray] = []
    mapped(variances, lambda array: arrays.append(array) or array)
    return arrays


def mapped(record: Any, function: Callable[[np.ndarray], np.ndarray]) -> Any:
    """Prior variances with a function applied to every array of numbers."""
    changes: dict[str, Any] = {}
    for entry in fields(record):
        value = getattr(record, entry.name)
        if value is None or entry.name in {"pairs", "p"} or entry.name.endswith("variables"):
            continue
        changes[entry.name] = (
            tuple(mapped(part, function) for part in value)
            if isinstance(value, tuple)
            else function(np.asarray(value))
        )
    return replace(record, **changes)


@dataclass(frozen=True)
class Problem:
    """Sizes and a seed, from which a problem is built inside a test."""

    seed: int
    n: int
    numbers: int
    factors: tuple[int, ...]
    binaries: int
    degree: int
    components: int
    pairs: int
    extra: bool
    spread: float
    sigma: float

    def build(self) -> tuple[Design, Variances, float]:
        """A design, prior variances and a noise standard deviation."""
        numbers = max(self.numbers, 0 if self.factors or self.binaries else 1)
        made = make_design(self.seed, self.n, numbers, list(self.factors), self.binaries)
        variances = make_variances(
            self.seed + 1, made.p, self.degree, self.components, self.pairs, self.extra, self.spread
        )
        return made, variances, self.sigma


def problems(max_degree: int = 4, max_rows: int = 12) -> st.SearchStrategy[Problem]:
    """Random small problems of every kind."""
    return st.builds(
        Problem,
        seed=st.integers(0, 2**31),
        n=st.integers(9, max_rows),
        numbers=st.integers(0, 4),
        factors=st.lists(st.integers(2, 4), max_size=2).map(tuple),
        binaries=st.integers(0, 1),
        degree=st.integers(2, max_degree),
        components=st.integers(1, 2),
        pairs=st.integers(0, 2),
        extra=st.booleans(),
        spread=st.sampled_from([0.5, 2.0, 4.0]),
        sigma=st.floats(-3.0, 3.0).map(np.exp).map(float),
    )
