"""The paper's synthetic protocols (Section 7), with their true terms."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from interplay.data.checks import NEGLIGIBLE, check_finite, moments, refuse_missing
from interplay.data.errors import DataError
from interplay.data.table import read

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class Simulation:
    """Covariates, a response made from them, and what it was made of.

    Parameters
    ----------
    X
        Covariates.
    y
        Response.
    names
        Names of the covariates.
    effects
        True effects on the scale of X: `(i,)` for a main effect, `(i, j)` with i < j for a pair. All other
        effects are zero.
    noise_sd
        Standard deviation of the noise.
    seed
        The seed that it was drawn with.
    """

    X: Float[np.ndarray, "n p"]
    y: Float[np.ndarray, " n"]
    names: tuple[str, ...]
    effects: dict[tuple[int, ...], float]
    noise_sd: float
    seed: int

    @property
    def terms(self) -> dict[str, float]:
        """True effects by label: `x3`, `x3:x7`."""
        return {":".join(self.names[i] for i in term): effect for term, effect in self.effects.items()}

    @property
    def mains(self) -> list[str]:
        """Labels of the true main effects."""
        return [self.names[term[0]] for term in self.effects if len(term) == 1]

    @property
    def pairs(self) -> list[str]:
        """Labels of the true pairs."""
        return [":".join(self.names[i] for i in term) for term in self.effects if len(term) == 2]

    def frame(self, response: str = "y") -> "pandas.DataFrame":
        """Give covariates and response as one pandas frame, the response last and under this name."""
        import pandas

        if response in self.names:
            raise DataError(
                f"'{response}' is a covariate: expected another name for the response. "
                "Pass frame(response=...)."
            )
        return pandas.DataFrame(np.column_stack([self.X, self.y]), columns=[*self.names, response])


def synthetic(
    n: int,
    p: int,
    scale: float | int = 2.0,
    *,
    active: int = 5,
    effect: float | int = 1.0,
    pair_effect: float | int | None = None,
    pairs: bool = True,
    noise_variance: float | int = 25.0,
    correlation: float | int = 0.0,
    seed: int = 0,
) -> Simulation:
    """Draw normal covariates and a response of a few of them and all their pairs.

    X ~ N(0, λ² ((1 - ρ) I + ρ 11ᵀ)), y = Σ θ_i x_i + Σ θ_ij x_i x_j + N(0, σ²).

    Parameters
    ----------
    n, p
        Rows and covariates. The paper has n = 50, 100, 200 and p = 50, 100, 200, 500.
    scale
        The paper's λ: 1, 2 or 5. The larger, the stronger the signal.
    active
        How many covariates act.
    effect
        Their main effects.
    pair_effect
        The effects of their pairs; as `effect` when None.
    pairs
        Whether their pairs act at all.
    noise_variance
        The paper's σ².
    correlation
        ρ, the correlation between any two covariates; 0 in the paper.
    seed
        Same seed, same data.
    """
    _check_positive(n=n, p=p, scale=scale)
    if not 0 <= correlation < 1:
        raise DataError(f"got correlation={correlation}: expected 0 <= correlation < 1. Choose such a value.")
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p))
    if correlation > 0:
        common = generator.standard_normal((n, 1))
        X = np.sqrt(1 - correlation) * X + np.sqrt(correlation) * common
    X *= scale
    chosen = _choose(generator, np.arange(p), active)
    effects = _effects(chosen, effect, pair_effect, pairs)
    names = tuple(f"x{i}" for i in range(p))
    return _respond(generator, X, names, effects, noise_variance, seed)


def real_covariates(
    X: Any,
    names: Collection[str] | None = None,
    *,
    active: int = 5,
    effect: float | int = 1.0,
    pair_effect: float | int | None = None,
    pairs: bool = True,
    noise_variance: float | int = 25.0,
    standardize: bool = False,
    seed: int = 0,
) -> Simulation:
    """Draw a response of a few given covariates and all their pairs.

    The paper does so with the Residential Building data, whose covariates are highly correlated. Only
    covariates that vary are chosen to act.

    Parameters
    ----------
    X
        Covariates: numbers, in any form that `interplay.data.table.read` takes.
    names
        Names for the columns of an array.
    active, effect, pair_effect, pairs, noise_variance, seed
        As in `synthetic`.
    standardize
        Centre and scale the covariates first; the effects then are on that scale, and so is the X that is
        given back.
    """
    table = read(X, names=names)
    factors = [column.name for column in table.columns if column.kind == "categorical"]
    if factors:
        raise DataError(
            f"covariate '{factors[0]}' is a factor: expected numbers. Leave out or recode {factors!r}."
        )
    refuse_missing(table.columns, table.file, "Leave these rows out, or fill the gaps first.")
    check_finite(table.columns, table.file)
    matrix = np.column_stack([column.values for column in table.columns])
    centres, scales = moments(matrix)
    varies = scales > NEGLIGIBLE * np.abs(centres)
    if standardize:
        matrix = (matrix - centres) / np.where(varies, scales, 1.0)
    generator = np.random.default_rng(seed)
    chosen = _choose(generator, np.flatnonzero(varies), active)
    effects = _effects(chosen, effect, pair_effect, pairs)
    return _respond(generator, matrix, table.names, effects, noise_variance, seed)


def _choose(
    generator: np.random.Generator, candidates: Int[np.ndarray, " k"], active: int
) -> Int[np.ndarray, " a"]:
    if not 0 <= active <= len(candidates):
        raise DataError(
            f"got active={active}: expected between 0 and the {len(candidates)} covariates that vary. "
            "Choose fewer, or give more covariates."
        )
    return np.sort(generator.choice(candidates, active, replace=False))


def _effects(
    chosen: Int[np.ndarray, " a"], effect: float | int, pair_effect: float | int | None, pairs: bool
) -> dict[tuple[int, ...], float]:
    indices = [int(i) for i in chosen]
    effects: dict[tuple[int, ...], float] = {(i,): float(effect) for i in indices}
    if pairs:
        value = float(effect if pair_effect is None else pair_effect)
        effects |= dict.fromkeys(combinations(indices, 2), value)
    return effects


def _respond(
    generator: np.random.Generator,
    X: Float[np.ndarray, "n p"],
    names: tuple[str, ...],
    effects: dict[tuple[int, ...], float],
    noise_variance: float | int,
    seed: int,
) -> Simulation:
    if noise_variance < 0:
        raise DataError(f"got noise_variance={noise_variance}: expected 0 or more. Choose such a value.")
    noise_sd = float(np.sqrt(noise_variance))
    y = noise_sd * generator.standard_normal(len(X))
    for term, effect in effects.items():
        y += effect * X[:, list(term)].prod(axis=1)
    return Simulation(X, y, names, effects, noise_sd, seed)


def _check_positive(**values: float | int) -> None:
    for name, value in values.items():
        if not value > 0:
            raise DataError(f"got {name}={value}: expected a positive number. Choose a larger value.")
