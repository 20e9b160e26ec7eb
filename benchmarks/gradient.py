"""The log density with its gradient: beside version 0.1.0, and beside the bare matrix products."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.linalg import blas, lapack

from benchmarks.problem import make_design, make_position
from benchmarks.timing import Effort, Times, interleave, timed
from benchmarks.version_0_1_0 import COMMITTED, OldGradient
from interplay.data.design import Design
from interplay.model.engines.kernel_space import KernelSpace
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors import SKIM

SIZES = [(100, 50), (200, 500), (200, 5000), (500, 10_000), (1067, 218)]
"""(N, p) that are measured; the last is of the size of a medical data set, with more rows than variables."""

OLD = "0.1.0"


@dataclass(frozen=True)
class Gradient:
    """One size.

    Parameters
    ----------
    n, p
        Rows and variables.
    times
        Of `interplay`, of the `limit`, and of `0.1.0` if that was run, in milliseconds.
    old
        Median milliseconds of version 0.1.0: of this run, or as committed; None where neither is there.
    old_measured
        Whether version 0.1.0 was measured in this run.
    value_shift, gradient_shift
        How far single precision and truncation move the log density, and at most a part of its gradient.
    """

    n: int
    p: int
    times: dict[str, Times]
    old: float | None
    old_measured: bool
    value_shift: float
    gradient_shift: float

    @property
    def to_limit(self) -> float:
        """How many times the limit a gradient takes."""
        return self.times["interplay"].median / self.times["limit"].median

    @property
    def to_old(self) -> float | None:
        """How many times version 0.1.0 a gradient takes."""
        return None if self.old is None else self.times["interplay"].median / self.old


def measure(
    sizes: Sequence[tuple[int, int]], effort: Effort, seed: int, old_python: Path | None = None
) -> list[Gradient]:
    """Time every size.

    Parameters
    ----------
    sizes, effort, seed
        (N, p), how long to measure each, and the seed of the data.
    old_python
        Interpreter of an environment with version 0.1.0, which is then measured in the same turns.
    """
    return [_measure(n, p, effort, seed, old_python) for n, p in sizes]


def _measure(n: int, p: int, effort: Effort, seed: int, old_python: Path | None) -> Gradient:
    design = make_design(n, p, seed)
    posterior = Posterior.of(design, SKIM(), Gaussian())
    x = make_position(posterior, seed)
    calls = {
        "interplay": timed(lambda: posterior.gradient(x)),
        "limit": timed(_products(design)),
    }
    with ExitStack() as stack:
        if old_python is not None:
            old = stack.enter_context(OldGradient(old_python, design.X, design.y, _named(posterior, x)))
            calls[OLD] = lambda: old.take()[0]
        times = interleave(calls, effort)
    exact = Posterior(design, SKIM(), Gaussian(), KernelSpace(design, tolerance=0.0)).gradient(x)
    sampled = posterior.gradient(x)
    return Gradient(
        n=n,
        p=p,
        times=times,
        old=times[OLD].median if OLD in times else COMMITTED.get((n, p)),
        old_measured=OLD in times,
        value_shift=abs(sampled.value - exact.value),
        gradient_shift=float(np.abs(sampled.gradient - exact.gradient).max()),
    )


def _products(design: Design) -> Callable[[], None]:
    """What the formula needs at least, in the precisions of the engine.

    The symmetric product X diag(w) Xᵀ, the product G X, the factor of K + V and the inverse from it.
    """
    X = np.asfortranarray(design.X, dtype=np.float32)
    K = np.asfortranarray(design.X @ design.X.T + design.p * np.eye(design.n))
    single = np.asfortranarray(np.linalg.cholesky(K), dtype=np.float32)

    def run() -> None:
        blas.ssyrk(1.0, X, lower=1)
        blas.sgemm(1.0, single, X)
        lapack.dpotrf(K, lower=1, clean=0)
        lapack.spotri(single, lower=1)

    return run


def _named(posterior: Posterior, x: np.ndarray) -> dict[str, np.ndarray]:
    """The position by the names of version 0.1.0."""
    place = {name: k for k, name in enumerate(posterior.coordinates)}
    names = ("log_sigma", "log_eta1", "log_m_sq", "log_psi_sq")
    parts = {name: np.asarray(x[place[name]]) for name in names}
    return parts | {"log_xi_sq": x[[place["log_xi_sq2"]]], "log_lam": x[posterior.local]}
