"""The log density with its gradient: automatic differentiation, closed form, and the machine's limit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from benchmarks.formula import plain_log_likelihood
from benchmarks.problem import SIGMA, WEIGHTS, make_design, make_variances
from benchmarks.timing import Effort, Times, interleave
from interplay.data.design import Design
from interplay.model.kernelspace import KernelSpace, kernel_space
from interplay.model.variances import Variances
from interplay.precision import double_precision

ENGINES: dict[str, dict[str, Any]] = {
    "closed": {},
    "exact": {"tolerance": 0.0},
    "float32": {"precision": "float32"},
}
"""The forms of the closed form, and the arguments of `kernel_space` that make them."""

RATIOS = {
    "automatic / closed": ("automatic", "closed"),
    "automatic / exact": ("automatic", "exact"),
    "automatic / float32": ("automatic", "float32"),
    "closed / limit": ("closed", "limit"),
    "exact / limit": ("exact", "limit"),
    "float32 / its limit": ("float32", "limit32"),
}
"""The ratios of times that are shown."""


@dataclass(frozen=True)
class Ratio:
    """How many times longer one takes than the other, by medians and by least times."""

    median: float
    least: float


@dataclass(frozen=True)
class Gradient:
    """One size and kind of weights.

    Parameters
    ----------
    weights, n, p
        The kind of weights, rows and variables.
    times
        Of `automatic`, the forms of the closed form, `limit` and `limit32`, in milliseconds.
    value_shift, gradient_shift
        How far each closed form is from automatic differentiation, in the log density and, at most over
        the logarithms of weights and scales, in its gradient.
    truncated
        Whether the closed form left out columns of the product of squares.
    """

    weights: str
    n: int
    p: int
    times: dict[str, Times]
    value_shift: dict[str, float]
    gradient_shift: dict[str, float]
    truncated: bool

    @property
    def ratios(self) -> dict[str, Ratio]:
        """The ratios in `RATIOS`."""
        return {name: _ratio(self.times[over], self.times[under]) for name, (over, under) in RATIOS.items()}


@double_precision
def measure(sizes: Sequence[tuple[int, int]], effort: Effort, seed: int) -> list[Gradient]:
    """Time every size with every kind of weights."""
    found = [one for n, p in sizes for one in _measure(n, p, effort, seed)]
    return sorted(found, key=lambda one: list(WEIGHTS).index(one.weights))


def _measure(n: int, p: int, effort: Effort, seed: int) -> list[Gradient]:
    design = make_design(n, p, seed)
    evaluations, products = _evaluations(design), _products(design)
    found = []
    for kind in WEIGHTS:
        variances = make_variances(kind, n, p, seed)
        calls = {name: partial(evaluate, variances) for name, evaluate in evaluations.items()}
        times = interleave({**calls, **products}, effort)
        # One n × p × n product for K1 and one n × n × p for its gradient: 4n²p flops.
        times |= {"limit": 2.0 * times.pop("product"), "limit32": 2.0 * times.pop("product32")}
        found.append(_compare(kind, design, variances, times, {name: call() for name, call in calls.items()}))
    return found


def _compare(
    kind: str, design: Design, variances: Variances, times: dict[str, Times], values: dict[str, tuple]
) -> Gradient:
    value, gradient = values["automatic"]
    return Gradient(
        weights=kind,
        n=design.n,
        p=design.p,
        times=times,
        value_shift={name: abs(float(values[name][0] - value)) for name in ENGINES},
        gradient_shift={name: _distance(values[name][1], gradient, variances) for name in ENGINES},
        truncated=float(values["closed"][0]) != float(values["exact"][0]),
    )


def _evaluations(design: Design) -> dict[str, Callable[[Variances], tuple]]:
    X, y, sigma = jnp.asarray(design.X), jnp.asarray(design.y), jnp.asarray(SIGMA)
    F = X * X
    automatic = jax.jit(jax.value_and_grad(plain_log_likelihood, argnums=(3, 4)))
    closed = jax.jit(jax.value_and_grad(KernelSpace.log_likelihood, argnums=(1, 2)))
    spaces = {name: kernel_space(design, **arguments) for name, arguments in ENGINES.items()}
    evaluations = {name: lambda v, space=space: closed(space, v, sigma) for name, space in spaces.items()}
    return {"automatic": lambda v: automatic(X, F, y, v, sigma)} | evaluations


def _products(design: Design) -> dict[str, Callable[[], jax.Array]]:
    X, transposed = jnp.asarray(design.X), jnp.asarray(np.ascontiguousarray(design.X.T))
    single = X.astype(jnp.float32), transposed.astype(jnp.float32)
    product = jax.jit(jnp.matmul)
    return {"product": lambda: product(X, transposed), "product32": lambda: product(*single)}


def _distance(gradient: tuple, exact: tuple, variances: Variances) -> float:
    scale = ravel_pytree((variances, jnp.asarray(SIGMA)))[0]
    return float(jnp.max(jnp.abs(scale * (ravel_pytree(gradient)[0] - ravel_pytree(exact)[0]))))


def _ratio(over: Times, under: Times) -> Ratio:
    return Ratio(over.median / under.median, over.least / under.least)
