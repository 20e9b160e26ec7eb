"""`fit.plot`: one method for each plot, and `fit.plot.tables` with the table that each draws."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from interplay.effects.selection import Rule
from interplay.results.fit import Fit
from interplay.results.plots import (
    forest,
    interaction_map,
    leading,
    network,
    pair,
    predictive_check,
    prior_posterior,
    ranks,
    shrinkage,
    slopes,
    surface,
    trace,
)
from interplay.results.plots.style import Axes
from interplay.results.requests import Labels


@dataclass(frozen=True, repr=False)
class Tables:
    """The tables that plots draw, each by the name of its plot and with the same arguments.

    Parameters
    ----------
    fit
        The fit.
    """

    fit: Fit

    def forest(
        self,
        terms: str | Labels | None = None,
        probability: float = 0.9,
        rule: Rule = "lfsr",
        q: float = 0.05,
    ) -> pd.DataFrame:
        """See `interplay.results.plots.forest.table`."""
        return forest.table(self.fit, terms, probability, rule, q)

    def interaction_map(self, size: int = 12, probability: float = 0.9) -> pd.DataFrame:
        """See `interplay.results.plots.leading.table`."""
        return leading.table(self.fit, size, probability)

    def network(self, size: int = 12, probability: float = 0.9) -> pd.DataFrame:
        """See `interplay.results.plots.leading.table`."""
        return leading.table(self.fit, size, probability)

    def surface(
        self, first: str | None = None, second: str | None = None, probability: float = 0.9
    ) -> pd.DataFrame:
        """See `interplay.results.plots.surface.table`."""
        return surface.table(self.fit, first, second, probability)

    def slopes(
        self, first: str | None = None, second: str | None = None, probability: float = 0.9
    ) -> pd.DataFrame:
        """See `interplay.results.plots.slopes.table`."""
        return slopes.table(self.fit, first, second, probability)

    def shrinkage(self, probability: float = 0.9) -> pd.DataFrame:
        """See `interplay.results.plots.shrinkage.table`."""
        return shrinkage.table(self.fit, probability)

    def predictive_check(self, probability: float = 0.9, random_state: int = 0) -> pd.DataFrame:
        """See `interplay.results.plots.predictive_check.table`."""
        return predictive_check.table(self.fit, probability, random_state)

    def trace(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """See `interplay.results.plots.trace.table`."""
        return trace.table(self.fit, names)

    def ranks(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """See `interplay.results.plots.ranks.table`."""
        return ranks.table(self.fit, names)

    def prior_posterior(self, names: Sequence[str] | None = None, random_state: int = 0) -> pd.DataFrame:
        """See `interplay.results.plots.prior_posterior.table`."""
        return prior_posterior.table(self.fit, names, random_state)


@dataclass(frozen=True, repr=False)
class Plots:
    """Plots of a fit. Each method draws on the matplotlib axes given, or on new ones, and returns them.

    Parameters
    ----------
    fit
        The fit.
    """

    fit: Fit

    @property
    def tables(self) -> Tables:
        """The tables that the plots draw: `fit.plot.tables.forest()` for `fit.plot.forest()`, and so on."""
        return Tables(self.fit)

    def forest(
        self,
        terms: str | Labels | None = None,
        probability: float = 0.9,
        rule: Rule = "lfsr",
        q: float = 0.05,
        *,
        size: int = 20,
        axes: Axes | None = None,
    ) -> Axes:
        """Effects with their intervals, see `interplay.results.plots.forest.draw`."""
        return forest.draw(self.tables.forest(terms, probability, rule, q), size=size, axes=axes)

    def interaction_map(self, size: int = 12, *, axes: Axes | None = None) -> Axes:
        """Leading variables against each other, see `interplay.results.plots.interaction_map.draw`."""
        return interaction_map.draw(self.tables.interaction_map(size), total=self.fit.design.p, axes=axes)

    def network(self, size: int = 12, *, axes: Axes | None = None) -> Axes:
        """Variables joined where they act together, see `interplay.results.plots.network.draw`."""
        return network.draw(self.tables.network(size), total=self.fit.design.p, axes=axes)

    def surface(
        self, first: str | None = None, second: str | None = None, *, axes: Axes | None = None
    ) -> Axes:
        """The response over two variables, see `interplay.results.plots.surface.draw`."""
        found = pair.find(self.fit, first, second)
        return surface.draw(
            self.tables.surface(*found.names),
            found.names,
            found.response,
            observed=pair.observed(self.fit, found),
            note=f"{pair.in_words(self.fit, found)}; dots are rows of the data",
            axes=axes,
        )

    def slopes(
        self,
        first: str | None = None,
        second: str | None = None,
        probability: float = 0.9,
        *,
        axes: Axes | None = None,
    ) -> Axes:
        """The response along one variable by another, see `interplay.results.plots.slopes.draw`."""
        found = pair.find(self.fit, first, second)
        return slopes.draw(
            self.tables.slopes(*found.names, probability),
            found.names,
            found.response,
            note=f"{pair.in_words(self.fit, found)}; {100 * probability:g} % bands of the mean",
            axes=axes,
        )

    def shrinkage(self, probability: float = 0.9, *, size: int = 20, axes: Axes | None = None) -> Axes:
        """κ over variables, see `interplay.results.plots.shrinkage.draw`."""
        return shrinkage.draw(self.tables.shrinkage(probability), size=size, axes=axes)

    def predictive_check(
        self, probability: float = 0.9, random_state: int = 0, *, axes: Axes | None = None
    ) -> Axes:
        """The response among replicates, see `interplay.results.plots.predictive_check.draw`."""
        counts = self.tables.predictive_check(probability, random_state)
        return predictive_check.draw(counts, self.fit.design.response, axes=axes)

    def trace(self, names: Sequence[str] | None = None, *, axes: Iterable[Axes] | None = None) -> np.ndarray:
        """Draws of each chain, see `interplay.results.plots.trace.draw`."""
        return trace.draw(self.tables.trace(names), axes=axes)

    def ranks(self, names: Sequence[str] | None = None, *, axes: Iterable[Axes] | None = None) -> np.ndarray:
        """Ranks of each chain's draws, see `interplay.results.plots.ranks.draw`."""
        return ranks.draw(self.tables.ranks(names), axes=axes)

    def prior_posterior(
        self,
        names: Sequence[str] | None = None,
        random_state: int = 0,
        *,
        axes: Iterable[Axes] | None = None,
    ) -> np.ndarray:
        """Before and after the data, see `interplay.results.plots.prior_posterior.draw`."""
        return prior_posterior.draw(self.tables.prior_posterior(names, random_state), axes=axes)
