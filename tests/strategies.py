"""Random small problems: designs with factors, and hyperparameters over many orders of magnitude."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import pandas as pd
from hypothesis import strategies as st

from interplay.data.design import Design, design
from interplay.model.variances import Variances


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
) -> Variances:
    """Prior variances of every form, spread over orders of magnitude."""
    random = np.random.default_rng(seed)

    def positive(*shape: int) -> np.ndarray:
        return np.exp(spread * random.normal(size=shape))

    chosen = [(i, j) for i in range(p) for j in range(i + 1, p)]
    named = tuple(chosen[k] for k in sorted(random.permutation(len(chosen))[:pairs]))
    return Variances(
        intercept=jnp.asarray(positive()),
        weights=jnp.asarray(positive(components, p)),
        orders=jnp.asarray(positive(components, degree)),
        squares=jnp.asarray(positive(components)),
        mains=jnp.asarray(positive(p)) if extra else None,
        quadratics=jnp.asarray(positive(p)) if extra else None,
        nu=jnp.asarray(positive(len(named))) if named else None,
        pairs=named,
    )


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
