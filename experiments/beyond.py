"""Beyond the paper: correlated covariates, weak hierarchy and heavy tails, and the threshold."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.table import Table

from experiments import cells, figure3, score
from experiments.cells import RULES
from experiments.experiment import Experiment
from experiments.methods import HIERARCHICAL, LASSO, SKIM, SUBSET, grid
from experiments.plots import new, plain_log, save
from experiments.task import Record, Task
from interplay.effects.selection import within_fdr

KINDS = {
    "synthetic": ("as in the paper", "o", "-"),
    "ar": ("AR(0.5) covariates", "s", "--"),
    "block": ("a block of r = ±0.9", "^", ":"),
    "weak": ("a pair without its mains", "D", "-."),
    "heavy": ("t(3) noise", "v", (0, (6, 1, 1, 1, 1, 1))),
}
"""By kind of data: in words, marker and line."""

COMPARED = (SKIM, LASSO, HIERARCHICAL, SUBSET)

THRESHOLDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
"""Of the local false sign rate, and of its mean for the rule fdr."""


def tasks(quick: bool) -> list[Task]:
    """The 36 settings with each further kind of data, and SKIM's fits of Figure 3 as they are."""
    kinds = ["weak"] if quick else [kind for kind in KINDS if kind != "synthetic"]
    data = [{"kind": kind} | one for kind in kinds for one in figure3.settings(quick)]
    sizes = [(one["n"], one["p"]) for one in data]
    methods, limits = ((SKIM,), {"draws": 25}) if quick else (COMPARED, None)
    plain = [task for task in figure3.tasks(quick) if task.method in COMPARED]
    return plain + grid("beyond", data, sizes, methods=methods, limits=limits)


def tables(records: list[Record]) -> list[Table]:
    """What was found by kind of data, the pair without mains; proportions and power by threshold."""
    counted = [_counted(one) for one in records]
    return [_found(counted), _alone(records), _thresholds(counted)]


def draw(records: list[Record], path: Path) -> None:
    """Draw false discovery proportion and power against the threshold, for both rules."""
    figure, panels = new(2, 2, width=9.5, height=7.4)
    counted = [_counted(one) for one in records]
    for (proportion, power), rule in zip(panels.reshape(2, 2), ("lfsr", "fdr"), strict=True):
        for kind, (words, marker, line) in KINDS.items():
            fits = _fits(counted, kind)
            if fits:
                style = {
                    "marker": marker,
                    "linestyle": line,
                    "color": "black",
                    "label": words,
                    "linewidth": 1.2,
                }
                both = np.array([proportion_and_power(fits, rule, q) for q in THRESHOLDS])
                proportion.plot(THRESHOLDS, both[:, 0], markerfacecolor="white", **style)
                power.plot(THRESHOLDS, both[:, 1], markerfacecolor="white", **style)
        same = {"color": "0.6", "linewidth": 3, "zorder": 0, "label": "proportion = threshold"}
        proportion.plot(THRESHOLDS, THRESHOLDS, **same)
        what = "threshold on lfsr" if rule == "lfsr" else "bound on mean lfsr"
        for axes in (proportion, power):
            axes.set(xscale="log", xlabel=f"{what} (probability)", title=f"Rule {rule}")
            plain_log(axes.xaxis, 1.0, 2.0, 5.0)
        proportion.set(ylabel="false discovery proportion (mean)", ylim=(-0.02, None))
        power.set(ylabel="power (mean part of the truth found)", ylim=(-0.02, 1.02))
    save(figure, path, columns=3)


def chosen(terms: Sequence[dict], rule: str, q: float) -> list[bool]:
    """Which of the kept terms of a fit a rule selects at a threshold."""
    rates = np.array([term["lfsr"] for term in terms])
    if rule == "lfsr":
        return (rates <= q).tolist()
    return within_fdr(rates, q).tolist()


def proportion_and_power(fits: Sequence[Record], rule: str, q: float) -> tuple[float, float]:
    """False part of what is selected (0 of nothing) and part of the truth that is found: means over fits."""
    proportions, powers = [], []
    for fit in fits:
        terms = fit.values["terms"]
        kept = [term["right"] for term, keep in zip(terms, chosen(terms, rule, q), strict=True) if keep]
        proportions.append((len(kept) - sum(kept)) / len(kept) if kept else 0.0)
        powers.append(sum(kept) / sum(term["right"] for term in terms))
    return cells.mean(proportions), cells.mean(powers)


def _kind(record: Record) -> str:
    return record.task.data["kind"]


def _fits(records: Sequence[Record], kind: str) -> list[Record]:
    return [one for one in cells.of(records, SKIM) if _kind(one) == kind]


