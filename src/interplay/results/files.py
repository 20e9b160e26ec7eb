"""Fits in files: one netCDF file each, written whole or not at all, and checked when it is read."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay._support.files import written_whole
from interplay.results.fit import Fit

if TYPE_CHECKING:
    import xarray as xr

COMPRESSED_FROM = 1 << 16
"""Bytes from which an array is compressed, lightly."""


class SavedFitError(ValueError):
    """A file that cannot be read as a fit; says what was got, what was expected and what to do."""


def save(fit: Fit, path: str | Path) -> None:
    """Write a fit to one netCDF file, which xarray and ArviZ open too.

    The file is written beside its place and then moved there: an earlier file stays as it was until the new
    one is complete.

    Parameters
    ----------
    fit
        The fit.
    path
        The file, by custom with the ending `.nc`.

    Raises
    ------
    SavedFitError
        If the path cannot be a file, or the prior is a class of your own.
    OSError
        If the file cannot be written.
    """
    from interplay.results.tree import to_tree

    file = Path(path).expanduser()
    if file.is_dir() or not file.parent.is_dir():
        found = "is a folder" if file.is_dir() else f"is in {file.parent}, which is not a folder"
        raise SavedFitError(
            f"cannot save to {file}, which {found}: expected the name of a file in a folder that exists. Make"
            " the folder, or give another name."
        )
    try:
        tree = to_tree(fit)
    except TypeError as error:
        raise SavedFitError(
            f"this fit cannot be saved: {error}. A file could not say how to make it again;"
            " keep `fit.draws` by means of your own."
        ) from error
    try:
        with written_whole(file) as temporary:
            tree.to_netcdf(temporary, engine="h5netcdf", encoding=_encoding(tree))
    except OSError as error:
        raise OSError(
            error.errno,
            f"the fit could not be saved to {file} ({error}). A file that was there before is unchanged."
            " Free some space or choose another folder, and save again",
        ) from error


def load(path: str | Path) -> Fit:
    """Read a fit that `Fit.save` has written; it answers every question without the original data.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    SavedFitError
        If there is no such file, or it is damaged, cut short, of another kind or of a newer version.
    """
    from interplay.results.tree import FORMAT, VERSION, digest, from_tree

    file = Path(path).expanduser()
    tree = _read(file)
    attributes = tree.attrs
    if attributes.get("format") != FORMAT:
        raise SavedFitError(
            f"{file} is a netCDF file, but not a fit: it has the groups {', '.join(tree.children) or 'none'},"
            " and no mark of interplay. Expected a file written by `fit.save`. Check the name."
        )
    try:
        version = int(attributes["format_version"])
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(file, "it does not say which version of the format it has") from error
    if version > VERSION:
        raise SavedFitError(
            f"{file} has version {version} of the format: this interplay reads versions up to {VERSION}."
            " Install a newer interplay (pip install --upgrade interplay)."
        )
    try:
        found = digest(tree)
        fit = from_tree(tree)
    except Exception as error:
        raise _damaged(file, f"{type(error).__name__}: {error}") from error
    if found != attributes.get("digest"):
        raise _damaged(file, "its content does not match its digest")
    return fit


def _read(file: Path) -> "xr.DataTree":
    import xarray as xr

    if not file.is_file():
        found = "is a folder" if file.is_dir() else "does not exist"
        raise SavedFitError(f"{file} {found}: expected a file written by `fit.save`. Check the path.")
    if not file.stat().st_size:
        raise _damaged(file, "it is empty")
    if not os.access(file, os.R_OK):
        raise SavedFitError(f"{file} cannot be read: expected a file that you may read. Change its mode.")
    try:
        with xr.open_datatree(file, engine="h5netcdf") as opened:
            return opened.load()
    # A package that is not installed says nothing about the file.
    except ImportError:
        raise
    # What a damaged file raises depends on where it is damaged.
    except Exception as error:
        raise _damaged(file, f"{type(error).__name__}: {error}") from error


def _damaged(file: Path, reason: str) -> SavedFitError:
    return SavedFitError(
        f"{file} is damaged, cut short or not a netCDF file ({reason}): expected a file written by"
        " `fit.save`. Take another copy, or fit again."
    )


def _encoding(tree: "xr.DataTree") -> dict[str, Any]:
    encoding: dict[str, Any] = {}
    for node in tree.subtree:
        for name, values in node.dataset.variables.items():
            if values.dtype.kind in "biuf":
                large = values.nbytes >= COMPRESSED_FROM
                light = {"zlib": True, "complevel": 1, "shuffle": True} if large else {}
                # Without a fill value every bit comes back, those of NaN included.
                fill = {"_FillValue": None} if values.dtype.kind == "f" else {}
                encoding.setdefault(node.path, {})[name] = light | fill
    return encoding
