"""Simple slopes: the response along one variable, at a few values of another, with bands."""

import numpy as np
import pandas as pd

from interplay.results.fit import Fit
from interplay.results.plots import pair as pairs
from interplay.results.plots.style import Axes, brief, new_axes, short, short_term, tidy, title

POINTS = 41
"""Values along the axis."""

LINES = ("-", (0, (5, 1.5)), (0, (1, 1.2)), "-.", (0, (8, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Told apart without colour."""

MOST = 8
"""Most levels that are drawn."""


def table(
    fit: Fit, first: str | None = None, second: str | None = None, probability: float = 0.9
) -> pd.DataFrame:
    """Posterior of the regression function along one variable while another is held; the rest at centres.

    Parameters
    ----------
    fit
        The fit.
    first, second
        The variable that moves and the one that is held: at its 10th, 50th and 90th percentile, or at each
        of its levels. The strongest of all pairs if neither is given.
    probability
        Of the band from `lower` to `upper`, at each point; it is about the function and leaves out the noise.

    Returns
    -------
    DataFrame
        `first second held mean lower upper`, where `held` is the value of `second` in words.
    """
    pair = pairs.find(fit, first, second)
    along = pairs.values(fit, pair.first, POINTS)
    chosen, words = pairs.held(fit, pair.second)
    made = pairs.posterior(
        fit, pair, np.tile(along, len(chosen)), np.repeat(chosen, len(along)), probability=probability
    )
    made.insert(2, "held", np.repeat(np.array(words, dtype=object), len(along)))
    return made


def draw(
    slopes: pd.DataFrame,
    names: tuple[str, str] = ("first", "second"),
    response: str = "response",
    *,
    note: str = "",
    axes: Axes | None = None,
) -> Axes:
    """Draw a line with its band for each value held; points with bars where a factor is on the axis.

    Parameters
    ----------
    slopes
        What `table` gives.
    names, response
        Of the two variables and the response.
    note
        A line below the title.
    axes
        Where to draw; None makes new axes.
    """
    axes = new_axes(axes, 6.4, 4.4)
    groups = list(slopes.groupby("held", sort=False))
    shown = groups[:MOST]
    levels = slopes["first"].drop_duplicates().to_numpy()
    few = levels.dtype == object or len(levels) <= 2
    colours = _colours(len(shown))
    for k, (words, group) in enumerate(shown):
        x = np.arange(len(group)) + 0.12 * (k - (len(shown) - 1) / 2) if few else group["first"]
        mean, lower, upper = (group[name].to_numpy() for name in ("mean", "lower", "upper"))
        line = LINES[k % len(LINES)]
        if few:
            axes.errorbar(
                x,
                mean,
                [mean - lower, upper - mean],
                color=colours[k],
                linestyle=line,
                marker=MARKERS[k % len(MARKERS)],
                linewidth=1.0,
                elinewidth=1.4,
                capsize=3,
                label=short(words, 36),
            )
        else:
            axes.fill_between(x, lower, upper, color=colours[k], alpha=0.18, linewidth=0)
            axes.plot(x, mean, color=colours[k], linestyle=line, linewidth=2.0, label=short(words, 36))
    if few:
        ticks = [short(value if isinstance(value, str) else brief(value)) for value in levels]
        axes.set_xticks(range(len(levels)), ticks)
    axes.set(xlabel=short(names[0], 40), ylabel=f"mean of {short(response, 40)}")
    more = f" ({len(shown)} of {len(groups)})" if len(shown) < len(groups) else ""
    axes.legend(
        title=f"{short(names[1], 40)}{more}", frameon=False, fontsize=8.5, title_fontsize=9, loc="best"
    )
    title(axes, f"{short_term(names)}: simple slopes", note)
    return tidy(axes)


def _colours(count: int) -> list:
    """From dark to light, so that they differ in grey."""
    from matplotlib import colormaps

    return [colormaps["viridis"](x) for x in np.linspace(0.05, 0.75, max(count, 1))]
