"""Interaction surface: the response over two variables, in units of the data."""

from typing import Any

import numpy as np
import pandas as pd

from interplay.results.fit import Fit
from interplay.results.plots import pair as pairs
from interplay.results.plots.style import INK, Axes, brief, new_axes, short, short_term, title

POINTS = 25
"""Values of each number."""

SHOWN = 500
"""Most rows of the data that are marked."""


def table(
    fit: Fit, first: str | None = None, second: str | None = None, probability: float = 0.9
) -> pd.DataFrame:
    """Posterior of the regression function on a grid over two variables, the others at their centres.

    Parameters
    ----------
    fit
        The fit.
    first, second
        Names of the variables; the strongest of all pairs if neither is given.
    probability
        Of the interval from `lower` to `upper`, which is about the function and leaves out the noise.

    Returns
    -------
    DataFrame
        `first second mean lower upper`: values of the two variables (levels of a factor), and the response.
    """
    pair = pairs.find(fit, first, second)
    one, other = (pairs.values(fit, variable, POINTS) for variable in (pair.first, pair.second))
    return pairs.posterior(
        fit, pair, np.repeat(one, len(other)), np.tile(other, len(one)), probability=probability
    )


def draw(
    surface: pd.DataFrame,
    names: tuple[str, str] = ("first", "second"),
    response: str = "response",
    *,
    observed: pd.DataFrame | None = None,
    note: str = "",
    axes: Axes | None = None,
) -> Axes:
    """Draw the mean: contours over two numbers, a chequered field where one is a factor.

    Parameters
    ----------
    surface
        What `table` gives.
    names, response
        Of the two variables and the response.
    observed
        Rows of the data, `first second`, marked as dots.
    note
        A line below the title.
    axes
        Where to draw; None makes new axes.
    """
    axes = new_axes(axes, 6.4, 4.8)
    sides = [surface[side].drop_duplicates().to_numpy() for side in ("first", "second")]
    mean = surface["mean"].to_numpy().reshape(len(sides[0]), len(sides[1])).T
    few = [side.dtype == object or len(side) <= 2 for side in sides]
    if any(few):
        drawn = _field(axes, sides, mean, few)
    else:
        drawn = axes.contourf(*sides, mean, levels=12, cmap="cividis")
        # Lines beside colours: contours can be read in grey, and their labels without the bar.
        lines = axes.contour(drawn, levels=list(drawn.levels)[::2], colors="white", linewidths=0.8)
        axes.clabel(lines, fontsize=8, fmt="%.4g")
    if observed is not None:
        _dots(axes, observed, sides, few)
    axes.set(xlabel=short(names[0], 40), ylabel=short(names[1], 40))
    bar = axes.figure.colorbar(drawn, ax=axes, pad=0.02)
    bar.set_label(f"mean of {short(response, 40)}")
    title(axes, f"{short_term(names)}: surface", note)
    return axes


def _field(axes: Axes, sides: list[np.ndarray], mean: np.ndarray, few: list[bool]) -> Any:
    """Cells around each value, with its mean written in where both variables have few."""
    places = [np.arange(len(side), dtype=float) if f else side for side, f in zip(sides, few, strict=True)]
    drawn = axes.pcolormesh(*places, mean, cmap="cividis", shading="nearest", edgecolor="face", linewidth=0.4)
    if all(few):
        middle = (mean.min() + mean.max()) / 2
        for (row, column), value in np.ndenumerate(mean):
            colour = INK if value > middle else "white"
            axes.text(column, row, brief(value), ha="center", va="center", color=colour, fontsize=9)
    for place, side, f, axis in zip(places, sides, few, (axes.xaxis, axes.yaxis), strict=True):
        if f:
            axis.set_ticks(place, [short(_word(value)) for value in side])
    return drawn


def _dots(axes: Axes, observed: pd.DataFrame, sides: list[np.ndarray], few: list[bool]) -> None:
    """Some rows of the data; where a variable has few values, spread about them."""
    if all(few):
        return
    random = np.random.default_rng(0)
    rows = observed.dropna()
    rows = rows.iloc[np.sort(random.permutation(len(rows))[:SHOWN])]
    places = []
    for name, side, f in zip(("first", "second"), sides, few, strict=True):
        if f:
            code = {value: position for position, value in enumerate(side)}
            places.append(rows[name].map(code).to_numpy(float) + random.uniform(-0.25, 0.25, len(rows)))
        else:
            places.append(rows[name].to_numpy(float))
    inside = np.ones(len(rows), dtype=bool)
    for place, side, f in zip(places, sides, few, strict=True):
        if not f:
            inside &= (place >= side[0]) & (place <= side[-1])
    x, y = (place[inside] for place in places)
    axes.scatter(x, y, s=9, facecolor="white", edgecolor=INK, linewidth=0.5, alpha=0.8)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else brief(value)
