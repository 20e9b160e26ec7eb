"""How long a fit will take and how much memory it needs, measured and counted before it starts.

Times are those of the processor, so that a machine that is busy now does not spoil the plan.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int

from interplay.data.design import Design
from interplay.inference.grow import CANDIDATES, width
from interplay.inference.kept import SPARSE
from interplay.inference.progress import duration
from interplay.inference.run import SINGLE_FROM
from interplay.inference.sample import MAX_DRAWS
from interplay.inference.sampler import Lockstep
from interplay.inference.start import SIZES, WALKERS, walk_length
from interplay.inference.target import Target, target
from interplay.inference.threads import SINGLE_THREAD, cores, workers
from interplay.inference.walk import least, slots, some_rows, walk
from interplay.model.priors.base import Prior
from interplay.precision import double_precision

GRADIENTS = (13_000, 40_000)
"""Gradients of all chains until they have converged, as seen in most fits; see `docs/sampler.md`."""

STEPS_A_DRAW = 6.0
"""Gradients that a draw takes, on average."""

KEEPING = 1.0
"""What is kept of a draw, its main effects above all, takes about so many gradients."""

COMPILED = (2.0, 7.0)
"""Time to compile a whole fit, in times of compiling one gradient, from and to."""

SCREEN = 1e-7
"""Seconds that the screen takes for a pair of columns, once."""

PROGRAM = 1e9
"""Bytes of the program itself: Python, JAX, its compiler, and compiled code."""

ENOUGH = 0.2
"""Seconds that are timed."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a fit will cost on this machine.

    Parameters
    ----------
    rows, variables
        Of the data.
    chains, threads
        Chains, and how many of them run at a time.
    gradient
        Seconds of one gradient of the log density, while all threads are busy.
    seconds
        Wall time of most fits, from and to, if nothing else keeps the machine busy.
    most_seconds
        Wall time if it never converges and ends at the largest number of draws.
    memory
        Bytes at the peak, of most fits, from and to.
    file
        Bytes of the saved fit, at most, of most fits.
    """

    rows: int
    variables: int
    chains: int
    threads: int
    gradient: float
    seconds: tuple[float, float]
    most_seconds: float
    memory: tuple[float, float]
    file: float

    def __str__(self) -> str:
        """The plan in words."""
        seconds, memory = (
            _range(ends, words) for ends, words in ((self.seconds, duration), (self.memory, _size))
        )
        least, most = GRADIENTS
        return (
            f"The fit will take about {seconds} on {self.threads} core{'s' * (self.threads > 1)} with nothing"
            f" else to do, {memory} of memory, and at most {_size(self.file)} on disk. That is a range, not a"
            f" promise: one gradient takes {_short(self.gradient)}, and most fits converge after {least:,} to"
            f" {most:,}. Where several sets of variables explain the data as well it takes longer; sampling"
            f" ends after {duration(self.most_seconds)} or so in any case."
        )


@double_precision
def plan(design: Design, prior: Prior, *, max_draws: int = MAX_DRAWS) -> Plan:
    """Time one gradient on this machine, and count.

    Parameters
    ----------
    design, prior
        The data and what is believed.
    max_draws
        Draws of each chain after which sampling ends in any case.
    """
    prior.check(design.p)
    sampler = Lockstep()
    threads = min(cores(), sampler.chains)
    at_a_time = sampler.chains / math.ceil(sampler.chains / threads)
    made = target(design, prior)
    began = time.process_time()
    jax.block_until_ready(_gradients(made, _position(made), jnp.asarray(1)))
    compiling = time.process_time() - began
    gradient = _seconds_of_gradient(made, threads)
    start = _seconds_of_start(design, made)

    def seconds(gradients: float | int, compiled: float) -> float:
        sampling = gradients * (1.0 + KEEPING / STEPS_A_DRAW) * gradient / at_a_time
        return compiled * compiling + start + sampling

    draws = [_draws(gradients, sampler) for gradients in GRADIENTS]
    longest = (max_draws + sampler.warmup) * sampler.chains * STEPS_A_DRAW
    usual = [seconds(min(ends[0], longest), ends[1]) for ends in zip(GRADIENTS, COMPILED, strict=True)]
    memory = [_memory(design, sampler, threads, min(length, max_draws)) for length in draws]
    return Plan(
        rows=design.n,
        variables=design.p,
        chains=sampler.chains,
        threads=threads,
        gradient=gradient,
        seconds=(usual[0], usual[1]),
        most_seconds=seconds(longest, COMPILED[1]),
        memory=(memory[0], memory[1]),
        file=8.0 * (design.X.size + sampler.chains * min(draws[1], max_draws) * design.p) + 1e5,
    )


def _draws(gradients: float | int, sampler: Lockstep) -> float:
    """Draws of each chain after so many gradients of all chains."""
    return max(gradients / STEPS_A_DRAW / sampler.chains - sampler.warmup, 25.0)


def _memory(design: Design, sampler: Lockstep, threads: int, draws: float | int) -> float:
    """Bytes at the peak: the data in several forms, what threads work with, what is kept of draws."""
    n, p, d = design.n, design.p, design.d
    data = 8 * design.X.size + 3 * 4 * design.X.size + 8 * min(n, 400) * d
    working = threads * (8 * 8 * n * n + 2 * 4 * n * d)
    kept = sampler.chains * draws * (p + d + d / SPARSE) * (4 if p >= SINGLE_FROM else 8)
    history = 2 * 8 * sampler.warmup * sampler.chains * p
    return PROGRAM + data + working + max(kept, history)


def _position(made: Target) -> Float[Array, " D"]:
    """A position as chains have it: a few variables matter."""
    key = jax.random.key(0)
    if not made.prior.selects:
        return ravel_pytree(made.prior.sample(key, made.n, made.p))[0]
    included = jnp.arange(made.p) < max(1, int(made.prior.expected(made.p)))
    placed = made.prior.place(included, jnp.asarray(0.5), jnp.asarray(0.6), made.n, made.p)
    x = ravel_pytree(placed)[0]
    return x + 0.3 * jax.random.normal(key, x.shape)


@partial(jax.jit, compiler_options=SINGLE_THREAD)
def _gradients(made: Target, x: Float[Array, " D"], count: Int[Array, ""]) -> Float[Array, " D"]:
    """So many gradients, one after the other, each at a place that depends on the one before."""
    gradient = jax.grad(made.log_density)
    return jax.lax.fori_loop(0, count, lambda _, at: x + 1e-12 * jnp.tanh(gradient(at)), x)


def _seconds_of_gradient(made: Target, threads: int) -> float:
    """Seconds of one gradient, with all threads at work."""
    x, count = _position(made), 1

    def one(_: int) -> None:
        jax.block_until_ready(_gradients(made, x, jnp.asarray(count)))

    with workers() as crew:
        while True:
            began = time.process_time()
            crew(one, range(threads))
            passed = (time.process_time() - began) / threads
            if passed >= ENOUGH:
                return passed / count
            count *= max(2, min(16, math.ceil(ENOUGH / max(passed, 1e-6))))


def _seconds_of_start(design: Design, made: Target) -> float:
    """Seconds of the screen, of the sets that are grown and of the walkers, from a few steps of one."""
    if not made.prior.selects:
        return 0.0
    few = 10
    rows, sizes = some_rows(design, jax.random.key(0)), jnp.array(SIZES)
    places = jnp.arange(slots(made))
    first = jnp.where(places < least(made), places, made.p)

    def one(seed: int) -> None:
        jax.block_until_ready(walk(made, rows, first, sizes, jax.random.key(seed), few))

    passed = math.inf
    for _ in range(2):
        began = time.process_time()
        with workers() as crew:
            crew(one, [0])
        passed = time.process_time() - began
    walks = WALKERS * walk_length(made.p)
    # In each round a set that is grown takes about a step, and a quarter of one for each of its candidates.
    sets = width(rows) * max(least(made) - 2, 0) * (1.0 + CANDIDATES / 4)
    return SCREEN * design.d**2 + passed / few * (walks + sets) / cores()


def _range(ends: tuple[float, float], words: Callable[[float], str]) -> str:
    least, most = (words(end) for end in ends)
    return least if least == most else f"{least} to {most}"


def _size(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 0.95e9 else f"{max(size / 1e6, 1):.0f} MB"


def _short(seconds: float) -> str:
    return f"{1e3 * seconds:.2g} ms" if seconds < 0.1 else f"{seconds:.2g} s"
