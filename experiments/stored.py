"""Stored draws of good fits and of bad ones, on which rules of stopping are replayed."""

import time
import warnings
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.provenance import source
from jaxtyping import Float

from experiments import trust
from experiments.data import make
from experiments.provenance import SOURCES
from experiments.stopping_rules import ESS, RULES, TODAY, Stored, checks, replay
from experiments.task import NoAnswerError, Task
from experiments.timed_fit import at_wrong_sets
from interplay._support.files import written_whole
from interplay.inference import run
from interplay.inference.diagnostics import ConvergenceWarning
from interplay.inference.mixing import mixing
from interplay.inference.moves.hmc import HMC
from interplay.inference.sample import sample
from interplay.model.families import Gaussian
from interplay.model.priors import SKIM
from interplay.model.terms import mains

KEPT = Path(__file__).parents[1] / "build" / "stopping"
"""Where draws are kept, one file for each fit."""

GOOD, BAD = 1.01, 1.05
"""R-hat of all draws of a good fit at most, and of a bad one from."""

LEAST_BAD = 0.75
"""Size of a defect, in standard deviations, from which a fit is a bad one."""

CHAINS = 4

SPOILT = 1
"""Quantities of a good fit that a defect is planted in: one alone is the hardest to see."""

KAPPA, MAIN = "log_kappa[", "effect["
"""How the names of quantities of a variable begin."""


def replayed(
    data: Mapping[str, Any], threads: int, *, defect: str | None = None, amount: float = 0.0
) -> tuple[dict[str, Any], dict[str, float]]:
    """At how many draws each rule stops a fit, as it was sampled or with a defect.

    Parameters
    ----------
    data
        See `stored`.
    threads
        Not used.
    defect, amount
        What is planted in a good fit: `exchange` has one chain take one variable for another, `shift` moves
        one chain, `drift` moves all chains on and on, `transient` has all of them come from afar; by about so
        many standard deviations.
    """
    began = time.perf_counter()
    whole = stored(data)
    today = replay(whole, {TODAY: RULES[TODAY]})[TODAY]
    if defect is not None:
        if next(checks(whole), None) is None:
            raise NoAnswerError("the fit that a defect was to be planted in has too few draws")
        today = today or whole.series.shape[2]
        random = np.random.default_rng(data["seed"])
        whole = DEFECTS[defect](whole, amount, today, random)
    stops = replay(whole)
    found = mixing(whole.series)
    ess = float(np.min(np.minimum(found.ess_bulk, found.ess_tail)))
    values = {
        "stops": stops,
        "quantities": len(whole.names),
        "draws": whole.series.shape[2],
        "r_hat": float(np.max(found.r_hat)),
        "ess": ess,
        "errors": {name: error(whole, stop) for name, stop in stops.items()},
        "state": _state(data, defect, amount, float(np.max(found.r_hat)), ess),
    }
    return values, {"seconds": time.perf_counter() - began, "peak_bytes": 0.0}


def passing(
    data: Mapping[str, Any], threads: int, *, defect: str, amount: float, repeats: int, span: int
) -> tuple[dict[str, Any], dict[str, float]]:
    """How many of some sets of simulated chains with a defect each rule lets pass at any check.

    Parameters
    ----------
    data
        Of `stored`, but for the seed, of which each set has its own.
    threads
        Not used.
    defect, amount
        See `replayed`.
    repeats
        How many sets.
    span
        Draws in which chains drift by the amount.
    """
    began = time.perf_counter()
    passed = dict.fromkeys(RULES, 0)
    for seed in range(data["seed"], data["seed"] + repeats):
        whole = _simulated({**data, "seed": seed})
        spoilt = DEFECTS[defect](whole, amount, span, np.random.default_rng(seed))
        for name, stop in replay(spoilt).items():
            passed[name] += stop is not None
    values = {"passed": passed, "repeats": repeats, "defect": defect, "amount": amount, "state": "power"}
    return values, {"seconds": time.perf_counter() - began, "peak_bytes": 0.0}


def _state(data: Mapping[str, Any], defect: str | None, amount: float, r_hat: float, ess: float) -> str:
    if defect is not None and amount < LEAST_BAD:
        return "slight"
    if defect is not None or data["kind"] in ("switching", "slow") or r_hat > BAD:
        return "bad"
    # Simulated chains are good by their making, whatever R-hat makes of them.
    return "good" if ess >= ESS and (r_hat <= GOOD or data["kind"] == "series") else "undecided"


def error(whole: Stored, stop: int | None) -> float | None:
    """The largest difference of means until the stop from those of all draws, in standard deviations."""
    if stop is None:
        return None
    until = whole.series[:, :, :stop].mean(axis=(1, 2))
    return float(np.max(np.abs(until - whole.series.mean(axis=(1, 2))) / whole.series.std(axis=(1, 2))))


def stored(data: Mapping[str, Any]) -> Stored:
    """The draws of a fit, made where they are not kept yet.

    Parameters
    ----------
    data
        `series` is chains of q quantities with autocorrelations up to φ (of just φ if `even`), `slow` has
        one quantity with that of φ, `switching` two modes between which chains seldom go (q, phi, draws,
        seed). All others are kinds of `experiments.data.make`, with `draws`, and with `wrong` iterations of
        warm-up from wrong sets.
    """
    name = Task("stopping", data, "draws", "").name
    path = KEPT / source(SOURCES) / f"{name}.npz"
    if path.exists():
        with np.load(path) as kept:
            return Stored(tuple(kept["names"].tolist()), kept["scales"], kept["series"])
    made = _simulated(data) if data["kind"] in ("series", "slow", "switching") else _fitted(data)
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as whole, whole.open("wb") as file:
        np.savez_compressed(file, names=np.array(made.names), scales=made.scales, series=made.series)
    return made


