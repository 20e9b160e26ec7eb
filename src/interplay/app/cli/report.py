"""`interplay report`: a saved fit as one page to read and to pass on."""

from pathlib import Path
from typing import Annotated

import typer

from interplay.app.cli import options
from interplay.app.cli.messages import opened, say
from interplay.app.cli.places import output


def report(
    saved: options.Saved,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page; the name of FIT with .html unless given.")
    ] = None,
) -> None:
    """Write a saved fit as one HTML page with tables and plots.

    The page needs no network: it opens from disk, and can be passed on.

    \b
    Example:
    interplay report run.nc -o report.html
    """
    page = out or Path(Path(saved).name).with_suffix(".html")
    target = output(page, "--out", source=saved, kind="a page")
    opened(saved).report(target)
    say(f"Written to {target}.")
