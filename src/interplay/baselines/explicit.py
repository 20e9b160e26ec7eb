"""The explicit features and prior variances that the paper's baselines need: all p² of them."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from interplay.data.design import Design
from interplay.model.layout import layout
from interplay.model.terms import as_arrays, monomials
from interplay.model.variances import Variances, term_variances


def explicit(
    design: Design, variances: Variances, *, quadratic: bool = True
) -> tuple[Float[np.ndarray, "n D"], Float[np.ndarray, " D"]]:
    """The feature matrix Φ and the diagonal of Σ_τ."""
    terms = monomials(design, variances.degree, quadratic=quadratic)
    Phi = np.column_stack([np.prod(design.X[:, list(term)], axis=1) for term in terms])
    arrays = as_arrays(terms)
    owner = layout(design).owner
    variables = jnp.where(arrays.columns >= 0, owner[arrays.columns], -1)
    return Phi, np.asarray(term_variances(variances, variables, arrays.square))
