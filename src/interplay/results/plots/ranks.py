"""Rank plots: how the draws of each chain rank among those of all; where chains agree, bars are level."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from scipy.stats import binom, rankdata

from interplay.results.fit import Fit
from interplay.results.plots import quantities
from interplay.results.plots.style import FAINT, SOFT, Axes, new_panels, short, tidy
from interplay.results.plots.trace import shade

BINS = 20
"""Most bins of ranks."""


def table(fit: Fit, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Counts of ranks in bins, for each chain and quantity.

    Parameters
    ----------
    fit
        The fit.
    names
        Quantities, see `interplay.results.plots.quantities.names`.

    Returns
    -------
    DataFrame
        `quantity chain bin left right count expected`: how many draws of the chain have a rank, from 1 for
        the least of all draws, above `left` and up to `right`; and how many there would be on average if
        the chain were like the others.
    """
    chains, length = fit.draws.chains, fit.draws.length
    bins = max(1, min(BINS, length // 4))
    edges = np.linspace(0.0, chains * length, bins + 1)
    chain, place = np.indices((chains, bins))
    parts = []
    for name in quantities.names(fit, names):
        values = quantities.series(fit.draws.hyperparameters, name, fit.design.names)
        ranks = rankdata(values.ravel(), method="ordinal").reshape(values.shape)
        # A rank is a whole number: half below it, no rank is on an edge.
        counts = [np.histogram(row - 0.5, edges)[0] for row in ranks]
        parts.append(
            pd.DataFrame(
                {
                    "quantity": name,
                    "chain": chain.ravel(),
                    "bin": place.ravel(),
                    "left": np.tile(edges[:-1], chains),
                    "right": np.tile(edges[1:], chains),
                    "count": np.concatenate(counts),
                    "expected": length / bins,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def draw(ranks: pd.DataFrame, *, axes: Iterable[Axes] | None = None) -> np.ndarray:
    """Draw a panel for each quantity, with steps for each chain and where they would be nine times of ten.

    The band is that of independent draws; those of a chain depend on each other, and stray a little further.

    Parameters
    ----------
    ranks
        What `table` gives.
    axes
        Where to draw, one for each quantity; None makes new axes.
    """
    groups = list(ranks.groupby("quantity", sort=False))
    panels = new_panels(axes, len(groups), 4.2, 1.9)
    for panel, (name, group) in zip(panels, groups, strict=True):
        chains = list(group.groupby("chain"))
        bins = group["bin"].nunique()
        length = round(float(group["expected"].iloc[0] * bins))
        low, high = (float(binom.ppf(end, length, 1.0 / bins)) for end in (0.05, 0.95))
        panel.axhspan(low, high, color=FAINT, alpha=0.6, linewidth=0)
        panel.axhline(group["expected"].iloc[0], color=SOFT, linewidth=0.8)
        for k, (_, chain) in enumerate(chains):
            edges = [*chain["left"], chain["right"].iloc[-1]]
            panel.stairs(chain["count"], edges, color=shade(k, len(chains)), linewidth=1.1, baseline=None)
        panel.set_ylim(0.0, max(1.6 * high, 1.1 * group["count"].max()))
        panel.set_title(short(quantities.in_words(str(name)), 36), loc="left", fontsize=10)
        panel.set_xlabel("rank among the draws of all chains", fontsize=8.5)
        panel.set_ylabel("draws", fontsize=8.5)
        panel.tick_params(labelsize=8)
        tidy(panel, "")
    return panels
