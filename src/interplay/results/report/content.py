"""What the report says: words, tables and pictures of a fit."""

from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from interplay.data.design import Design
from interplay.results.fit import Fit
from interplay.results.leave_one_out import LeaveOneOut, leave_one_out
from interplay.results.plots import pair as pairs
from interplay.results.plots.accessor import Plots
from interplay.results.plots.leading import leading
from interplay.results.plots.style import rate, rows
from interplay.results.report.figures import svg
from interplay.results.report.words import fixed, interval, number, plural, reading, verdict_in_words

EFFECTS, VARIABLES, QUANTITIES, PICTURED = 25, 20, 10, 3
"""Most effects of a kind, variables, watched quantities, and pairs with pictures."""


def content(fit: Fit) -> dict[str, Any]:
    """Everything that the page's template asks for."""
    effects = fit.effects()
    own = effects[effects["kind"].isin(["main", "quadratic"])]
    together = effects[~effects["kind"].isin(["main", "quadratic", "intercept"])]
    diagnostics = fit.diagnostics
    return {
        "response": fit.design.response,
        "fit": fit,
        "design": fit.design,
        "diagnostics": diagnostics,
        "verdict": verdict_in_words(diagnostics),
        "provenance": fit.provenance,
        "pair_count": fit.design.p * (fit.design.p - 1) // 2,
        "found": _found(effects),
        "mains": _rows(own),
        "mains_total": len(own),
        "pairs": _rows(together),
        "pairs_total": len(together),
        "variables": _variables(fit),
        "quantities": _quantities(diagnostics.quantities),
        "prior": _settings(fit.prior),
        "settings": dict(fit.settings),
        "quality": _quality(fit),
        "example": reading(fit),
        "figures": _figures(fit.plot, has_pairs=len(together) > 0),
        "pictured": _pictured(fit, together),
        "number": number,
        "plural": plural,
    }


def _found(effects: pd.DataFrame) -> dict[str, list[str]]:
    """Labels of the selected effects, by kind."""
    chosen = effects[effects["selected"]]
    return {
        "mains": chosen.loc[chosen["kind"] == "main", "term"].tolist(),
        "squares": chosen.loc[chosen["kind"] == "quadratic", "term"].tolist(),
        "pairs": chosen.loc[~chosen["kind"].isin(["main", "quadratic", "intercept"]), "term"].tolist(),
    }


def _rows(effects: pd.DataFrame) -> list[dict[str, Any]]:
    top = effects.head(EFFECTS)
    return [
        {
            "term": row.term,
            "kind": row.kind,
            "mean": fixed(row.mean, 3),
            "interval": interval(row.lower, row.upper, 3),
            "natural": number(row.mean_natural),
            "natural_interval": interval(row.lower_natural, row.upper_natural),
            "positive": f"{row.prob_positive:.3f}",
            "lfsr": rate(row.lfsr),
            "selected": row.selected,
        }
        for row in rows(top)
    ]


def _variables(fit: Fit) -> list[dict[str, str]]:
    """The response and the leading variables, in units of the data."""
    design = fit.design
    y = design.response_centre + design.response_scale * design.y
    described = [{"name": design.response, "kind": "response", **_spread(y)}]
    for index in leading(fit)[:VARIABLES]:
        variable = design.variables[index]
        columns = design.X[:, variable.start : variable.stop]
        if variable.levels:
            counts = np.bincount(columns.argmax(axis=1)[columns.any(axis=1)], minlength=len(variable.levels))
            most = [f"{level} {count}" for level, count in zip(variable.levels, counts, strict=True)][:6]
            words = ", ".join(most) + (", …" if len(variable.levels) > len(most) else "")
            described.append({"name": variable.name, "kind": "factor", "levels": words})
        else:
            start = variable.start
            values = columns[:, 0] * design.scales[start] + design.centres[start]
            described.append({"name": variable.name, "kind": variable.kind, **_spread(values)})
    return described


def _spread(values: np.ndarray) -> dict[str, str]:
    figures = {"mean": values.mean(), "sd": values.std(), "low": values.min(), "high": values.max()}
    return {name: number(float(value)) for name, value in figures.items()}


def _quantities(watched: pd.DataFrame) -> list[dict[str, str]]:
    worst = watched.sort_values("r_hat", ascending=False, kind="stable").head(QUANTITIES)
    return [
        {
            "name": row.quantity,
            "r_hat": f"{row.r_hat:.3f}",
            "bulk": f"{row.ess_bulk:,.0f}",
            "tail": f"{row.ess_tail:,.0f}",
        }
        for row in rows(worst)
    ]


def _settings(prior: Any) -> dict[str, Any]:
    """The class of the prior and its settings, but for arrays."""
    names = [field.name for field in fields(prior)] if is_dataclass(prior) else []
    values = {name: getattr(prior, name) for name in names}
    plain = {name: value for name, value in values.items() if value is None or np.isscalar(value)}
    return {"name": type(prior).__name__, "values": plain}


def _quality(fit: Fit) -> dict[str, Any]:
    """How well the response is explained and predicted; what is within the sample is said to be."""
    shares = fit.variance_shares()
    r2 = np.quantile(fit.r2(), [0.5, 0.05, 0.95])
    out = leave_one_out(fit)
    return {
        "r2": f"{r2[0]:.2f}",
        "r2_interval": interval(r2[1], r2[2], 2),
        "shares": [
            (
                name,
                fixed(values.mean(), 2),
                interval(float(values.quantile(0.05)), float(values.quantile(0.95)), 2),
            )
            for name, values in shares.items()
        ],
        "out": _out_of_sample(out, fit.design),
    }


def _out_of_sample(out: LeaveOneOut, design: Design) -> dict[str, Any]:
    return {
        "r2": f"{out.r2:.2f}",
        "error": number(out.error),
        "spread": number(design.response_scale if design.response_scale != 1.0 else float(np.std(design.y))),
        "half": f"{100 * out.coverage(0.5):.0f}",
        "most": f"{100 * out.coverage(0.9):.0f}",
        "doubtful": out.doubtful,
    }


def _figures(plot: Plots, *, has_pairs: bool) -> dict[str, Any]:
    """The pictures by name; those that this fit does not have are left out."""
    names = ["forest", "predictive_check", "trace", "ranks", "prior_posterior"]
    names += ["interaction_map", "network"] if has_pairs else []
    names += ["shrinkage"] if "kappa" in plot.fit.draws.hyperparameters else []
    return {name: svg(name, getattr(plot, name)) for name in names}


def _pictured(fit: Fit, together: pd.DataFrame) -> list[dict[str, Any]]:
    """Surface and simple slopes of the surest pairs of variables."""
    if not len(together):
        return []
    posterior = fit._requests.posterior(None, "lfsr")
    order = np.argsort(posterior.mixture.lfsr, kind="stable")
    owner, names = fit.design.owner, fit.design.names
    found = [posterior.terms[k] for k in order if len(set(posterior.terms[k])) == 2]
    chosen = list(dict.fromkeys((names[owner[i]], names[owner[j]]) for i, j in found))[:PICTURED]
    return [
        {
            "names": two,
            "words": pairs.in_words(fit, pairs.find(fit, *two)),
            "surface": svg(f"surface{k}", partial(fit.plot.surface, *two)),
            "slopes": svg(f"slopes{k}", partial(fit.plot.slopes, *two)),
        }
        for k, two in enumerate(chosen)
    ]
