"""The package at work: a simulated trial whose truth is known, and data where there is little to find."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import interplay as ip

FILE = Path("demo.nc")
"""Where the fit of the trial is saved."""

DOSES = {"none": -3.0, "low": -1.0, "high": 4.0}
"""Effect of each level of the factor, as a deviation from the average of the levels: they sum to zero."""

SLOPES = {"none": -2.0, "low": -1.0, "high": 3.0}
"""How each level changes the effect of one gene, from the average; they sum to zero too."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Data as they would come from a laboratory, and the effects that they were made of.

    Parameters
    ----------
    data
        Covariates: levels of genes, and a factor `dose`.
    response
        The response.
    truth
        Every effect that is not zero, by label.
    """

    data: pd.DataFrame
    response: pd.Series
    truth: dict[str, float]


def main(
    file: Path = FILE, rows: int = 120, covariates: int = 200, console: Console | None = None, **settings: Any
) -> None:
    """Fit a simulated trial and the diabetes data, and print what is found.

    Parameters
    ----------
    file
        Where the fit of the trial is saved.
    rows, covariates
        Size of the trial.
    console
        Where to print.
    settings
        Of `interplay.InteractionRegressor`, for a quicker look.
    """
    console = console or Console(width=min(Console().width, 100), highlight=False, emoji=False)
    show_trial(console, simulate_trial(rows, covariates), file, settings)
    show_diabetes(console, settings)


def simulate_trial(rows: int, covariates: int, seed: int = 0) -> Trial:
    """Draw a trial in which four genes act, alone and in pairs, and a dose acts, alone and with one gene."""
    genes = ip.simulate.synthetic(rows, covariates - 1, scale=2.0, active=4, noise_variance=9.0, seed=seed)
    names = {name: f"gene{number:03d}" for number, name in enumerate(genes.names, start=1)}
    partner = genes.mains[0]
    levels = list(DOSES)
    dose = pd.Series(np.random.default_rng(seed).permutation(np.resize(levels, rows)), name="dose")
    frame = genes.frame("growth")
    growth = (frame["growth"] + dose.map(DOSES) + dose.map(SLOPES) * frame[partner]).rename("growth")
    truth = {
        ":".join(names[name] for name in label.split(":")): effect for label, effect in genes.terms.items()
    }
    truth |= {f"dose[{level}]": DOSES[level] for level in levels}
    truth |= {f"{names[partner]}:dose[{level}]": SLOPES[level] for level in levels}
    data = pd.concat([frame.drop(columns="growth").rename(columns=names), dose], axis=1)
    return Trial(data, growth, truth)


def show_trial(console: Console, trial: Trial, file: Path, settings: dict[str, Any]) -> None:
    """Fit the trial; print its effects beside the truth and a verdict; save the fit."""
    rows, covariates = trial.data.shape
    console.rule("[bold]A simulated trial, whose truth is known", align="left")
    console.print(
        f"{rows} rows and {covariates} covariates, {covariates - 1} genes and a dose (a factor of"
        f" {len(DOSES)} levels), with {_pair_count(covariates):,} possible pairs. Four genes and"
        " their pairs act on growth; so does the dose, alone and together with one of these genes. The fit"
        " is given the table and nothing else.\n"
    )
    estimator = ip.InteractionRegressor(random_state=0, **settings).fit(trial.data, trial.response)
    effects = estimator.effects()
    pairs = effects["kind"] == "pair"
    console.print(_rendered("Main and quadratic effects, the surest first", effects[~pairs], trial.truth))
    title = f"Interactions, the surest of all {_pair_count(covariates):,} pairs"
    console.print(_rendered(title, effects[pairs], trial.truth))
    found = set(effects.loc[effects["selected"], "term"])
    false = len(found - set(trial.truth))
    console.print(
        "Effects are in units of the data; those of a dose are deviations from the average dose. lfsr is the"
        " chance that the sign is wrong, and at most 0.05 for what is selected:"
        f" [bold]{len(found) - false} of the {len(trial.truth)} effects that are there, and"
        f" {false or 'none'} that {'is' if false == 1 else 'are'} not[/bold]."
    )
    _convergence(console, estimator)
    estimator.fit_.save(file)
    console.print(
        f"Saved, data included, to [bold]{file}[/bold]. To ask it more:"
        f' [bold]ip.load("{file}").effects(["{next(iter(trial.truth))}:dose"])[/bold]\n'
    )


def show_diabetes(console: Console, settings: dict[str, Any]) -> None:
    """Fit the diabetes data, and say whether they support any interaction."""
    data, progression = ip.datasets.diabetes()
    rows, covariates = data.shape
    console.rule("[bold]Real data: diabetes, from scikit-learn", align="left")
    console.print(
        f"{rows} patients, {covariates} covariates, {_pair_count(covariates)} possible pairs; the response is"
        " the progression of the disease after a year.\n"
    )
    estimator = ip.InteractionRegressor(random_state=0, **settings).fit(data, progression)
    effects = estimator.effects()
    console.print(_rendered("All effects, the surest first", effects))
    pairs = effects[effects["kind"] == "pair"]
    chosen = pairs.loc[pairs["selected"], "term"].tolist()
    if chosen:
        count = "one interaction" if len(chosen) == 1 else f"{len(chosen)} interactions"
        words = f"The data support {count}: {', '.join(chosen)}."
    else:
        words = "The data support no interaction: of none is the sign known with a probability of 95 %."
        if len(pairs):
            surest = pairs.iloc[0]
            words += (
                f" The surest, {surest['term']}, has the wrong sign with a chance of {surest['lfsr']:.2f}."
            )
    low, middle, high = estimator.fit_.variance_shares()["interaction"].quantile([0.05, 0.5, 0.95])
    console.print(
        f"[bold]{escape(words)}[/bold] All interactions together make up {middle:.1%} of the variance of the"
        f" response (90 % interval {low:.1%} to {high:.1%})."
    )
    _convergence(console, estimator)


def _pair_count(covariates: int) -> int:
    return covariates * (covariates - 1) // 2


def _convergence(console: Console, estimator: ip.InteractionRegressor) -> None:
    draws, diagnostics = estimator.fit_.draws, estimator.diagnostics_
    console.print(
        f"Convergence: [bold]{escape(str(diagnostics))}[/bold] {draws.chains} chains of {draws.length}"
        f" draws in {diagnostics.seconds:.0f} s."
    )


def _rendered(title: str, effects: pd.DataFrame, truth: dict[str, float] | None = None) -> Table:
    """What is selected, what is true, and at least the first eight, as a table."""
    table = Table(
        padding=(0, 1, 0, 0),
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("effect", no_wrap=True)
    numbers = ["mean", "90 % interval", "P(> 0)", "lfsr"]
    for heading in numbers if truth is None else ["truth", *numbers]:
        table.add_column(heading, justify="right", no_wrap=True, min_width=len(heading))
    table.add_column("", no_wrap=True)
    known = truth or {}
    shown = effects["selected"] | effects["term"].isin(list(known)) | (np.arange(len(effects)) < 8)
    for row in effects[shown].to_dict("records"):
        true = known.get(row["term"])
        cells = [
            f"{row['mean_natural']:.3g}",
            f"{row['lower_natural']:.3g} to {row['upper_natural']:.3g}",
            f"{row['prob_positive']:.3f}",
            f"{row['lfsr']:.1g}",
        ]
        mark = _mark(row["selected"], true) if truth is not None else "selected" * row["selected"]
        beside = [] if truth is None else [f"{true or 0:g}"]
        table.add_row(escape(row["term"]), *beside, *cells, mark)
    return table


def _mark(selected: bool, true: float | None) -> str:
    if selected:
        return "[green]✓ true[/green]" if true else "[red]✗ false[/red]"
    return "[yellow]missed[/yellow]" if true else ""


if __name__ == "__main__":
    main()
