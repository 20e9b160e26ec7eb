"""Finished fits, a few of them in memory, asked one question at a time."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from interplay.results.fit import Fit

T = TypeVar("T")

MOST_FITS = 3
"""Fits that are kept in memory."""

MOST_ANSWERS = 100
"""Answers that are kept with a fit."""


class Fits:
    """Fits by their file. Questions wait for each other: each takes a core or more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: OrderedDict[tuple[str, int], Fit] = OrderedDict()
        self._answers: OrderedDict[tuple[Any, ...], Any] = OrderedDict()

    def ask(self, path: Path, question: Callable[..., T], *details: Any) -> T:
        """The answer to a question about the fit in a file, from memory if it was asked before.

        Parameters
        ----------
        path
            The file.
        question
            A function of the fit and the details.
        details
            Values that can be hashed.
        """
        with self._lock:
            key = (str(path), path.stat().st_mtime_ns)
            asked = (key, question.__qualname__, *details)
            if asked not in self._answers:
                self._answers[asked] = question(self._fit(path, key), *details)
            self._answers.move_to_end(asked)
            while len(self._answers) > MOST_ANSWERS:
                self._answers.popitem(last=False)
            return self._answers[asked]

    def _fit(self, path: Path, key: tuple[str, int]) -> "Fit":
        from interplay.results.files import load

        if key not in self._loaded:
            self._loaded[key] = load(path)
        self._loaded.move_to_end(key)
        while len(self._loaded) > MOST_FITS:
            self._loaded.popitem(last=False)
        return self._loaded[key]
