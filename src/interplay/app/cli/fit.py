"""`interplay fit`: learn from a file, say what was found, and save it."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interplay.app.cli import options
from interplay.app.cli.messages import INTERRUPTED, UNREPORTABLE, in_words, progress, say, warn
from interplay.app.cli.places import STDIN, checkpoint_file, data_file, output

if TYPE_CHECKING:
    from interplay.results.fit import Fit

SHOWN = 15
"""Effects that are shown beside those that are selected, and most of all."""


def fit(
    data: options.Data,
    response: options.Response,
    drop: options.Drop = None,
    impute: options.Impute = None,
    expected_mains: options.ExpectedMains = None,
    quadratic: options.Quadratic = True,
    seed: Annotated[int, typer.Option(help="Of the random numbers: the same seed gives the same draws.")] = 0,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="File to write the run to while it goes on; if it is there, the run goes on from it."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File for the fit; the name of DATA with .nc unless given."),
    ] = None,
    max_draws: Annotated[
        int, typer.Option(min=1, help="Draws of each chain after which to end, converged or not.")
    ] = 8000,
    max_seconds: Annotated[
        float | None, typer.Option(min=0.0, help="Seconds after which to end, converged or not.")
    ] = None,
) -> None:
    """Learn effects and interactions from a table, and save the fit.

    Ctrl-C ends sampling early and saves the draws so far. The summary goes to stdout, progress to stderr.
    Exit code 3: the fit is saved, but its verdict is 'do not report'.

    \b
    Examples:
    interplay fit data.csv --response y
    interplay fit data.csv -r y --drop id,name --impute mean --out run.nc
    interplay fit data.csv -r y --checkpoint run.part     the same again goes on
    zcat data.csv.gz | interplay fit - -r y -o run.nc
    """
    target = output(out or Path(_stem(data)).with_suffix(".nc"), "--out", source=data)
    if checkpoint is not None:
        checkpoint = checkpoint_file(checkpoint, source=data, target=target)
    with data_file(data) as file:
        asked = options.request(response, drop, impute, expected_mains, quadratic)
        request = replace(asked, seed=seed, max_draws=max_draws, max_seconds=max_seconds)
        design = request.design(file)
        request.prior.check(design.p)
    say(f"{options.size(design)}. Fitting; Ctrl-C stops and keeps the draws so far.")
    again = f" The same command goes on from {checkpoint}." if checkpoint else ""
    try:
        learned = request.fit(design, checkpoint=checkpoint, progress=progress())
    except KeyboardInterrupt:
        say(f"Stopped before there were draws: nothing was saved to {target}.{again}")
        raise typer.Exit(INTERRUPTED) from None
    learned.save(target)
    _show(learned, target)
    if learned.diagnostics.ended == "interrupted":
        say(f"Stopped: the draws so far are saved.{again}")
        raise typer.Exit(INTERRUPTED)
    if learned.diagnostics.verdict == "do not report":
        raise typer.Exit(UNREPORTABLE)


def _stem(data: str) -> str:
    """The name of the data without folder and ending."""
    return "fit" if data == STDIN else Path(data).name.removesuffix(".gz")


def _show(learned: "Fit", target: Path) -> None:
    from interplay.app.cli.tables import console, effect_table

    effects = learned.effects()
    chosen = int(effects["selected"].sum())
    shown = effects.head(max(SHOWN, min(chosen, 3 * SHOWN)))
    screen = console()
    screen.print(effect_table(shown, f"The surest {len(shown)} of {len(effects):,} effects"))
    screen.print(
        f"✓ {chosen} selected: the chance that the sign is wrong (lfsr) is at most 0.05. Means are per"
        " standard deviation, and in units of the data.",
        soft_wrap=True,
    )
    verdict = in_words(str(learned.diagnostics))
    screen.print(f"Convergence: {verdict}", soft_wrap=True, markup=False)
    screen.print(f"Saved to {target}, data included.", soft_wrap=True, markup=False)
    warn(learned)
