"""A fit at a glance: model, data, convergence and the surest effects, for a terminal and for a notebook."""

from dataclasses import fields, is_dataclass
from html import escape
from numbers import Number
from textwrap import wrap

import pandas as pd

from interplay.data.design import Design
from interplay.data.errors import quoted
from interplay.inference.diagnostics import Diagnostics
from interplay.model.families import Family, Gaussian
from interplay.model.priors.base import Prior
from interplay.results.fit import Fit

SHOWN, WIDTH, NAME = 10, 100, 36
"""Effects that are shown, and characters in a line of text and in the name of an effect."""


def as_text(fit: Fit) -> str:
    """The summary as lines of text."""
    facts, effects = _facts(fit), fit.effects()
    margin = max(map(len, facts)) + 2
    lines = [
        f"{name if not k else '':<{margin}}{part}"
        for name, text in facts.items()
        for k, part in enumerate(wrap(text, WIDTH - margin, break_long_words=False))
    ]
    table = _shown(effects).to_string(index=False)
    return "\n".join([*lines, "", *wrap(_heading(effects), WIDTH), table])


def as_html(fit: Fit) -> str:
    """The summary as a piece of HTML."""
    effects = fit.effects()
    left = "style='text-align:left'"
    rows = "".join(
        f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(text)}</td></tr>"
        for name, text in _facts(fit).items()
    )
    table = _shown(effects).to_html(index=False, border=0)
    return f"<div><table>{rows}</table><p>{escape(_heading(effects))}</p>{table}</div>"


def _facts(fit: Fit) -> dict[str, str]:
    draws, diagnostics = fit.draws, fit.diagnostics
    seed = fit.provenance.seed
    facts = {"model": _model(fit), "data": _data(fit.design)}
    if fit.design.left_out:
        facts["left out"] = f"{quoted(fit.design.left_out)}, as they are constant"
    facts["draws"] = f"{draws.chains} chains × {draws.length} in {diagnostics.seconds:.3g} s, seed {seed}"
    facts["convergence"] = _convergence(diagnostics)
    if diagnostics.verdict != "trust" and diagnostics.limit:
        facts["limited by"] = diagnostics.limit
    return facts


def _model(fit: Fit) -> str:
    """The prior, and the family if it is not the usual one."""
    prior = _described(fit.prior)
    return prior if fit.family == Gaussian() else f"{prior}, {_described(fit.family)}"


def _data(design: Design) -> str:
    factors = sum(bool(variable.levels) for variable in design.variables)
    pairs = design.p * (design.p - 1) // 2
    kinds = f", {factors} of them factor{'s' if factors > 1 else ''}" if factors else ""
    text = (
        f"{design.n:,} rows, {design.p:,} variables{kinds}, {pairs:,} possible pairs;"
        f" response '{design.response}'"
    )
    return text + (f"; missing values by {design.impute}" if design.impute else "")


def _convergence(diagnostics: Diagnostics) -> str:
    return f"{diagnostics} {diagnostics.divergences} of the iterations diverged."


def _described(part: Prior | Family) -> str:
    """The class of a prior or family, with those of its numeric settings that are not at their defaults."""
    settings: dict[str, object] = (
        {field.name: field.default for field in fields(part)} if is_dataclass(part) else {}
    )
    values = {name: getattr(part, name) for name in settings}
    changed = [
        f"{name}={value!r}"
        for name, value in values.items()
        if isinstance(value, Number) and value != settings[name]
    ]
    return f"{type(part).__name__}({', '.join(changed)})"


def _heading(effects: pd.DataFrame) -> str:
    count = int(effects["selected"].sum())
    shown = min(SHOWN, len(effects))
    return (
        f"The surest {shown} of {len(effects):,} effects that were looked at; {count} have a local false sign"
        " rate (lfsr) of at most 0.05 (*)."
    )


def _shown(effects: pd.DataFrame) -> pd.DataFrame:
    top = effects.head(SHOWN)
    names = [name if len(name) <= NAME else f"{name[: NAME - 1]}…" for name in top["term"]]
    ends = zip(top["lower"], top["upper"], strict=True)
    return pd.DataFrame(
        {
            "effect": names,
            "kind": top["kind"],
            "mean": top["mean"].map("{:.3f}".format),
            "90 % interval": [f"{low:.3f} to {high:.3f}" for low, high in ends],
            "in units": top["mean_natural"].map("{:.4g}".format),
            "P(> 0)": top["prob_positive"].map("{:.3f}".format),
            "lfsr": top["lfsr"].map("{:.2g}".format),
            "": top["selected"].map({True: "*", False: ""}),
        }
    )
