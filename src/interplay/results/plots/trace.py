"""Trace: the draws of each chain, one after the other."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from interplay.results.fit import Fit
from interplay.results.plots import quantities
from interplay.results.plots.style import Axes, new_panels, short, tidy

SHOWN = 300
"""Most draws of a chain that are drawn, evenly spaced."""


def table(fit: Fit, names: Sequence[str] | None = None) -> pd.DataFrame:
    """One row for each draw of each quantity.

    Parameters
    ----------
    fit
        The fit.
    names
        Quantities, see `interplay.results.plots.quantities.names`.

    Returns
    -------
    DataFrame
        `quantity chain draw value`.
    """
    chain, draw = np.indices((fit.draws.chains, fit.draws.length))
    parts = [
        pd.DataFrame(
            {
                "quantity": name,
                "chain": chain.ravel(),
                "draw": draw.ravel(),
                "value": quantities.series(fit.draws.hyperparameters, name, fit.design.names).ravel(),
            }
        )
        for name in quantities.names(fit, names)
    ]
    return pd.concat(parts, ignore_index=True)


def draw(traces: pd.DataFrame, *, axes: Iterable[Axes] | None = None) -> np.ndarray:
    """Draw a panel for each quantity, with a line for each chain; chains that agree look alike.

    Parameters
    ----------
    traces
        What `table` gives.
    axes
        Where to draw, one for each quantity; None makes new axes.
    """
    from matplotlib.ticker import LogLocator

    groups = list(traces.groupby("quantity", sort=False))
    panels = new_panels(axes, len(groups), 4.2, 1.9)
    for panel, (name, group) in zip(panels, groups, strict=True):
        step = -(-int(group["draw"].max() + 1) // SHOWN)
        chains = list(group.groupby("chain"))
        for k, (_, chain) in enumerate(chains):
            some = chain.iloc[::step]
            panel.plot(some["draw"], some["value"], linewidth=0.6, color=shade(k, len(chains)), alpha=0.8)
        if not str(name).startswith("log_") and group["value"].max() > 5 * group["value"].min():
            panel.set_yscale("log")
            panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0), numticks=5))
            panel.yaxis.set_major_formatter("{x:.2g}")
        panel.set_title(short(quantities.in_words(str(name)), 36), loc="left", fontsize=10)
        panel.set_xlabel("draw" if step == 1 else f"draw (one in {step} is shown)", fontsize=8.5)
        panel.tick_params(labelsize=8)
        panel.minorticks_off()
        tidy(panel, "y")
    return panels


def shade(k: int, count: int) -> tuple:
    """A colour for each chain, from dark to light."""
    from matplotlib import colormaps

    return colormaps["viridis"](0.05 + 0.75 * k / max(count - 1, 1))
