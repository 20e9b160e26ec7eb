"""What all plots share: axes, colours that differ in grey too, and names that fit."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:  # matplotlib need not be there for the tables
    Axes = Any

INK, SOFT, FAINT = "#222222", "#6e6e6e", "#d4d4d4"
"""Marks, things beside them, and guides behind them."""

PLUS, MINUS = "#0072b2", "#d55e00"
"""Effects above and below zero."""

LEAST = 0.05
"""Local false sign rate up to which an effect is drawn as sure."""

NAME = 24
"""Most characters of a name."""


_OFF_SCREEN: ContextVar[bool] = ContextVar("off_screen", default=False)


@contextmanager
def off_screen() -> Iterator[None]:
    """New axes within it belong to no window, so that any thread may draw them."""
    token = _OFF_SCREEN.set(True)
    try:
        yield
    finally:
        _OFF_SCREEN.reset(token)


def new_axes(axes: Axes | None, width: float, height: float) -> Axes:
    """The axes to draw on: those given, or new ones of a size in inches."""
    return axes if axes is not None else _subplots(1, 1, width, height)[0, 0]


def new_panels(axes: Iterable[Axes] | None, count: int, width: float, height: float) -> np.ndarray:
    """As many axes as are needed: those given, or new ones in rows of two; sizes in inches, of one panel."""
    if axes is not None:
        given = np.array(list(axes), dtype=object)
        if len(given) != count:
            raise ValueError(
                f"axes: got {len(given)}, expected {count}, one for each quantity."
                " Leave `axes` out, or name as many quantities."
            )
        return given
    columns = min(count, 2)
    rows = -(-count // columns)
    made = _subplots(rows, columns, width * columns, height * rows).flatten()
    for spare in made[count:]:
        spare.remove()
    return made[:count]


def short(name: object, most: int = NAME) -> str:
    """A name that fits and is taken literally: in one line, cut in the middle, no mathematics."""
    text = " ".join(str(name).split())
    if len(text) > most:
        head = most // 2
        text = f"{text[:head]}…{text[head + 1 - most :]}"
    return text.replace("$", r"\$")


def number(value: float) -> str:
    """Two decimals, with a real minus, and none before what rounds to zero."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def brief(value: float) -> str:
    """Three figures, with a real minus."""
    return f"{value:.3g}".replace("-", "−")


def rate(lfsr: float) -> str:
    """A rate in two figures, or that it is below 0.0001."""
    return f"{lfsr:.2g}" if lfsr >= 1e-4 else "< 0.0001"


def short_term(parts: Sequence[object], most: int = NAME) -> str:
    """A pair of names that fits."""
    return " × ".join(short(part, most) for part in parts)


def rows(table: pd.DataFrame) -> Iterator[Any]:
    """The rows of a table as tuples with names."""
    return iter(table.itertuples())


def tidy(axes: Axes, grid: str = "both") -> Axes:
    """A frame of two sides, and faint guides along `"x"`, `"y"`, `"both"` or `""`."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    if grid:
        axes.grid(True, axis=grid, color=FAINT, linewidth=0.6)  # type: ignore[arg-type]
    return axes


def title(axes: Axes, text: str, below: str = "") -> None:
    """A title on the left, and a smaller line below it that says what is shown."""
    axes.set_title(text, loc="left", fontsize=11, fontweight="bold", pad=22 if below else 8)
    if below:
        axes.annotate(
            below,
            (0, 1),
            (0, 7),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=8.5,
            color=SOFT,
            va="bottom",
            annotation_clip=False,
        )


def _subplots(rows: int, columns: int, width: float, height: float) -> np.ndarray:
    size = (width, height)
    try:
        if _OFF_SCREEN.get():
            from matplotlib.figure import Figure

            return Figure(figsize=size, layout="constrained").subplots(rows, columns, squeeze=False)
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "A plot needs matplotlib, which is not installed. Install it with `pip install"
            " 'interplay[plots]'`. The tables that plots draw, such as `fit.plot.tables.forest()`, need none."
        ) from error
    return plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)[1]
