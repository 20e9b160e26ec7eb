"""What the page asks of a fit, answered in plain values."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from interplay.app.web.words import in_words
from interplay.data.errors import DataError
from interplay.effects.mixture import Mixture
from interplay.model.terms import Term, parse
from interplay.results.fit import Fit
from interplay.results.plots import leading, slopes, surface
from interplay.results.plots import pair as pairs

LEADING = 12
"""Variables of the interaction map."""

POINTS = 161
"""Values at which a density is drawn."""

MOST_DENSITIES = 6
"""Densities that are drawn of a pair with a factor."""

MOST_DOTS = 500
"""Rows of the data that are drawn on a surface, evenly spaced over all."""

Parts = tuple[str, ...]
"""A term as the labels of its columns, which is clear even where names hold a colon."""


def results(fit: Fit, effects: pd.DataFrame) -> dict[str, Any]:
    """What is shown first: the verdict, the effect table and the interaction map.

    Parameters
    ----------
    fit
        The fit.
    effects
        Its effect table.
    """
    return {"summary": _summary(fit), "effects": _rows(fit, effects), "map": _map(fit)}


def asked(fit: Fit, term: str) -> list[dict[str, Any]]:
    """The effects that a label asks for, as rows of the effect table."""
    return _rows(fit, fit.effects([term]))


def posterior(fit: Fit, parts: Parts) -> dict[str, Any]:
    """Density of one effect in units of the data."""
    return _density(fit, [parts])[0]


def pair(fit: Fit, first: str, second: str) -> dict[str, Any]:
    """The response over two variables, along the first with the second held, and their interaction.

    A factor has an interaction for each level; they come with the surest first.
    """
    found = pairs.find(fit, first, second)
    columns = [fit.design.labels[v.start : v.stop] for v in (found.first, found.second)]
    rows = _rows(fit, fit.effects([(a, b) for a in columns[0] for b in columns[1]]))
    clear = [row for row in rows[:MOST_DENSITIES] if row["parts"]]
    dots = pairs.observed(fit, found)
    return {
        "first": first,
        "second": second,
        "response": found.response,
        "effects": rows,
        "densities": _density(fit, [tuple(row["parts"]) for row in clear]),
        "surface": _columns(surface.table(fit, first, second)),
        "slopes": _columns(slopes.table(fit, first, second)),
        "observed": _columns(dots.iloc[:: max(1, -(-len(dots) // MOST_DOTS))]),
    }


def report(fit: Fit, path: Path) -> None:
    """Write the report to a file."""
    fit.report(path)


def _summary(fit: Fit) -> dict[str, Any]:
    design, diagnostics = fit.design, fit.diagnostics
    shares = fit.variance_shares()
    words = [diagnostics.reason, diagnostics.remedy, *diagnostics.remedies]
    return _plain(
        {
            "rows": design.n,
            "variables": design.p,
            "names": list(design.labels),
            "response": design.response,
            "pairs": design.p * (design.p - 1) // 2,
            "verdict": diagnostics.verdict,
            "words": in_words(" ".join(part for part in words if part)),
            "ended": diagnostics.ended,
            "r_hat": diagnostics.r_hat,
            "ess": min(diagnostics.ess_bulk, diagnostics.ess_tail),
            "divergences": diagnostics.divergences,
            "chains": fit.draws.chains,
            "draws": fit.draws.length,
            "seconds": diagnostics.seconds,
            "explained": np.quantile(1.0 - shares["noise"], [0.05, 0.5, 0.95]).tolist(),
            "interactions": np.quantile(shares["interaction"], [0.05, 0.5, 0.95]).tolist(),
        }
    )


def _rows(fit: Fit, effects: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of an effect table, each with the variables and columns that it is about."""
    rows = _records(effects)
    for row in rows:
        try:
            columns: Term = parse(row["term"], fit.design)[0]
        except DataError:
            # A label that can be read in two ways, as names hold colons.
            columns = ()
        row["parts"] = [fit.design.labels[column] for column in columns]
        row["variables"] = [fit.design.names[fit.design.owner[column]] for column in columns]
    return rows


def _map(fit: Fit) -> dict[str, Any]:
    """The leading variables, and the surest effect of each two of them."""
    table = leading.table(fit, LEADING)
    return {"names": leading.variables(table), "cells": _records(table[table["kind"] != "main"])}


def _density(fit: Fit, terms: list[Parts]) -> list[dict[str, Any]]:
    """Exact densities on a grid; a Gaussian narrower than a step of it is drawn as wide as that."""
    if not terms:
        return []
    joint = fit.joint(terms).natural()
    variances = np.diagonal(joint.mixture.covariances, axis1=1, axis2=2)
    mixture = Mixture(joint.mixture.means, np.sqrt(np.maximum(variances, 0.0)))
    ends = zip(mixture.quantile(0.002), mixture.quantile(0.998), strict=True)
    made = []
    for column, (low, high) in enumerate(ends):
        x = np.linspace(low, high, POINTS) if high > low else np.linspace(low - 0.5, low + 0.5, POINTS)
        means, sds = mixture.means[:, [column]], np.maximum(mixture.sds[:, [column]], x[1] - x[0])
        density = norm.pdf(x, means, sds).mean(axis=0)
        made.append({"term": joint.labels[column], "x": x.tolist(), "density": density.tolist()})
    return made


def _columns(table: pd.DataFrame) -> dict[str, list[Any]]:
    return {str(name): _plain(table[name].tolist()) for name in table}


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return _plain(table.to_dict("records"))


def _plain(value: Any) -> Any:
    """The value with None in place of what is no finite number, which JSON cannot say."""
    return json.loads(json.dumps(value), parse_constant=lambda name: None)