def _fitted(data: Mapping[str, Any]) -> Stored:
    wrong = data.get("wrong")
    problem = make({key: value for key, value in data.items() if key not in ("draws", "wrong")})
    design, prior, family = problem.design(), SKIM(), Gaussian()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        draws, _ = sample(
            design,
            prior,
            seed=data["seed"],
            draws=data["draws"],
            progress=False,
            sampler=None if wrong is None else HMC(warmup=wrong),
            begin=run.begin if wrong is None else at_wrong_sets(problem),
        )
    scales = trust.varying(draws.hyperparameters)
    kappa = trust.log_kappa(draws.hyperparameters, design)
    # κ of every variable that could take part in an exchange, whether or not it has a signal.
    logs = np.log(np.maximum(draws.hyperparameters["kappa"], np.finfo(np.float64).tiny))
    kappa |= {f"{KAPPA}{name}]": logs[..., k] for k, name in enumerate(design.names)}
    effects = trust.conditional_means(design, prior, family, draws, mains(design), most=None)
    every = {**scales, **kappa, **effects}
    return _of(list(every), len(scales), np.stack(list(every.values())))


def _of(names: list[str], scales: int, series: np.ndarray) -> Stored:
    return Stored(tuple(names), np.arange(len(names)) < scales, series.astype(np.float64))


def _simulated(data: Mapping[str, Any]) -> Stored:
    """Autoregressive chains of which every second is skewed, with something wrong in the last."""
    random = np.random.default_rng(data["seed"])
    q, draws, scales = data["q"], data["draws"], 4
    phi = data["phi"] * random.random(q) ** (0.0 if data.get("even") else 0.5)
    if data["kind"] == "slow":
        phi[:] = 0.5
        phi[-1] = data["phi"]
    noise = random.standard_normal((q, CHAINS, draws))
    # What chains have in common makes quantities depend on each other.
    noise = 0.8 * noise + 0.6 * random.standard_normal((1, CHAINS, draws))
    x = noise.copy()
    for i in range(1, draws):
        x[:, :, i] = phi[:, None] * x[:, :, i - 1] + np.sqrt(1.0 - phi[:, None] ** 2) * noise[:, :, i]
    if data["kind"] == "switching":
        rate, begin = 1.0 - data["phi"], np.arange(CHAINS) == 0
        switches = np.cumsum(random.random((CHAINS, draws)) < rate, axis=1) + begin[:, None]
        x[-SPOILT:] += 3.0 * (switches % 2)
    x[::2] = np.exp(0.5 * x[::2])
    return _of([f"quantity {k}" for k in range(q)], scales, x)


def exchange(whole: Stored, amount: float, today: int, random: np.random.Generator) -> Stored:
    """One chain with two variables exchanged, of which the largest difference is about so much."""
    order = [name[len(KAPPA) : -1] for name in whole.names if name.startswith(KAPPA)]
    place = {name: k for k, name in enumerate(whole.names)}
    mean, sd = whole.series.mean(axis=(1, 2)), whole.series.std(axis=(1, 2))
    found: dict[tuple[str, str], float] = {}
    for a, b in permutations(order, 2):
        both = [(place[f"{kind}{a}]"], place[f"{kind}{b}]"]) for kind in (KAPPA, MAIN)]
        found[a, b] = max(abs(mean[i] - mean[j]) / min(sd[i], sd[j]) for i, j in both)
    a, b = min(found, key=lambda pair: abs(np.log(found[pair] / amount)))
    series = whole.series.copy()
    for kind in (KAPPA, MAIN):
        i, j = place[f"{kind}{a}]"], place[f"{kind}{b}]"]
        series[[i, j], 0] = series[[j, i], 0]
    return Stored(whole.names, whole.scales, series)


def shift(whole: Stored, amount: float, today: int, random: np.random.Generator) -> Stored:
    """One chain moved in some quantities."""
    return _moved(whole, random, amount * (np.arange(CHAINS) == 0)[:, None])


def drift(whole: Stored, amount: float, today: int, random: np.random.Generator) -> Stored:
    """All chains moving on in some quantities, by so much until today's rule would have stopped."""
    return _moved(whole, random, amount * np.arange(whole.series.shape[2]) / today)


def transient(whole: Stored, amount: float, today: int, random: np.random.Generator) -> Stored:
    """All chains coming from so far away, in half the draws at which today's rule would have stopped."""
    return _moved(whole, random, amount * np.exp(-2.0 * np.arange(whole.series.shape[2]) / today))


def _moved(whole: Stored, random: np.random.Generator, by: Float[np.ndarray, "..."]) -> Stored:
    chosen = random.choice(np.flatnonzero(~whole.scales), SPOILT, replace=False)
    series = whole.series.copy()
    series[chosen] += series[chosen].std(axis=(1, 2), keepdims=True) * by
    return Stored(whole.names, whole.scales, series)


DEFECTS = {"exchange": exchange, "shift": shift, "drift": drift, "transient": transient}
"""By name."""
