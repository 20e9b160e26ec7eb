"""One contender on one data set, and what it took."""

import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import Problem


@dataclass(frozen=True)
class Row:
    """What one contender took on one data set; None where it does not apply, or is not known.

    Parameters
    ----------
    contender, problem
        Who, and on what.
    seconds
        Wall time from data to result, compilation and warm-up included; libraries were loaded before.
    to_enough
        Seconds until R-hat ≤ 1.01 and bulk and tail effective sample sizes ≥ 400, compilation and warm-up
        included.
    extrapolated
        Whether the last was not reached, but worked out from the effective draws per second.
    sampling_seconds
        Those after the warm-up.
    processor_seconds
        The same as the processor counts it, added over threads and processes; for a LASSO, of all of the fit.
        What others do on the machine matters less.
    chains, draws
        Chains, and draws of each after the warm-up.
    gradients, warmup_gradients
        Of all chains, after the warm-up and in it.
    ess_bulk, ess_tail, r_hat, worst
        The worst over log σ, log η1 and the conditional means of the true effects.
    divergences
        After the warm-up.
    bytes
        Peak resident memory of the process, or of all processes together.
    note
        What else is to be said, as why there are no figures.
    others
        How many cores were busy with something else meanwhile, on average.
    source, time
        The start of a digest of interplay's source, and when it was measured.
    """

    contender: str
    problem: Problem
    seconds: float | None = None
    to_enough: float | None = None
    extrapolated: bool = False
    sampling_seconds: float | None = None
    processor_seconds: float | None = None
    chains: int | None = None
    draws: int | None = None
    gradients: int | None = None
    warmup_gradients: int | None = None
    ess_bulk: float | None = None
    ess_tail: float | None = None
    r_hat: float | None = None
    worst: str = ""
    divergences: int | None = None
    bytes: float | None = None
    note: str = ""
    others: float = 0.0
    source: str = ""
    time: str = ""

    @property
    def name(self) -> str:
        """Contender and data in one line."""
        problem = self.problem
        return f"{self.contender} ({problem.n}, {problem.p}, {problem.scale:g})"

    @property
    def rate(self) -> float | None:
        """Effective draws per second of sampling."""
        if self.ess_bulk is None or not self.sampling_seconds:
            return None
        return self.ess_bulk / self.sampling_seconds

    @property
    def processor_rate(self) -> float | None:
        """Effective draws per processor second of sampling."""
        if self.ess_bulk is None or not self.processor_seconds:
            return None
        return self.ess_bulk / self.processor_seconds

    @property
    def cost(self) -> float | None:
        """Gradients per effective draw, those of the warm-up not counted."""
        if self.ess_bulk is None or self.gradients is None:
            return None
        return self.gradients / self.ess_bulk


@contextmanager
def others() -> Iterator[list[float]]:
    """Work out how many cores others keep busy while something runs in processes of this one."""
    found: list[float] = []
    start, busy, own = time.perf_counter(), _busy(), _own()
    yield found
    seconds = time.perf_counter() - start
    found.append(max(0.0, (_busy() - busy - (_own() - own)) / seconds))


def _busy() -> float:
    """Seconds that all cores together have been busy, or taken away by the host."""
    user, nice, system, _, _, irq, soft, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def _own() -> float:
    """Seconds of processor time of this process and of those of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
