"""Prior and marginal likelihood together: the log density that a sampler sees."""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from interplay.model.marginal import Engine
from interplay.model.priors.base import Number, Position, Prior

T = TypeVar("T")


def log_density(
    prior: Prior, engine: Engine, n: Number, p: int, *, rough: bool = False
) -> Callable[[Position], Float[Array, ""]]:
    """The unnormalised log posterior of an unconstrained position.

    Where it is not a number, or its gradient is not, the density is −inf with a zero gradient, so that a
    sampler rejects instead of failing.

    Parameters
    ----------
    prior
        What is believed about the hyperparameters.
    engine
        The data, made ready by `engine`.
    n, p
        Rows (`Design.total_weight`) and variables of the data.
    rough
        Whether to take the engine's rough likelihood wherever that is near enough.
    """
    prior.check(p)
    if jnp.zeros(()).dtype != jnp.float64:
        raise RuntimeError(
            "The log density needs 64-bit arrays, and JAX makes 32-bit ones here. Build and use it inside"
            " `with jax.enable_x64(True):`."
        )

    def raw(position: Position, using: Engine) -> Float[Array, ""]:
        hyperparameters = prior.constrain(position, n, p)
        variances = prior.variances(hyperparameters, p)
        likelihood = using.log_likelihood(variances, hyperparameters["sigma"])
        return prior.log_density(position, n, p) + likelihood

    def apply(function: Callable[[Position, Engine], T], position: Position) -> T:
        if not rough:
            return function(position, engine)
        hyperparameters = prior.constrain(position, n, p)
        smaller, near = engine.rough(prior.variances(hyperparameters, p), hyperparameters["sigma"])
        return jax.lax.cond(near, lambda: function(position, smaller), lambda: function(position, engine))

    @jax.custom_vjp
    def logdensity_fn(position: Position) -> Float[Array, ""]:
        value = apply(raw, position)
        return jnp.where(jnp.isfinite(value), value, -jnp.inf)

    def forward(position: Position) -> tuple[Float[Array, ""], Position]:
        value, gradient = apply(jax.value_and_grad(raw), position)
        finite = jnp.isfinite(value)
        for leaf in jax.tree.leaves(gradient):
            finite &= jnp.all(jnp.isfinite(leaf))
        clean = jax.tree.map(lambda leaf: jnp.where(finite, leaf, 0.0), gradient)
        return jnp.where(finite, value, -jnp.inf), clean

    def backward(gradient: Position, cotangent: Float[Array, ""]) -> tuple[Position]:
        return (jax.tree.map(lambda leaf: cotangent * leaf, gradient),)

    logdensity_fn.defvjp(forward, backward)
    return logdensity_fn
