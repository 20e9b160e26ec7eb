"""Data as they might have been: draws of the whole response from the posterior predictive distribution."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from interplay.model.kernelspace import KernelSpace
from interplay.model.terms import column_products
from interplay.model.variances import Variances
from interplay.model.weightspace import WeightSpace
from interplay.precision import double_precision
from interplay.results.fit import Fit


@double_precision
def replicates(fit: Fit, size: int, random: np.random.Generator) -> Float[np.ndarray, "size n"]:
    """Replicates of the response at the rows of the data, in its own units.

    All rows of a replicate are drawn together: they share the hyperparameters and the regression function. In
    kernel space, with D = σ²I the noise and A = K + D,

        f | y ~ N(y − Dα, D − D A⁻¹ D),    so    y_rep | y ~ N(y − Dα, 2D − D A⁻¹ D).

    Parameters
    ----------
    fit
        The fit.
    size
        How many.
    random
        Where chance comes from.
    """
    conditional, design = fit.conditional, fit.design
    component = random.integers(len(conditional.sigma), size=size)
    noise = random.standard_normal((size, 2, design.n))
    root = np.ones(design.n) if design.weights is None else np.sqrt(design.weights)
    sigma = jnp.asarray(conditional.sigma)
    engine: Any = conditional.engine
    found = []
    for s, z in zip(component, noise, strict=True):
        draw = jax.tree.map(lambda leaf, at=s: leaf[at], conditional.variances)
        if isinstance(engine, KernelSpace):
            found.append(np.asarray(_kernel(engine, draw, sigma[s], z[0])) / root)
        else:
            coefficients = jnp.asarray(random.standard_normal(engine.monomials.square.shape))
            f = _weights(engine, draw, sigma[s], jnp.asarray(design.X), coefficients)
            found.append(np.asarray(f) + float(sigma[s]) * z[1] / root)
    return design.response_centre + design.response_scale * np.array(found)


@jax.jit
def _kernel(
    engine: KernelSpace, variances: Variances, sigma: Float[Array, ""], z: Float[Array, " n"]
) -> Float[Array, " n"]:
    """A replicate of the response times the root weights."""
    factor = engine.factorise(variances, sigma)
    identity = jnp.eye(z.size)
    inverse = jax.scipy.linalg.cho_solve((factor.lower, True), identity)
    spread = jnp.linalg.cholesky(2.0 * sigma**2 * identity - sigma**4 * inverse)
    return engine.y - sigma**2 * factor.alpha + spread @ z


@jax.jit
def _weights(
    engine: WeightSpace,
    variances: Variances,
    sigma: Float[Array, ""],
    X: Float[Array, "n d"],
    z: Float[Array, " D"],
) -> Float[Array, " n"]:
    """The regression function at the rows, from a draw of its coefficients."""
    factor = engine.factorise(variances, sigma)
    return column_products(X, engine.monomials) @ (factor.mean + factor.root @ z)
