"""`interplay demo`: the package at work on data whose truth is known."""

from pathlib import Path
from typing import Annotated

import typer

from interplay.app.cli.messages import say
from interplay.app.cli.places import output


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the fit of the simulated trial.")] = Path(
        "demo.nc"
    ),
) -> None:
    """Show what a fit finds where the truth is known.

    Fits a simulated trial and the diabetes data of scikit-learn, in a few minutes.

    \b
    Example:
    interplay demo
    """
    target = output(out, "--out")
    say("Starting …")
    from interplay.app.demo import main

    main(target)
