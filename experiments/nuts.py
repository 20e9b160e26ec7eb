"""Four chains on the paper's simulation: the default sampler, marginal NUTS, and FULL."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.data import make
from experiments.measure import measured
from interplay.data.design import Design
from interplay.model.priors import SKIM
from interplay.model.terms import Term, label, mains

PRIOR = SKIM(quadratic=False)

Values = tuple[dict[str, Any], dict[str, float]]
"""What was found, and what it took."""


def interplay(data: Mapping[str, Any], threads: int, warmup: int, draws: int) -> Values:
    """The default sampler: coefficients integrated out, the closed-form gradient, chains in threads."""
    from interplay.estimator import InteractionRegressor
    from interplay.inference.diagnostics import ConvergenceWarning
    from interplay.inference.moves.hmc import HMC

    problem = make(data)
    model = InteractionRegressor(
        PRIOR, sampler=HMC(warmup=warmup), draws=draws, random_state=data["seed"], progress=False
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, cost = measured(lambda: model.fit(problem.X, problem.y))
    fit = model.fit_
    counts = {"gradients": fit.diagnostics.gradients, "divergences": fit.diagnostics.divergences}
    return _marginal(fit.design, fit.draws.hyperparameters, counts), cost


def marginal(data: Mapping[str, Any], threads: int, warmup: int, draws: int) -> Values:
    """Marginal NUTS in NumPyro, with the coefficients integrated out: the paper's way with FULL's sampler."""
    from interplay.baselines.plain import marginal_nuts

    design = make(data).design()
    found, cost = measured(
        lambda: marginal_nuts(design, PRIOR, seed=data["seed"], warmup=warmup, draws=draws)
    )
    counts = {"gradients": found.gradients, "divergences": found.divergences}
    return _marginal(design, found.draws, counts), cost


def full(data: Mapping[str, Any], threads: int, warmup: int, draws: int) -> Values:
    """NUTS in NumPyro on all coefficients and hyperparameters: the paper's FULL."""
    from interplay.baselines.full import full as sample

    design = make(data).design()
    found, cost = measured(lambda: sample(design, PRIOR, seed=data["seed"], warmup=warmup, draws=draws))
    logs = {f"log {name}": np.log(found.hyperparameters[name]) for name in ("sigma", "eta1")}

    def effects(order: int) -> dict[str, np.ndarray]:
        chosen: list[tuple[int, Term]] = [(k, t) for k, t in enumerate(found.terms) if len(t) == order]
        return {label(term, design): found.effects[:, :, k] for k, term in chosen}

    counts = {"gradients": found.gradients, "divergences": found.divergences}
    pairs = _worst(effects(2))
    return _worst(logs | effects(1)) | counts | {"r_hat_pairs": pairs["r_hat"]}, cost


def _marginal(design: Design, draws: Mapping[str, np.ndarray], counts: dict[str, int]) -> dict[str, Any]:
    """R-hat of σ, η1 and the conditional mean of every main effect."""
    from benchmarks.quality import watched

    return _worst(watched(design, PRIOR, draws, mains(design))) | counts


def _worst(series: Mapping[str, np.ndarray]) -> dict[str, Any]:
    from benchmarks.quality import quality

    found = quality(series)
    return {
        "r_hat": found.r_hat,
        "ess_bulk": found.ess_bulk,
        "ess_tail": found.ess_tail,
        "worst": found.worst,
    }
