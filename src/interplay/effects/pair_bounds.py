"""Bounds on the interactions of all pairs that need no posterior, and are never too low."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from interplay.effects.conditional import Conditional
from interplay.model.terms import Terms, marginal_prior, term_features
from interplay.model.variances import mean_pair_squares, mean_pair_variances


@dataclass(frozen=True, eq=False)
class PairBounds:
    """A stack of draws in kernel space, from which all pairs are bounded.

    With φ the feature of a pair on the rows, S its prior variance in a draw, V = diag(v/w) the noise and
    α = (K + V)⁻¹ z, its mean given the draw is S φᵀα. Its variance is S − S² φᵀ(K + V)⁻¹φ, as K ⪰ S φφᵀ at
    least S / (1 + S φᵀV⁻¹φ).

    Parameters
    ----------
    X
        Design matrix, (n, d).
    conditional
        The draws.
    """

    X: Float[np.ndarray, "n d"]
    conditional: Conditional

    def bounds(
        self, left: Int[np.ndarray, " a"], right: Int[np.ndarray, " b"]
    ) -> tuple[Float[np.ndarray, "a b"], Float[np.ndarray, "a b"]]:
        """No less than |mean| and |mean|/sd of each pair of a column on the left and one on the right.

        Let N = Σ_i w_i φ_i², with w_i the largest weight of the row over the draws, and a² = Σ_i α_i²/w_i of
        a draw. By Cauchy and Schwarz, |φᵀα| ≤ √N a. With E the mean over the draws and u = S / (1 + S N/v)
        the lower bound of the variance, S² = u S (1 + S N/v), so that

            (E S a)² ≤ E u · E[a² S (1 + S N/v)]

        and mean² / sd² ≤ N E[a² S] + N² E[a² S²/v]: products of columns, as S is one.
        """
        variances, owner = self.conditional.variances, self.conditional.engine.layout.owner
        norm = (self._weighted_effects[:, left] ** 2).T @ self._effects[:, right] ** 2
        owners = owner[left], owner[right]
        a, v = self._lengths, self._variance
        mean = mean_pair_variances(variances, *owners, a)
        first = mean_pair_variances(variances, *owners, a**2)
        second = mean_pair_squares(variances, *owners, a**2 / v)
        # Where variances cancel, rounding may leave less than nothing.
        return np.sqrt(norm) * np.abs(mean), np.sqrt(norm * (np.abs(first) + norm * second))

    def moments(
        self, pairs: Int[np.ndarray, "t 2"]
    ) -> tuple[Float[np.ndarray, " t"], Float[np.ndarray, " t"]]:
        """Mean of each pair over the draws, and no more than its standard deviation, in O(n) a draw."""
        layout = self.conditional.engine.layout
        terms = Terms(np.sort(pairs, axis=1).astype(np.intp), np.zeros(len(pairs), dtype=bool))
        features = term_features(self.X, layout, terms)
        S = marginal_prior(self.conditional.variances, layout, terms)
        means = S * (self.conditional.duals @ features)
        least = S / (1.0 + S * self._information(features**2))
        return means.mean(axis=0), np.sqrt(least.mean(axis=0) + means.var(axis=0))

    def _information(self, squares: Float[np.ndarray, "n t"]) -> Float[np.ndarray, "s t"]:
        """φᵀV⁻¹φ of each draw."""
        if self._common_weights:
            return (self.conditional.working[0].weights @ squares) / self._variance[:, None]
        return np.stack([w.weights for w in self.conditional.working]) @ squares / self._variance[:, None]

    @cached_property
    def _common_weights(self) -> bool:
        first = self.conditional.working[0].weights
        return all(working.weights is first for working in self.conditional.working)

    @cached_property
    def _effects(self) -> Float[np.ndarray, "n d"]:
        return self.X * self.conditional.engine.layout.effect_scale

    @cached_property
    def _weighted_effects(self) -> Float[np.ndarray, "n d"]:
        """The effects' columns times root weights: the largest of each row over the draws."""
        weights = self.conditional.working[0].weights
        for working in self.conditional.working:
            if working.weights is not weights:
                weights = np.maximum(weights, working.weights)
        return self._effects * np.sqrt(weights)[:, None]

    @cached_property
    def _lengths(self) -> Float[np.ndarray, " s"]:
        """√Σ α_i²/w_i of each draw."""
        rows = zip(self.conditional.duals, self.conditional.working, strict=True)
        return np.array([np.sqrt(np.sum(alpha**2 / working.weights)) for alpha, working in rows])

    @cached_property
    def _variance(self) -> Float[np.ndarray, " s"]:
        return np.array([working.variance for working in self.conditional.working])
