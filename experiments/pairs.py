"""All pairs at once: their posterior means, and which of them a rule could select."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr
from jaxtyping import Array, Float

from interplay.data.design import Design
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture
from interplay.effects.selection import FDR_CAP
from interplay.model.kernelspace import KernelSpace, kernel_space
from interplay.model.terms import Term
from interplay.model.variances import Variances
from interplay.precision import double_precision


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of p numeric columns.

    Parameters
    ----------
    means
        Posterior mean of each pair on the standardised scale, (p, p), symmetric.
    terms, mixture
        Every pair whose local false sign rate is at most a cap, and possibly others; and their posteriors.
        With a cap of 0.1 or more, no other pair can be selected by the rules "lfsr" with q ≤ 0.1 and "fdr".
    """

    means: Float[np.ndarray, "p p"]
    terms: list[Term]
    mixture: Mixture


@double_precision
def all_pairs(design: Design, conditional: Conditional, *, cap: float = FDR_CAP) -> Pairs:
    """Go over all pairs in every draw, in O(p²) memory, then answer exactly for those that could matter.

    The conditional sd is at least σ √(S_ij / (σ² + S_ij ‖φ_ij‖²)), so with m its conditional mean
    P(θ_ij < 0) ≥ Φ(−m / that) where m > 0, and ≥ ½ elsewhere: no factor of the kernel is needed for each
    pair, and no pair that is passed over has an lfsr up to the cap.
    """
    sigma = jnp.asarray(conditional.sigma)
    means, least_lfsr = _pass_over(kernel_space(design), conditional.variances, sigma)
    i, j = np.nonzero(np.triu(np.asarray(least_lfsr) <= cap, k=1))
    terms: list[Term] = [(int(a), int(b)) for a, b in zip(i, j, strict=True)]
    return Pairs(np.asarray(means), terms, Mixture(*conditional.effects(terms)))


@jax.jit
def _pass_over(
    space: KernelSpace, variances: Variances, sigma: Float[Array, " s"]
) -> tuple[Float[Array, "p p"], Float[Array, "p p"]]:
    """Mean over the draws, and a lower bound on the local false sign rate."""
    X = space.X
    norms = (X**2).T @ X**2

    def add(
        totals: tuple[Array, Array, Array], draw: tuple[Variances, Array]
    ) -> tuple[tuple[Array, Array, Array], None]:
        variance, noise = draw
        # SKIM has no pairs with a variance of their own.
        prior = jnp.einsum("m,ma,mb->ab", variance.orders[:, 1], variance.weights, variance.weights)
        mean = prior * ((X * space.factorise(variance, noise).alpha[:, None]).T @ X)
        least_sd = jnp.sqrt(prior * noise**2 / (noise**2 + prior * norms))
        tail = ndtr(-jnp.abs(mean) / jnp.where(least_sd > 0, least_sd, 1.0))
        below, above = (jnp.where(side > 0, tail, 0.5) for side in (mean, -mean))
        return (totals[0] + mean, totals[1] + below, totals[2] + above), None

    zero = jnp.zeros(norms.shape)
    (first, below, above), _ = jax.lax.scan(add, (zero, zero, zero), (variances, sigma))
    return first / sigma.size, jnp.minimum(below, above) / sigma.size
