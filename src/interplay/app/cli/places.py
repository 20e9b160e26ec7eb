"""Where data come from and where results go, checked before anything takes long."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from interplay.app.cli.messages import say
from interplay.data.errors import DataError
from interplay.inference.atomic import check_writable

STDIN = "-"

NETCDF = b"\x89HDF\r\n\x1a\n"
"""How a netCDF file begins."""


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


def output(path: Path, option: str, *, source: str = STDIN, netcdf: bool = True) -> Path:
    """The path, if a file may be written there.

    Parameters
    ----------
    path
        Where a result is to go.
    option
        How it can be changed, for messages.
    source
        What the result is made from, which must not be overwritten.
    netcdf
        Whether the file is to be a netCDF file: no other file is overwritten by one.
    """
    path = path.expanduser()
    advice = f"Give another file with {option}."
    if path.is_dir():
        raise DataError(f"cannot write to '{path}', which is a folder. {advice}")
    if not path.parent.is_dir():
        raise DataError(
            f"cannot write to '{path}': there is no folder '{path.parent}'. Make that folder, or give another"
            f" file with {option}."
        )
    if path.exists():
        _check_replaceable(path, advice, source, netcdf)
    try:
        check_writable(path)
    except OSError as error:
        raise DataError(
            f"cannot write to '{path}': {error.strerror or error}. Give a file in a folder that you may write"
            f" to, with {option}."
        ) from error
    return path


def _check_replaceable(path: Path, advice: str, source: str, netcdf: bool) -> None:
    if source != STDIN and Path(source).exists() and path.samefile(source):
        raise DataError(f"'{path}' is what would be read: it is not overwritten. {advice}")
    if netcdf and path.is_file() and path.stat().st_size:
        with path.open("rb") as file:
            if file.read(len(NETCDF)) != NETCDF:
                raise DataError(f"'{path}' is there and is not a saved fit: it is not overwritten. {advice}")
    say(f"{path} is there already, and will be replaced.")
