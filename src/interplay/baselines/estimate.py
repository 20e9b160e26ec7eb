"""Estimate: one number for each effect, without a posterior."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from jaxtyping import Float

from interplay.baselines.explicit import effect_directions, with_levels
from interplay.data.design import Design
from interplay.data.errors import DataError
from interplay.model.terms import Term
from interplay.results.tables import estimate_table


@dataclass(frozen=True, eq=False)
class Estimate:
    """A fitted function of the columns of a design: Σ θ_E ∏_{i in E} x_i over its terms E.

    Parameters
    ----------
    terms
        The terms of the function, the intercept () among them. All others have a coefficient of zero.
    coefficients
        Of the terms, on the scale of the design. For a level of a factor this is the coefficient of its
        column: the effect of the level is the inner product of the factor's coefficients with its row.
    fitted
        What the solver itself gives for the rows of the design.
    penalty
        The weight of the penalty that cross-validation chose, on the solver's scale; of a best subset, its
        number of terms.
    """

    terms: tuple[Term, ...]
    coefficients: Float[np.ndarray, " t"]
    fitted: Float[np.ndarray, " n"]
    penalty: float

    @property
    def effects(self) -> dict[Term, float]:
        """Coefficients by term."""
        return dict(zip(self.terms, self.coefficients.tolist(), strict=True))

    @property
    def selected(self) -> tuple[Term, ...]:
        """Every term with a coefficient, but for the intercept."""
        return tuple(term for term, value in self.effects.items() if term and value != 0.0)

    def predict(self, X: Float[np.ndarray, "m d"]) -> Float[np.ndarray, " m"]:
        """The function at the rows of X, which are coded as those of the design."""
        total = np.zeros(len(X))
        for term, value in self.effects.items():
            total += value * X[:, list(term)].prod(axis=1)
        return total

    def raw(self, design: Design) -> dict[Term, float]:
        """Coefficients by term of the same function written in the columns and the response as they came.

        ∏ (x_i − c_i) / s_i is multiplied out, so a pair has a share in the coefficients of its two columns
        and in the intercept.
        """
        found: dict[Term, float] = {(): design.response_centre}
        for term, value in self.effects.items():
            scaled = value * design.response_scale / float(np.prod(design.scales[list(term)], initial=1.0))
            for order in range(len(term) + 1):
                for kept in combinations(range(len(term)), order):
                    others = [column for place, column in enumerate(term) if place not in kept]
                    share = scaled * float(np.prod(-design.centres[others], initial=1.0))
                    key = tuple(term[place] for place in kept)
                    found[key] = found.get(key, 0.0) + share
        return found

    def table(self, design: Design) -> pd.DataFrame:
        """The effect table, without the intercept; see `interplay.results.tables.estimate_table`."""
        terms = with_levels(design, [term for term in self.terms if term])
        effects = effect_directions(design, terms, self.terms) @ self.coefficients
        return estimate_table(design, terms, effects)


def check_folds(design: Design, folds: int) -> None:
    """Refuse cross-validation with fewer than two folds, or with fewer rows than folds."""
    if not 2 <= folds <= design.n:
        raise DataError(
            f"folds={folds} for {design.n} rows: expected a number from 2 to {design.n}. "
            "Choose another, or bring more rows."
        )
