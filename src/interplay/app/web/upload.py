"""Data that come in: streamed to the disk, within limits, under a name of our own."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from interplay.app.web.refusal import RefusedError

if TYPE_CHECKING:
    import pandas as pd

LARGEST = 50_000_000
"""Bytes of an upload."""

DEMOS = {"diabetes": "Diabetes (example)", "trial": "Simulated trial (example)"}
"""Data to try the page with, and what they are called."""

COMPRESSED = {b"\x1f\x8b": "gzip", b"PK": "zip"}
"""How compressed files begin: what they hold could be of any size."""


async def receive(chunks: AsyncIterator[bytes], length: str | None, path: Path) -> None:
    """Write an upload to a file, a piece at a time.

    Parameters
    ----------
    chunks
        The pieces.
    length
        The size that was announced, if it was: what is too large is then refused before it is sent.
    path
        Where to.
    """
    if length is not None and length.isdigit() and int(length) > LARGEST:
        raise _too_large()
    size = 0
    with path.open("wb") as file:
        async for chunk in chunks:
            size += len(chunk)
            if size > LARGEST:
                raise _too_large()
            file.write(chunk)
    _refuse_compressed(path)


def write_demo(name: str, path: Path) -> str:
    """Write data to try the page with, and give their title."""
    if name not in DEMOS:
        raise RefusedError(404, "There are no such example data.")
    data, response = _demo(name)
    data.assign(**{str(response.name): response}).to_csv(path, index=False)
    return DEMOS[name]


def _demo(name: str) -> "tuple[pd.DataFrame, pd.Series]":
    if name == "diabetes":
        from interplay.data.datasets import diabetes

        data, response = diabetes()
        return data, response.rename("progression")
    from interplay.app.demo import simulate_trial

    trial = simulate_trial(120, 200)
    return trial.data, trial.response


def _too_large() -> RefusedError:
    return RefusedError(
        413,
        f"The file is larger than {LARGEST // 1_000_000} MB. Leave out rows or columns, or use the command"
        " line, which has no such limit: interplay fit data.csv --response y",
    )


def _refuse_compressed(path: Path) -> None:
    with path.open("rb") as file:
        start = file.read(2)
    for mark, name in COMPRESSED.items():
        if start == mark:
            raise RefusedError(
                415,
                f"This is a compressed file ({name}; Excel's .xlsx is one too): expected plain text. Unpack"
                " it, or save the sheet as CSV.",
            )
