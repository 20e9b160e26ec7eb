"""The explicit features and prior variances that the paper's baselines need: all p² of them."""

import numpy as np
from jaxtyping import Float

from interplay.data.design import Design
from interplay.model.layout import layout
from interplay.model.terms import as_arrays, marginal_prior, monomials
from interplay.model.variances import Variances


def explicit(
    design: Design, variances: Variances, *, quadratic: bool = True
) -> tuple[Float[np.ndarray, "n D"], Float[np.ndarray, " D"]]:
    """The feature matrix Φ and the diagonal of Σ_τ."""
    terms = monomials(design, variances.degree, quadratic=quadratic)
    Phi = np.column_stack([np.prod(design.X[:, list(term)], axis=1) for term in terms])
    arrays = as_arrays(terms)
    return Phi, np.asarray(marginal_prior(variances, layout(design), arrays))
