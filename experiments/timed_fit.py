"""Works of the suite `mixing`: a run to two rules, and a fit to its selected effects."""

import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtr

from experiments.clock import Clock
from experiments.data import Problem, make
from experiments.measure import measured
from experiments.skim import diagnostics
from interplay._support.parallel import Workers
from interplay.data.design import Design
from interplay.effects.selection import FDR_CAP
from interplay.estimator import InteractionRegressor
from interplay.inference import run
from interplay.inference.diagnostics import ConvergenceWarning
from interplay.inference.mixing import mixing
from interplay.inference.run import Begin, Job, State, before_warm_up
from interplay.inference.sample import sample
from interplay.model.families import Gaussian
from interplay.model.priors import SKIM
from interplay.model.terms import parse
from interplay.results.fit import Fit
from interplay.results.provenance import provenance

Values = tuple[dict[str, Any], dict[str, float]]
"""What was found, and what it took."""

WRONG = 5
"""Variables of a wrong set."""

WRONG_SIZE, WRONG_LOG_NOISE, WRONG_SPREAD = 1.0, -0.5, 0.3
"""Size of effects and log noise at which wrong sets begin, and the standard deviation around them."""


def to_trust(
    data: Mapping[str, Any],
    threads: int,
    *,
    wrong_starts: bool = False,
    quadratic: bool = True,
    **limits: Any,
) -> Values:
    """Sample until the package's rule and the fixed one have held.

    Parameters
    ----------
    data
        See `experiments.data.make`; its seed is that of the sampler too.
    threads
        Not used: chains run on as many threads as the process has cores.
    wrong_starts
        Whether each chain starts at its own random set of five variables, none of which acts, without a
        search.
    quadratic
        Whether the prior has quadratic effects.
    limits
        Of `interplay.inference.sample.sample`: `max_seconds`, `max_draws`.
    """
    problem, prior = make(data), SKIM(quadratic=quadratic)
    clock = Clock(prior)

    def fitted() -> Fit:
        design = problem.design()
        begin = at_wrong_sets(problem) if wrong_starts else run.begin
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            draws, found = sample(
                design,
                prior,
                seed=data["seed"],
                progress=False,
                begin=begin,
                monitor=clock.monitor,
                **limits,
            )
        return Fit(design, prior, draws, found, {}, provenance(design, data["seed"]), Gaussian())

    fit, cost = measured(fitted)
    # The peak before pairs were looked at, which a run does not do, where that was noted.
    cost |= {"seconds": clock.seconds, "peak_bytes": clock.peak_bytes or cost["peak_bytes"]}
    found = {
        "rows": fit.design.n,
        "columns": fit.design.d,
        "starting_seconds": clock.first_draws,
        "verdict": clock.verdict and clock.verdict.plain(),
        "trust": clock.trust and clock.trust.plain(),
        "together": clock.together and clock.together.plain(),
        "limit": None if clock.latest is None else vars(clock.latest),
        "selected": selection(fit) if clock.trust else [],
        "sampler": diagnostics(fit.diagnostics)
        | {"chains": fit.draws.chains, "draws": fit.draws.length, "seconds": fit.diagnostics.seconds},
    }
    return found, cost


def to_selection(data: Mapping[str, Any], threads: int, *, quadratic: bool = True, **limits: Any) -> Values:
    """Fit as a user would, and ask for the selected effects; see `to_trust` for the parameters."""
    problem = make(data)
    prior = None if quadratic else SKIM(quadratic=False)
    model = InteractionRegressor(prior, random_state=data["seed"], progress=False, **limits)
    seconds: dict[str, float] = {}

    def answered() -> list[str]:
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(problem.X, problem.y)
        seconds["fit"] = time.perf_counter() - began
        return model.selected()

    chosen, cost = measured(answered)
    fit: Fit = model.fit_
    found = {
        "rows": fit.design.n,
        "columns": fit.design.d,
        "fit_seconds": seconds["fit"],
        "selected": chosen,
        "sampler": diagnostics(fit.diagnostics) | {"chains": fit.draws.chains, "draws": fit.draws.length},
    }
    return found, cost


def at_wrong_sets(problem: Problem) -> Begin:
    """Start each chain at its own random set of variables, none of which acts."""

    def begin(job: Job, attempt: int, workers: Workers) -> State:
        posterior, chains = job.posterior, job.sampler.chains
        random = np.random.default_rng([job.seed, attempt])
        idle = idle_variables(problem, posterior.design)
        included = np.zeros((chains, posterior.p), dtype=bool)
        for chain in range(chains):
            included[chain, random.choice(idle, WRONG, replace=False)] = True
        size, log_noise = np.full(chains, WRONG_SIZE), np.full(chains, WRONG_LOG_NOISE)
        x = posterior.position_of(included, size, log_noise)
        return before_warm_up(job, attempt, x + WRONG_SPREAD * random.standard_normal(x.shape))

    return begin


def idle_variables(problem: Problem, design: Design) -> list[int]:
    """The variables of which nobody knows that they act."""
    return [k for k, name in enumerate(design.names) if name not in problem.right]


def selection(fit: Fit) -> list[dict[str, Any]]:
    """Every effect that is selected or nearly so, with the Monte Carlo error of its local false sign rate."""
    table = fit.effects()
    near = table[table["selected"] | (table["lfsr"] <= FDR_CAP)]
    terms = [parse(name, fit.design)[0] for name in near["term"]]
    if not terms:
        return []
    means, sds = fit.conditional.effects(terms)
    positive = ndtr(means / np.maximum(sds, np.finfo(np.float64).tiny))
    # The draws of a fit's answers are evenly spaced over the chains, one after the other.
    whole = len(positive) - len(positive) % fit.draws.chains
    by_chain = np.ascontiguousarray(positive[:whole].T).reshape(len(terms), fit.draws.chains, -1)
    effective = np.fmax(mixing(by_chain).ess_bulk, 1.0)
    errors = positive.std(axis=0) / np.sqrt(effective)
    rows = zip(near["term"], near["lfsr"], near["selected"], errors, strict=True)
    return [
        {"term": str(name), "lfsr": float(rate), "selected": bool(kept), "error": float(error)}
        for name, rate, kept, error in rows
    ]
