"""How long a fit will take and how much memory it needs, measured and counted before it starts.

Times are those of the processor, so that a machine that is busy now does not spoil the plan.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from interplay._support.parallel import cores, workers
from interplay.data.design import Design
from interplay.inference.chain import advance, record
from interplay.inference.moves.hmc import HMC
from interplay.inference.progress import duration
from interplay.inference.run import SINGLE_FROM, Job, before_warm_up
from interplay.inference.sample import MAX_DRAWS
from interplay.inference.search.beam import CANDIDATES, beam_width
from interplay.inference.search.sets import add_drop_swap, fewest_members, most_members, rows_to_search
from interplay.inference.search.start import GROUPS, SIZES, WALKERS, search_length
from interplay.inference.trace import SPARSE
from interplay.model.families import Family, Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors.base import Prior
from interplay.model.variable_sets import VariableSets

DRAWS = (400, 1600)
"""Draws of each chain until they have converged, as seen in most fits; see `docs/sampler.md`."""

SCREEN = 1e-7
"""Seconds that the screen takes for a pair of columns, once."""

PROGRAM = 1.6e8
"""Bytes of the program itself: Python and its libraries."""

ENOUGH = 0.2
"""Seconds that are timed."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a fit will cost on this machine.

    Parameters
    ----------
    rows, variables
        Of the data.
    chains, processes
        Chains, and how many of them run at a time.
    iteration
        Seconds of one iteration of a chain, while all cores are busy.
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
    processes: int
    iteration: float
    seconds: tuple[float, float]
    most_seconds: float
    memory: tuple[float, float]
    file: float

    def __str__(self) -> str:
        """The plan in words."""
        seconds, memory = (
            _range(ends, words) for ends, words in ((self.seconds, duration), (self.memory, _size))
        )
        least, most = DRAWS
        return (
            f"The fit will take about {seconds} on {self.processes} core{'s' * (self.processes > 1)} with"
            f" nothing else to do, {memory} of memory, and at most {_size(self.file)} on disk. That is a"
            f" range, not a promise: one iteration takes {_short(self.iteration)}, and most fits converge"
            f" after {least:,} to {most:,} of each chain. Where several sets of variables explain the data"
            f" as well it takes longer; sampling ends after {duration(self.most_seconds)} or so in any case."
        )


def plan(design: Design, prior: Prior, family: Family | None = None, *, max_draws: int = MAX_DRAWS) -> Plan:
    """Time some iterations on this machine, and count.

    Parameters
    ----------
    design, prior, family
        The data and what is believed.
    max_draws
        Draws of each chain after which sampling ends in any case.
    """
    sampler = HMC()
    processes = min(cores(), sampler.chains)
    job = Job.of(design, prior, family or Gaussian(), sampler, 0)
    iteration = _seconds_of_iteration(job, processes)
    start = _seconds_of_start(job.posterior)

    def seconds(draws: int) -> float:
        return start + (sampler.warmup + draws) * math.ceil(sampler.chains / processes) * iteration

    draws = [min(length, max_draws) for length in DRAWS]
    usual = [seconds(length) for length in draws]
    memory = [_memory(design, sampler, processes, length) for length in draws]
    return Plan(
        rows=design.n,
        variables=design.p,
        chains=sampler.chains,
        processes=processes,
        iteration=iteration,
        seconds=(usual[0], usual[1]),
        most_seconds=seconds(max_draws),
        memory=(memory[0], memory[1]),
        file=8.0 * (design.X.size + sampler.chains * draws[1] * design.p) + 1e5,
    )


def _memory(design: Design, sampler: HMC, processes: int, draws: float | int) -> float:
    """Bytes at the peak: the data in several forms, what processes work with, what is kept of draws."""
    n, p, d = design.n, design.p, design.d
    data = 8 * design.X.size + 3 * 4 * design.X.size + 8 * min(n, 400) * d
    working = processes * (8 * 8 * n * n + 2 * 4 * n * d)
    kept = sampler.chains * draws * (p + d + d / SPARSE) * (4 if p >= SINGLE_FROM else 8)
    history = 2 * 8 * sampler.warmup * sampler.chains * p
    return PROGRAM + data + working + max(kept, history)


def _positions(job: Job) -> Float[np.ndarray, "c D"]:
    """Positions as chains have them: a few variables matter."""
    posterior, chains = job.posterior, job.sampler.chains
    random = np.random.default_rng(0)
    if not posterior.prior.has_local_scales:
        return np.stack([posterior.sample_prior(random) for _ in range(chains)])
    included = np.arange(posterior.p) < fewest_members(posterior)
    x = posterior.position_of(included, np.array(0.5), np.array(-0.5))
    return x + 0.3 * random.standard_normal((chains, x.size))


def _seconds_of_iteration(job: Job, processes: int) -> float:
    """Seconds of one iteration of a chain, and of what is kept of it, with all cores at work."""
    state, count = before_warm_up(job, 0, _positions(job)), 1

    def several(chain: int) -> float:
        began = time.thread_time()
        stretch = advance(
            job.posterior,
            job.moves(0),
            state.tunings,
            state.chains[chain],
            job.streams,
            chain=chain,
            phase=0,
            first=0,
            iterations=count,
        )
        record(job.posterior, job.mains, stretch)
        return time.thread_time() - began

    with workers() as pool:
        while True:
            passed = max(pool(several, range(processes)))
            if passed >= ENOUGH:
                return passed / count
            count *= max(2, min(16, math.ceil(ENOUGH / max(passed, 1e-6))))


def _seconds_of_start(posterior: Posterior) -> float:
    """Seconds of the screen, of the beam search and of the search over sets, from a few steps of that."""
    if not posterior.prior.has_local_scales:
        return 0.0
    few, walkers = 10, WALKERS // GROUPS
    random = np.random.default_rng(0)
    assessor = posterior.set_evidence(rows_to_search(posterior, random), random)
    members = np.full((walkers, most_members(posterior)), posterior.p)
    members[:, : fewest_members(posterior)] = np.arange(fewest_members(posterior))
    sizes = np.tile(SIZES, (walkers, 1))
    sets = VariableSets(members, sizes[:, 0], sizes[:, 1])
    with workers():
        began = time.process_time()
        add_drop_swap(assessor, sets, few, random)
        a_step = (time.process_time() - began) / few / walkers
    steps = WALKERS * search_length(posterior.p)
    # In each round a set of the beam takes about a step, and a quarter of one for each of its candidates.
    rounds = max(fewest_members(posterior) - 2, 0)
    in_beam = beam_width(assessor.rows.size) * rounds * (1.0 + CANDIDATES / 4)
    return SCREEN * posterior.design.d**2 + a_step * (steps + in_beam) / cores()


def _range(ends: tuple[float, float], words: Callable[[float], str]) -> str:
    least, most = (words(end) for end in ends)
    return least if least == most else f"{least} to {most}"


def _size(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 0.95e9 else f"{max(size / 1e6, 1):.0f} MB"


def _short(seconds: float) -> str:
    return f"{1e3 * seconds:.2g} ms" if seconds < 0.1 else f"{seconds:.2g} s"
