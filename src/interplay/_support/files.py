"""Files that are written whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def beside(path: Path) -> Path:
    """A new name in the same folder."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")


def check_writable(path: Path) -> None:
    """Raise an OSError if no file could be written at the path."""
    # Beside it: a process that is killed here leaves nothing in its place.
    probe = beside(path)
    probe.touch(exist_ok=False)
    probe.unlink()


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A file to write to, which takes the path's place once it is complete and on the disk."""
    temporary = beside(path)
    try:
        yield temporary
        _synchronise(temporary)
        temporary.replace(path)
        _synchronise(path.parent)
    finally:
        # A folder that cannot be written to has none.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _synchronise(path: Path) -> None:
    """Have the system write a file, or the names in a folder, to the disk."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
