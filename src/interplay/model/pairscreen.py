"""Bounds on the interactions of all pairs that need no posterior, and are never too low."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from interplay.model.layout import Layout
from interplay.model.terms import Terms, marginal_prior, term_features
from interplay.model.trees import Leaf, record
from interplay.model.variances import Variances, mean_pair_squares, mean_pair_variances

OverDraws = Callable[[Callable[[Any, Variances], Any]], Any]
"""Gives, for all draws, what a function of stacks of an engine's factors and of variances gives for some."""


@record()
class PairScreen:
    """A stack of draws in kernel space, made ready to pass over all pairs.

    With φ the feature of a pair on the rows, S its prior variance in a draw and α = (K + σ²I)⁻¹ y, its mean
    given the draw is S φᵀα, and its variance S − S² φᵀ(K + σ²I)⁻¹φ, as K ⪰ S φφᵀ, at least
    v = S σ² / (σ² + S ‖φ‖²).

    Parameters
    ----------
    X, root_weight
        Design matrix, (n, d); root weights of the rows, (n,).
    layout
        Which variable each column belongs to.
    variances, sigma, alpha
        Prior variances, noise and α of each draw; every array has the draws as its first axis.
    """

    X: Leaf
    root_weight: Leaf
    layout: Layout
    variances: Variances
    sigma: Leaf
    alpha: Leaf

    @jax.jit
    def bounds(
        self, left: Int[Array, " a"], right: Int[Array, " b"]
    ) -> tuple[Float[Array, "a b"], Float[Array, "a b"]]:
        """No less than |mean| and |mean|/sd of each pair of a column on the left and one on the right.

        By Cauchy and Schwarz, |φᵀα| ≤ ‖φ‖ ‖α‖, and with E the mean over the draws and S² = v S (1 + S‖φ‖²/σ²)

            (E S‖α‖)² ≤ E v · E[‖α‖² S (1 + S ‖φ‖²/σ²)]

        so that mean² / sd² ≤ ‖φ‖² E[‖α‖² S] + ‖φ‖⁴ E[‖α‖² S²/σ²]: products of columns, as S is one.
        """
        effects = self.X * self.layout.effect_scale
        norm = (effects[:, left] * self.root_weight[:, None]).T ** 2 @ effects[:, right] ** 2
        length = jnp.linalg.norm(self.alpha, axis=1)
        owners = self.layout.owner[left], self.layout.owner[right]
        mean = mean_pair_variances(self.variances, *owners, length)
        first = mean_pair_variances(self.variances, *owners, length**2)
        second = mean_pair_squares(self.variances, *owners, (length / self.sigma) ** 2)
        # Where variances cancel, rounding may leave less than nothing.
        return jnp.sqrt(norm) * jnp.abs(mean), jnp.sqrt(norm * (jnp.abs(first) + norm * second))

    @jax.jit
    def moments(self, pairs: Int[Array, "t 2"]) -> tuple[Float[Array, " t"], Float[Array, " t"]]:
        """Mean of each pair over the draws, and no more than its standard deviation, in O(n) a draw."""
        terms = Terms(pairs, jnp.zeros(len(pairs), dtype=bool))
        features = term_features(self.X, self.layout, terms) * self.root_weight[:, None]
        S = jax.vmap(lambda draw: marginal_prior(draw, self.layout, terms))(self.variances)
        means = S * (self.alpha @ features)
        noise = self.sigma[:, None] ** 2
        least = S * noise / (noise + S * jnp.sum(features**2, axis=0))
        return means.mean(axis=0), jnp.sqrt(least.mean(axis=0) + means.var(axis=0))
