"""`interplay serve`: the page, from this machine."""

from pathlib import Path
from typing import Annotated

import typer

from interplay.app.cli.messages import say


def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen at; others than this machine's need a token.")
    ] = ("127.0.0.1"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at.")] = 8000,
    token: Annotated[
        str | None, typer.Option(help="What a visitor must know; needed where the host is not local.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Where uploads, runs and fits are kept; a restart finds them there.")
    ] = None,
) -> None:
    """Serve a page to upload, fit and explore data.

    \b
    Examples:
    interplay serve
    interplay serve --host 0.0.0.0 --token "$(openssl rand -hex 16)" --folder /srv/interplay
    """
    say("Starting …")
    from interplay.app.web.server import serve as run

    run(host=host, port=port, token=token, folder=folder)
