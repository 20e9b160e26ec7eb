"""What is said on stderr: progress, and one line for whatever a user can mend."""

import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from interplay.inference.progress import Report, Stage
    from interplay.results.fit import Fit

MISTAKE, UNREPORTABLE, INTERRUPTED = 1, 3, 130
"""Exit codes; 2 is typer's own, for a command that was not understood."""

EVERY = 30.0
"""Seconds between lines of progress where there is no terminal."""

WORDS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"drop=\[([^\]]*)\]", lambda found: f"--drop {_listed(found[1])}"),
    (r"`drop`", "--drop"),
    (r"pass impute='mean'", "give --impute mean"),
    (r"make the design with impute='mean'", "fit again with --impute mean"),
    (r", or pass the (values themselves|numbers as an array)", ""),
    (r", or read (the file yourself|it with pandas\S* encoding=\S*) and pass the frame", ""),
    (r", or make it a category dtype if labels are meant, as in astype\('category'\)", ""),
    (r", or save with `to_csv\(\.\.\., index=False\)`", ""),
    (r"use astype\(float\) if numbers are meant", "write them as numbers"),
    (r"Drop them, as in `frame[^`]*`", "Take them out of the file"),
    (r" with astype\((str|float)\)", ""),
    (r"SKIM\(expected_mains=([^)]*)\)", r"--expected-mains \1"),
    (r"max_draws \(or draws\)|max_draws", "--max-draws"),
    (r"max_seconds", "--max-seconds"),
    (r"`fit\.save`", "`interplay fit`"),
]
"""Advice for people who write Python, and the same for a command line."""


def say(text: str) -> None:
    """Print a line of progress."""
    typer.echo(text, err=True)


def one_line(error: BaseException) -> str:
    """What went wrong and what to do, in words of the command line."""
    return in_words(_text(error))


def in_words(text: str) -> str:
    """A message of the package, in words of the command line, in one line and without control characters."""
    for pattern, words in WORDS:
        text = re.sub(pattern, words, text)
    return "".join(mark if mark.isprintable() else " " for mark in " ".join(text.split()))


@contextmanager
def told() -> Iterator[None]:
    """Turn a mistake that a user can mend into one line and an exit code, and warnings into lines."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _show_warning
        try:
            yield
        except KeyboardInterrupt:
            say("Stopped.")
            raise typer.Exit(INTERRUPTED) from None
        # What reads our output has closed it, as `head` does.
        except BrokenPipeError:
            raise
        except (OSError, ValueError, MemoryError, ModuleNotFoundError) as error:
            if not _to_mend(error):
                raise
            say(f"interplay: {one_line(error)}")
            raise typer.Exit(MISTAKE) from None


def opened(saved: str) -> "Fit":
    """A saved fit, with a word of warning unless it is to be trusted."""
    say(f"Reading {saved} …")
    from interplay.results.files import load

    fit = load(saved)
    warn(fit)
    return fit


def warn(fit: "Fit") -> None:
    """Say the verdict of a fit that is not to be trusted."""
    if fit.diagnostics.verdict != "trust":
        say(f"warning: {in_words(str(fit.diagnostics))}")


def lines() -> "Report":
    """Progress as lines, for a log: each phase when it begins, and then one every half minute."""
    phase, shown = "", 0.0

    def report(stage: "Stage") -> None:
        nonlocal phase, shown
        now = time.monotonic()
        if stage.phase != phase or now - shown >= EVERY:
            phase, shown = stage.phase, now
            say(": ".join(part for part in (stage.phase, str(stage)) if part))

    return report


def progress() -> "bool | Report":
    """A bar in a terminal, lines elsewhere."""
    return True if sys.stderr.isatty() else lines()


def _to_mend(error: Exception) -> bool:
    """Whether the error is about what the user gave, rather than a fault of the program."""
    if isinstance(error, OSError | MemoryError):
        return True
    if isinstance(error, ModuleNotFoundError):
        return not (error.name or "").startswith("interplay")
    raised = traceback.extract_tb(error.__traceback__)[-1].filename.replace("\\", "/")
    return "/interplay/" in raised


def _text(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory. `interplay plan` says how much a fit needs; use fewer columns or rows."
    if isinstance(error, ModuleNotFoundError):
        return (
            f"this needs the package '{error.name}', which is not installed. Run `pip install"
            " 'interplay[parquet,plots,web]'`."
        )
    if isinstance(error, OSError) and error.strerror and error.errno:
        where = f"'{error.filename}': " if error.filename else ""
        advice = " Check the path, and whether you may read and write there." if error.filename else ""
        return f"{where}{error.strerror}.{advice}"
    return str(error) or type(error).__name__


def _listed(names: str) -> str:
    """Names as Python lists them, as an option takes them."""
    return ",".join(part.strip().strip("'\"") for part in names.split("', '"))


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    # The verdict of a fit is printed with it.
    if category is UserWarning:
        say(f"note: {in_words(str(message))}")
