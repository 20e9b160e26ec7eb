"""How much of the response's variance each kind of effect makes up."""

import numpy as np
from jaxtyping import Float

from interplay.data.design import Design
from interplay.effects.conditional import Conditional
from interplay.model.engines.base import ConditionalPosterior
from interplay.model.terms import as_arrays, mains, quadratics


def variance_shares(
    conditional: Conditional, design: Design, noise: Float[np.ndarray, " s"], *, quadratic: bool
) -> Float[np.ndarray, "s 4"]:
    """Shares of main effects, quadratic effects, interactions and noise in each draw, adding up to one.

        share of a part = cov(f_part, f) / (var f + σ²),    f = f_main + f_quadratic + f_interaction

    with f the conditional mean at the data, and variances over its rows, by weight. The first two parts are
    known from their O(p) coefficients; what they leave of f is all interactions, so that none of the p²
    is computed.

    Parameters
    ----------
    conditional
        Posterior given the draws.
    design
        The data.
    noise
        Variance σ² of an observation of weight one given the linear predictor, in each draw.
    quadratic
        Whether the prior has quadratic effects.
    """
    share = design.row_weights / design.row_weights.sum()
    main, square = as_arrays(mains(design)), as_arrays(quadratics(design) if quadratic else [])

    def covariances(posterior: ConditionalPosterior) -> Float[np.ndarray, " 3"]:
        """Covariance of each part of f with the whole, over the rows."""
        whole, first, second = posterior.fitted(), posterior.fitted_by(main), posterior.fitted_by(square)
        parts = np.stack([first, second, whole - first - second])
        return parts @ (share * (whole - share @ whole))

    undefined = np.full(3, np.nan)
    parts = [undefined if part is None else part for part in conditional.over_draws(covariances)]
    total = np.column_stack([np.stack(parts), noise])
    return total / total.sum(axis=1, keepdims=True)