def _found(records: list[Record]) -> Table:
    note = (
        "Sums over the data sets that a method has done: effects right and wrong; false discovery proportion "
        "and power of mains and pairs together, means over the data sets; squared errors, medians."
    )
    rows = []
    for kind, (words, *_) in KINDS.items():
        for name in COMPARED:
            done = [one for one in cells.of(records, name) if _kind(one) == kind]
            for rule in RULES if name == SKIM else ("nonzero",):
                if done:
                    rows.append([words, cells.named(name, rule), str(len(done)), *_figures(done, rule)])
    heads = ["data", "method", "data sets", "mains, pairs", "proportion", "power", "main error", "pair error"]
    return Table("What was found", note, heads, rows)


def _figures(done: list[Record], rule: str) -> list[str]:
    proportions, powers = [], []
    for one in done:
        found = one.values["found"][rule]
        right, wrong = len(found["true_terms"]), len(found["false_terms"])
        truth = sum(term["right"] for term in one.values["terms"])
        proportions.append(wrong / (right + wrong) if right + wrong else 0.0)
        powers.append(right / truth)
    errors = [float(np.median([one.values["errors"][kind] for one in done])) for kind in ("mains", "pairs")]
    shares = [f"{cells.mean(proportions):.3f}", f"{cells.mean(powers):.2f}"]
    return [cells.total(done, rule), *shares, *map(cells.digits, errors)]


def pair_alone(record: Record) -> str:
    """The true pair of two variables without main effects, empty where there is none."""
    right = {term["term"] for term in record.values["terms"] if term["right"]}
    return next((name for name in right if ":" in name and not right & set(name.split(":"))), "")


def _counted(record: Record) -> Record:
    """The same without the mains of the pair that has none.

    With the others at their means, which is where a main effect is taken, each is the mean of the other
    times the effect of the pair: small, but not zero, and so neither right nor wrong.
    """
    if not record.done or _kind(record) != "weak":
        return record
    theirs = set(pair_alone(record).split(":"))
    found = {
        rule: score.found({*one["true_terms"], *one["false_terms"]} - theirs, one["true_terms"])
        for rule, one in record.values["found"].items()
    }
    terms = [term for term in record.values["terms"] if term["term"] not in theirs]
    return replace(record, values={**record.values, "found": found, "terms": terms})


def _alone(records: list[Record]) -> Table:
    note = (
        "The eleventh pair, of two variables without main effects: in how many data sets a method selects "
        "it, all of the ten other pairs, and a main effect of either variable. With the others at their "
        "means these are not zero but the mean of the other: they are counted here alone, as neither right "
        "nor wrong elsewhere."
    )
    rows = []
    for name in COMPARED:
        done = [one for one in cells.of(records, name) if _kind(one) == "weak"]
        for rule in RULES if name == SKIM else ("nonzero",):
            pairs = [
                {term for term in one.values["found"][rule]["true_terms"] if ":" in term} for one in done
            ]
            alone = [pair_alone(one) for one in done]
            wrong = [one.values["found"][rule]["false_terms"] for one in done]
            if done:
                found = sum(one in some for one, some in zip(alone, pairs, strict=True))
                others = sum(len(some - {one}) == 10 for one, some in zip(alone, pairs, strict=True))
                mains = sum(
                    not set(one.split(":")).isdisjoint(some) for one, some in zip(alone, wrong, strict=True)
                )
                counts = (f"{count} of {len(done)}" for count in (found, others, mains))
                rows.append([cells.named(name, rule), *counts])
    heads = ["method", "that pair", "the ten others", "a main effect of it"]
    return Table("The pair without its mains", note, heads, rows)


def _thresholds(records: list[Record]) -> Table:
    note = (
        "SKIM: false discovery proportion / power, means over the data sets, against the threshold on the "
        "local false sign rate (rule lfsr) and on its mean (rule fdr, never above 0.1 for any term)."
    )
    rows = []
    for kind, (words, *_) in KINDS.items():
        fits = _fits(records, kind)
        for rule in ("lfsr", "fdr"):
            if fits:
                pairs = [proportion_and_power(fits, rule, q) for q in THRESHOLDS]
                rows.append([words, rule, *(f"{share:.3f} / {power:.2f}" for share, power in pairs)])
    return Table("Against the threshold", note, ["data", "rule", *map(str, THRESHOLDS)], rows)


BEYOND = Experiment(
    name="beyond",
    title="Beyond the paper: other data, and the threshold",
    about=(
        "The 36 settings of Figure 3 with neighbouring covariates correlated by 0.5; with one block of five "
        "covariates of both signs with |r| = 0.9, one of them active; with an eleventh pair, of two "
        "variables without main effects; and with noise from a t distribution with 3 degrees of freedom and "
        "the same variance. The paper has none of this."
    ),
    tasks=tasks,
    tables=tables,
    draw=draw,
    picture="False discovery proportion and power against the threshold, by rule and kind of data",
)
