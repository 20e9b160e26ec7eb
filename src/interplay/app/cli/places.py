"""Where data come from and where results go, checked before anything takes long."""

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from interplay._support.files import check_writable
from interplay.app.cli.messages import say
from interplay.data.errors import DataError

STDIN = "-"

BEGINS = {
    "a saved fit": re.compile(rb"\x89HDF\r\n\x1a\n"),
    "a page": re.compile(rb"\s*<(!doctype )?html", re.IGNORECASE),
}
"""How a file of each kind begins."""


@contextmanager
def data_file(given: str) -> Iterator[Path]:
    """The file that was named, or one that holds what comes from stdin."""
    if given != STDIN:
        say(f"Reading {given} …")
        yield Path(given)
        return
    say("Reading from stdin …")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "stdin.csv"
        with file.open("wb") as target:
            shutil.copyfileobj(sys.stdin.buffer, target)
        try:
            yield file
        except DataError as error:
            raise DataError(str(error).replace(f"'{file}'", "stdin")) from error


def output(path: Path, option: str, *, source: str = STDIN, kind: str = "a saved fit") -> Path:
    """The path, if a file may be written there.

    Parameters
    ----------
    path
        Where a result is to go.
    option
        How it can be changed, for messages.
    source
        What the result is made from, which must not be overwritten.
    kind
        What the file will be, of `BEGINS`: no file of another kind is overwritten.
    """
    path = path.expanduser()
    advice = f"Give another file with {option}."
    if path.is_dir():
        raise DataError(f"cannot write to '{path}', which is a folder. {advice}")
    _check_place(path, option, source)
    if path.exists():
        _check_replaceable(path, advice, kind)
    try:
        check_writable(path)
    except OSError as error:
        raise DataError(
            f"cannot write to '{path}': {error.strerror or error}. Give a file in a folder that you may write"
            f" to, with {option}."
        ) from error
    return path


def checkpoint_file(path: Path, *, source: str, target: Path) -> Path:
    """The path of a checkpoint, if it can be written there, or read as one.

    Parameters
    ----------
    path
        Where the run is to be written.
    source, target
        Data and fit, which must be other files.
    """
    path = path.expanduser()
    _check_place(path, "--checkpoint", source)
    if path.absolute() == target.absolute():
        raise DataError(
            f"the fit and the checkpoint would both be written to '{path}'. Give another file with"
            " --checkpoint."
        )
    return path


def _check_place(path: Path, option: str, source: str) -> None:
    if not path.parent.is_dir():
        raise DataError(
            f"cannot write to '{path}': there is no folder '{path.parent}'. Make that folder, or give another"
            f" file with {option}."
        )
    if source != STDIN and path.exists() and Path(source).exists() and path.samefile(source):
        raise DataError(
            f"'{path}' is what would be read: it is not overwritten. Give another file with {option}."
        )


def _check_replaceable(path: Path, advice: str, kind: str) -> None:
    if path.is_file() and path.stat().st_size:
        with path.open("rb") as file:
            if not BEGINS[kind].match(file.read(100)):
                raise DataError(f"'{path}' is there and is not {kind}: it is not overwritten. {advice}")
    say(f"{path} is there already, and will be replaced.")
