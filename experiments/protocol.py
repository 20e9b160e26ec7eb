"""The paper's protocol (Section 7): one simulated data set, one fit, and what it found."""

import time
import warnings
from dataclasses import dataclass

import jax
import numpy as np

from experiments.pairs import Pairs, all_pairs
from interplay.data.design import Design
from interplay.data.simulate import Simulation, synthetic
from interplay.effects.mixture import Mixture
from interplay.effects.selection import Rule, among_selected, select
from interplay.estimator import InteractionRegressor
from interplay.inference.diagnostics import ConvergenceWarning
from interplay.model.priors import SKIM
from interplay.model.terms import Term, interactions, mains
from interplay.results.fit import Fit

RULES: tuple[Rule, ...] = ("paper", "lfsr", "fdr")


@dataclass(frozen=True)
class Setting:
    """Rows, variables, and the scale λ of the covariates."""

    n: int
    p: int
    scale: float

    def __str__(self) -> str:
        return f"({self.n}, {self.p}, {self.scale:g})"


SETTINGS = (Setting(100, 50, 2.0), Setting(100, 200, 2.0), Setting(200, 200, 5.0), Setting(200, 500, 2.0))
SEEDS = 5
"""Data sets of each setting; the seed of the data is that of the sampler too."""


@dataclass(frozen=True)
class Found:
    """Effects that a rule selects, right and wrong; the wrong ones by name."""

    mains: int
    false_mains: int
    pairs: int
    false_pairs: int
    false_terms: tuple[str, ...]


@dataclass(frozen=True)
class Errors:
    """Σ (posterior mean − truth)² in the units of the data.

    Parameters
    ----------
    mains, pairs
        Over all coefficients of x_i and of x_i x_j, in the columns as they are: what the data were made
        with, and what the peers are judged by. A model without any effect has 5 and 10.
    slopes
        The same of the slope of each variable where all others are at their mean, θ_i + Σ_j θ_ij x̄_j: what
        interplay calls the main effect.
    """

    mains: float
    pairs: float
    slopes: float


@dataclass(frozen=True)
class Outcome:
    """One fit.

    Parameters
    ----------
    n, p, scale, seed
        The data.
    found
        By rule.
    errors
        See `Errors`.
    verdict, ended, r_hat, worst, ess_bulk, ess_tail, divergences, remedies
        See `interplay.inference.diagnostics.Diagnostics`.
    chains, draws
        Chains, and draws of each.
    gradients
        Of all chains, warm-up included.
    seconds
        Wall time of the fit, compilation included.
    answer_seconds
        Wall time of all answers.
    source
        The start of a digest of interplay's source.
    """

    n: int
    p: int
    scale: float
    seed: int
    found: dict[str, Found]
    errors: Errors
    verdict: str
    ended: str
    r_hat: float
    worst: str
    ess_bulk: float
    ess_tail: float
    divergences: int
    remedies: tuple[str, ...]
    chains: int
    draws: int
    gradients: int
    seconds: float
    answer_seconds: float
    source: str


def evaluate(setting: Setting, seed: int, source: str, **limits: int) -> Outcome:
    """Simulate, fit, and compare with the truth.

    Parameters
    ----------
    setting, seed
        The data.
    source
        What is noted as the version of the source.
    limits
        Settings of the sampler other than the defaults, as `draws`.
    """
    simulation = synthetic(setting.n, setting.p, scale=setting.scale, seed=seed)
    # Every fit pays for its compilation.
    jax.clear_caches()
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = InteractionRegressor(SKIM(quadratic=False), random_state=seed, progress=False, **limits)
        fit = model.fit(simulation.X, simulation.y).fit_
    fitted = time.perf_counter()
    own = Mixture(*fit.conditional.effects(mains(fit.design)))
    pairs = all_pairs(fit.design, fit.conditional)
    found: dict[str, Found] = {rule: _found(fit, simulation, own, pairs, rule) for rule in RULES}
    known = fit.diagnostics
    return Outcome(
        n=setting.n,
        p=setting.p,
        scale=setting.scale,
        seed=seed,
        found=found,
        errors=_errors(fit.design, simulation, own.mean, pairs.means),
        verdict=known.verdict,
        ended=known.ended,
        r_hat=known.r_hat,
        worst=known.worst,
        ess_bulk=known.ess_bulk,
        ess_tail=known.ess_tail,
        divergences=known.divergences,
        remedies=known.remedies,
        chains=fit.draws.chains,
        draws=fit.draws.length,
        gradients=known.gradients,
        seconds=fitted - start,
        answer_seconds=time.perf_counter() - fitted,
        source=source,
    )


def _found(fit: Fit, simulation: Simulation, own: Mixture, pairs: Pairs, rule: Rule) -> Found:
    selected = _selected(fit, own, pairs, rule)
    wrong = [term for term in selected if term not in simulation.effects]

    def count(terms: list[Term], order: int) -> int:
        return sum(len(term) == order for term in terms)

    return Found(
        mains=count(selected, 1) - count(wrong, 1),
        false_mains=count(wrong, 1),
        pairs=count(selected, 2) - count(wrong, 2),
        false_pairs=count(wrong, 2),
        false_terms=tuple(":".join(simulation.names[i] for i in term) for term in wrong),
    )


def _selected(fit: Fit, own: Mixture, pairs: Pairs, rule: Rule) -> list[Term]:
    """The effects that a rule selects among all main effects and all pairs."""
    singles: list[Term] = mains(fit.design)
    if rule == "paper":
        # Pairs among selected main effects alone.
        chosen = [term[0] for term, kept in zip(singles, select(own, rule), strict=True) if kept]
        among = interactions(fit.design, chosen)
        terms, mixture = among, Mixture(*fit.conditional.effects(among))
    else:
        terms, mixture = pairs.terms, pairs.mixture
    every = [*singles, *terms]
    together = Mixture(
        np.concatenate([own.means, mixture.means], axis=1), np.concatenate([own.sds, mixture.sds], axis=1)
    )
    kept = select(together, rule)
    if rule == "paper":
        kept = among_selected(every, kept)
    return [term for term, keep in zip(every, kept, strict=True) if keep]


def _errors(design: Design, simulation: Simulation, main_means: np.ndarray, pair_means: np.ndarray) -> Errors:
    p, scales, centres = design.p, design.scales, design.centres
    slopes = design.response_scale * main_means / scales
    pairs = design.response_scale * pair_means / np.outer(scales, scales)
    np.fill_diagonal(pairs, 0.0)
    main_truth, pair_truth = np.zeros(p), np.zeros((p, p))
    for term, effect in simulation.effects.items():
        if len(term) == 1:
            main_truth[term[0]] = effect
        else:
            pair_truth[term] = pair_truth[term[::-1]] = effect
    # (x_i − x̄_i)(x_j − x̄_j) has −x̄_j for x_i.
    return Errors(
        mains=float(np.sum((slopes - pairs @ centres - main_truth) ** 2)),
        pairs=float(np.sum((pairs - pair_truth) ** 2) / 2),
        slopes=float(np.sum((slopes - main_truth - pair_truth @ centres) ** 2)),
    )
