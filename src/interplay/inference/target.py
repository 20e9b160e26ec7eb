"""What a sampler sees of a model: a log density of a vector, and quantities to watch."""

import math
from functools import cached_property
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int

from interplay.data.design import Design
from interplay.model.density import log_density
from interplay.model.marginal import engine
from interplay.model.priors.base import Hyperparameters, Number, Position, Prior
from interplay.model.terms import as_arrays, mains
from interplay.model.trees import Leaf, record
from interplay.precision import double_precision

TOLERANCE = 0.1
"""The most that the truncated product of squares may move the log density.

The bound is far from reached: over draws at (N, p) = (200, 200) and (200, 500) the change was lost in the
rounding of single precision, and a bound of 10⁻⁴ left out the truncation, and its gain, nine times of ten.
"""


class Watched(NamedTuple):
    """What is kept of one draw beside its position; the standard deviations are NaN where left out."""

    hyperparameters: Hyperparameters
    main_mean: Float[Array, " d"]
    main_sd: Float[Array, " d"]


@record("prior", "n", "p")
class Target:
    """A posterior over a vector of unconstrained hyperparameters.

    It is a tree of arrays, given to compiled functions as an argument: data of the same shape compile once.

    Parameters
    ----------
    engine
        The data, made ready.
    terms
        The main effect of every column.
    prior, n, p
        What is believed; rows, as they weigh, and variables of the data.
    """

    engine: Leaf
    terms: Leaf
    prior: Prior
    n: Number
    p: int

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each part of a position, in the order of the vector."""
        return self._shapes(self.p)

    @property
    def dimension(self) -> int:
        """Length of the vector."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    @cached_property
    def locals(self) -> Int[np.ndarray, " k"]:
        """Coordinates that belong to a variable each, such as log λ_i; the others are global."""
        parts, start = [], 0
        with_one_more = self._shapes(self.p + 1)
        for name, shape in self.shapes.items():
            size = math.prod(shape)
            if shape != with_one_more[name]:
                parts.append(np.arange(start, start + size))
            start += size
        return np.concatenate(parts) if parts else np.zeros(0, dtype=int)

    def _shapes(self, p: int) -> dict[str, tuple[int, ...]]:
        key = jax.random.key(0)
        position = jax.eval_shape(lambda: self.prior.sample(key, self.n, p))
        return {name: position[name].shape for name in sorted(position)}

    def unflatten(self, x: Float[Array, " D"]) -> Position:
        """The position that a vector stands for."""
        template = {name: jnp.zeros(shape) for name, shape in self.shapes.items()}
        return ravel_pytree(template)[1](x)

    @property
    def single(self) -> bool:
        """Whether a part of the density is computed in single precision."""
        return any(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(self.engine))

    @property
    def has_rough(self) -> bool:
        """Whether a rough density is cheaper than the density."""
        return self.engine.has_rough and self.prior.selects

    def log_density(self, x: Float[Array, " D"], *, rough: bool = False) -> Float[Array, ""]:
        """Unnormalised log posterior density of a vector, or something near it that is cheaper."""
        return log_density(self.prior, self.engine, self.n, self.p, rough=rough)(self.unflatten(x))

    def watch(self, x: Float[Array, " D"], spread: Bool[Array, ""]) -> Watched:
        """The paper's symbols, each main effect's conditional mean and, if asked, standard deviation.

        These take most of the time: O(n² p), where the means take O(n p) beside the factor.
        """
        hyperparameters = self.prior.constrain(self.unflatten(x), self.n, self.p)
        variances = self.prior.variances(hyperparameters, self.p)
        factor = self.engine.factorise(variances, hyperparameters["sigma"])

        mean, _ = self.engine.effects(factor, variances, self.terms)
        # As a branch of its own, what only the variance needs is computed where it is asked for.
        sd = jax.lax.cond(
            spread,
            lambda: jnp.sqrt(self.engine.effects(factor, variances, self.terms)[1]),
            lambda: jnp.full_like(mean, jnp.nan),
        )
        return Watched(hyperparameters, mean, sd)


@double_precision
def target(design: Design, prior: Prior, *, precision: str = "float32") -> Target:
    """Make a design and a prior ready for sampling.

    Parameters
    ----------
    design, prior
        The data and what is believed.
    precision
        Of the O(n² p) products. Single precision moves the log density by some 10⁻³, far below what a
        sampler notices, in half of the time; effects are later computed in double precision.
    """
    ready = engine(design, prior, precision=precision, tolerance=TOLERANCE)  # type: ignore[arg-type]
    return Target(ready, as_arrays(mains(design)), prior, design.total_weight, design.p)
