"""SKIM by interplay: one fit, and what its three rules find."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments import score
from experiments.data import Problem, make
from experiments.measure import measured
from experiments.pairs import Pairs, all_pairs
from experiments.task import NoAnswerError
from interplay.effects.mixture import Mixture
from interplay.effects.selection import Rule, among_selected, select
from interplay.estimator import InteractionRegressor
from interplay.inference.diagnostics import ConvergenceWarning, Diagnostics
from interplay.model.priors import SKIM
from interplay.model.terms import Term, interactions, label, mains
from interplay.results.fit import Fit

RULES: tuple[Rule, ...] = ("paper", "lfsr", "fdr")

CURVES = 0.2
"""Terms with a local false sign rate up to this are kept, for curves against the threshold."""


def skim(data: Mapping[str, Any], threads: int, **limits: Any) -> tuple[dict[str, Any], dict[str, float]]:
    """Fit `SKIM(quadratic=False)` and compare with the truth.

    Parameters
    ----------
    data
        See `experiments.data.make`; its seed is that of the sampler too.
    threads
        Not used: chains run on as many threads as the process has cores.
    limits
        Settings of `interplay.InteractionRegressor` other than the defaults, as `max_seconds`.

    Returns
    -------
    tuple
        What was found, and what the fit took, with compilation. What `selected()` gives and takes after it,
        as a user would call it, is in `selection`; the rest of the answers is for the comparison.

    Raises
    ------
    NoAnswerError
        If the noise is too small beside the response for double precision.
    """
    problem = make(data)
    model = InteractionRegressor(
        SKIM(quadratic=False), impute=problem.impute, random_state=data["seed"], progress=False, **limits
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, cost = measured(lambda: model.fit(problem.X, problem.y))
    known = model.diagnostics_
    if known.ended == "rounding":
        raise NoAnswerError(f"{known.reason} After {cost['seconds']:.0f} s.")
    chosen, asked = measured(model.selected)
    selection = {"terms": chosen, "seconds": asked["seconds"], "peak_bytes": asked["peak_bytes"]}
    return answers(model.fit_, problem) | {"selection": selection}, cost


def answers(fit: Fit, problem: Problem) -> dict[str, Any]:
    """What a fit finds: by rule, the errors of its means, all terms of any interest, and its convergence."""
    own = Mixture(*fit.conditional.effects(mains(fit.design)))
    pairs = all_pairs(fit.design, fit.conditional, cap=CURVES)
    chosen = {rule: {label(term, fit.design) for term in selected(fit, own, pairs, rule)} for rule in RULES}
    truth = problem.effects
    return {
        "found": {rule: score.found(terms, problem.right) for rule, terms in chosen.items()},
        "errors": None if truth is None else score.posterior_errors(fit.design, own.mean, pairs.means, truth),
        "terms": _terms(fit, own, pairs, problem, set().union(*chosen.values())),
        "sampler": diagnostics(fit.diagnostics)
        | {"chains": fit.draws.chains, "draws": fit.draws.length, "answer_draws": len(own.means)},
    }


def diagnostics(known: Diagnostics) -> dict[str, Any]:
    """What is known of the convergence, in plain values."""
    return {
        "verdict": known.verdict,
        "reason": known.reason,
        "ended": known.ended,
        "r_hat": known.r_hat,
        "worst": known.worst,
        "ess_bulk": known.ess_bulk,
        "ess_tail": known.ess_tail,
        "divergences": known.divergences,
        "gradients": known.gradients,
        "disagreements": list(known.disagreements),
        "remedies": list(known.remedies),
    }


def selected(fit: Fit, own: Mixture, pairs: Pairs, rule: Rule) -> list[Term]:
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
    kept = select(Mixture.joined(own, mixture), rule)
    if rule == "paper":
        kept = among_selected(every, kept)
    return [term for term, keep in zip(every, kept, strict=True) if keep]


def _terms(fit: Fit, own: Mixture, pairs: Pairs, problem: Problem, chosen: set[str]) -> list[dict[str, Any]]:
    """Every term that is right, selected by any rule, or has a local false sign rate up to `CURVES`."""
    named = {label(term, fit.design): term for term in [*mains(fit.design), *pairs.terms]}
    rates = dict(zip(named, np.concatenate([own.lfsr, pairs.mixture.lfsr]).tolist(), strict=True))
    wanted = {name for name, rate in rates.items() if rate <= CURVES} | chosen | problem.right
    known = {name: column for column, name in enumerate(fit.design.labels)}
    terms = [tuple(known[part] for part in name.split(":")) for name in sorted(wanted)]
    mixture = Mixture(*fit.conditional.effects(terms))
    return [
        {
            "term": name,
            "right": name in problem.right,
            "mean": float(mixture.mean[k]),
            "sd": float(mixture.sd[k]),
            "conditional_sd": float(mixture.conditional_sd[k]),
            "lfsr": float(mixture.lfsr[k]),
        }
        for k, name in enumerate(sorted(wanted))
    ]
