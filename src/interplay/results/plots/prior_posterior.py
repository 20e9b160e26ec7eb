"""Prior against posterior: what the data have added to what was believed."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from scipy.stats import gaussian_kde

from interplay.model.posterior import Posterior
from interplay.results.fit import Fit
from interplay.results.plots import quantities
from interplay.results.plots.style import INK, SOFT, Axes, new_panels, short, tidy

SIZE = 4000
"""Draws of the prior."""

POINTS = 200
"""Values at which the densities are given."""

TAIL = 0.02
"""Share of the prior's draws beyond each end of the axis, as its tails are long."""


def table(fit: Fit, names: Sequence[str] | None = None, random_state: int = 0) -> pd.DataFrame:
    """Densities of the logarithm of each quantity, before and after the data.

    Parameters
    ----------
    fit
        The fit.
    names
        Quantities, see `interplay.results.plots.quantities.names`.
    random_state
        Seed of the draws from the prior.

    Returns
    -------
    DataFrame
        `quantity value prior posterior`: a value of the quantity (κ, not its logarithm), and two kernel
        estimates of the density of its natural logarithm there.
    """
    chosen = quantities.names(fit, names)
    draws = fit.draws.stacked()
    before = prior_draws(fit, chosen, random_state)
    after = {name: quantities.scale(draws, name, fit.design.names) for name in chosen}
    parts = []
    for name in chosen:
        first, second = (np.log(values) for values in (before[name], after[name]))
        ends = np.quantile(first, [TAIL, 1.0 - TAIL])
        low, high = min(ends[0], second.min()), max(ends[1], second.max())
        margin = 0.02 * (high - low)
        x = np.linspace(low - margin, high + margin, POINTS)
        parts.append(
            pd.DataFrame(
                {
                    "quantity": name.removeprefix("log_"),
                    "value": np.exp(x),
                    "prior": _density(first, x),
                    "posterior": _density(second, x),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def draw(densities: pd.DataFrame, *, axes: Iterable[Axes] | None = None) -> np.ndarray:
    """Draw a panel for each quantity, on a logarithmic axis.

    Parameters
    ----------
    densities
        What `table` gives.
    axes
        Where to draw, one for each quantity; None makes new axes.
    """
    groups = list(densities.groupby("quantity", sort=False))
    panels = new_panels(axes, len(groups), 4.2, 1.9)
    for panel, (name, group) in zip(panels, groups, strict=True):
        panel.fill_between(group["value"], group["posterior"], color=SOFT, alpha=0.35, linewidth=0)
        panel.plot(group["value"], group["posterior"], color=INK, linewidth=1.5, label="posterior")
        panel.plot(
            group["value"], group["prior"], color=INK, linewidth=1.3, linestyle=(0, (4, 2)), label="prior"
        )
        panel.set(xscale="log", ylim=(0.0, None), yticks=[])
        words = quantities.SYMBOLS.get(str(name), str(name).replace("kappa", "κ"))
        panel.set_title(short(words, 36), loc="left", fontsize=10)
        panel.tick_params(labelsize=8)
        panel.minorticks_off()
        tidy(panel, "")
        panel.spines["left"].set_visible(False)
    if len(panels):
        panels[0].legend(frameon=False, fontsize=8.5)
    return panels


def prior_draws(fit: Fit, names: Sequence[str], seed: int) -> dict[str, np.ndarray]:
    """The quantities, κ without its logarithm, drawn from the prior."""
    posterior = Posterior(fit.design, fit.prior, fit.family, fit.conditional.engine)
    random = np.random.default_rng(seed)
    values: dict[str, list[float]] = {name: [] for name in names}
    # One draw at a time: a draw has as many numbers as there are variables, of which few are kept.
    for _ in range(SIZE):
        draw = posterior.constrain(posterior.sample_prior(random)[None])
        for name in names:
            values[name].append(float(quantities.scale(draw, name, fit.design.names)[0]))
    return {name: np.array(numbers) for name, numbers in values.items()}


def _density(values: np.ndarray, x: np.ndarray) -> np.ndarray:
    return gaussian_kde(values)(x) if np.ptp(values) > 0 else np.full(x.shape, np.nan)
