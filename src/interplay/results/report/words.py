"""Figures and findings in words."""

import math
from typing import Any

import numpy as np

from interplay.inference.diagnostics import Diagnostics
from interplay.results.fit import Fit

VERDICTS = {
    "trust": "The draws can be trusted",
    "run longer": "Run longer before you rely on this",
    "do not report": "Do not report these results",
}


def verdict_in_words(diagnostics: Diagnostics) -> dict[str, str]:
    """The verdict as a sentence, its mark and its reasons."""
    mark = {"trust": "good", "run longer": "wait"}.get(diagnostics.verdict, "bad")
    return {"sentence": VERDICTS[diagnostics.verdict], "mark": mark}


def number(value: float) -> str:
    """Four figures, with a real minus and no exponent where none is needed."""
    if not math.isfinite(value):
        return "–"
    text = f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"
    return text.replace("-", "−")


def fixed(value: float, decimals: int) -> str:
    """A number of decimals, with a real minus, and none before what rounds to zero."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")


def interval(lower: float, upper: float, decimals: int | None = None) -> str:
    """The two ends of an interval."""
    return " to ".join(number(end) if decimals is None else fixed(end, decimals) for end in (lower, upper))


def plural(count: int, word: str) -> str:
    """A count and its word: 1 pair, 2 pairs."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def reading(fit: Fit) -> dict[str, Any] | None:
    """The surest interaction of two numbers, as an example of how to read one; None if there is none."""
    design = fit.design
    posterior = fit._requests.posterior(None, "lfsr")
    for k in np.argsort(posterior.mixture.lfsr, kind="stable"):
        term = posterior.terms[k]
        kinds = [design.variables[design.owner[column]].kind for column in term]
        if len(set(term)) != 2 or kinds != ["numeric", "numeric"]:
            continue
        label = tuple(design.labels[column] for column in term)
        mains = [fit.effects([(name,)]).iloc[0]["mean_natural"] for name in label]
        pair = fit.effects([label]).iloc[0]
        at = design.centres[term[1]]
        step = design.scales[term[1]]
        return {
            "first": label[0],
            "second": label[1],
            "slope": number(mains[0]),
            "centre": number(at),
            "step": number(step),
            "above": number(at + step),
            "change": number(pair["mean_natural"] * step),
            "then": number(mains[0] + pair["mean_natural"] * step),
            "mean": number(pair["mean_natural"]),
            "interval": interval(pair["lower_natural"], pair["upper_natural"]),
            "sure": bool(pair["selected"]),
        }
    return None
