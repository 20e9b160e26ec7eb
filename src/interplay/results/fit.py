"""The fit: draws and all that they were drawn from, with an answer to every question about them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from interplay.data.design import Design
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import JointMixture, Mixture
from interplay.effects.scale import natural_scale
from interplay.effects.selection import Rule
from interplay.inference.diagnostics import Diagnostics
from interplay.inference.draws import Draws
from interplay.model.engines import Engine, choose_engine
from interplay.model.families import Family, Gaussian
from interplay.model.priors.base import Prior
from interplay.model.terms import dimension, label
from interplay.results.effect_store import EffectStore
from interplay.results.joint import Joint
from interplay.results.prediction import draws, intervals, observations
from interplay.results.provenance import Provenance
from interplay.results.requests import Labels, Posterior, Requests
from interplay.results.shares import variance_shares
from interplay.results.tables import effect_table

if TYPE_CHECKING:
    import xarray as xr

    from interplay.results.plots.accessor import Plots

ANSWERS, NUMBERS = 1000, 5_000_000
"""Most draws that an answer uses, evenly spaced over all chains; and most draws times columns, which bounds
the memory where there are more than 5000 columns, down to a hundred draws. Each draw is a whole Gaussian, not
a point."""

FACTORS = 5e11
"""Most draws times the cube of the number of features in feature space, down to a hundred draws: about a
minute for a question about all effects, where each draw takes a factor of all features."""


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """What was learned from data, as draws of the hyperparameters; effects are worked out when asked for.

    Given a draw, every effect is Gaussian and known exactly, so a posterior is a mixture of Gaussians over
    the draws. At most 1000 draws are used, evenly spaced over the chains, and fewer with more than 5000
    columns (see `ANSWERS`) or, in feature space, more than 800 features (see `FACTORS`).

    Parameters
    ----------
    design
        The data.
    prior
        What was believed.
    draws, diagnostics
        What the sampler gave, and whether to trust it.
    settings
        How the sampler was called, in plain values.
    provenance
        Versions, seed, data and time.
    family
        The likelihood.
    """

    design: Design
    prior: Prior
    draws: Draws
    diagnostics: Diagnostics
    settings: Mapping[str, Any]
    provenance: Provenance
    family: Family = field(default_factory=Gaussian)

    @cached_property
    def conditional(self) -> Conditional:
        """The posterior given each of the draws that answers use."""
        parameters, count = self._parameters, len(self.observation_variance)
        working = tuple(
            self.family.working({k: np.asarray(v[s]) for k, v in parameters.items()}, self.design)
            for s in range(count)
        )
        variances = self.prior.variances(parameters, self.design.p)
        return Conditional(self._engine, variances, working)

    @cached_property
    def observation_variance(self) -> Float[np.ndarray, " s"]:
        """Variance of a new observation of weight one given the linear predictor, in each draw used."""
        return self.family.observation_variance(self._parameters)

    @cached_property
    def store(self) -> EffectStore:
        """The effects that were worked out so far, which a file keeps too."""
        return EffectStore()

    def effects(
        self,
        terms: str | Labels | None = None,
        probability: float = 0.9,
        rule: Rule = "lfsr",
        q: float = 0.05,
    ) -> pd.DataFrame:
        """Table of effects, the surest first.

        Parameters
        ----------
        terms
            Labels such as `["bmi", "bmi:bp", "bmi^2"]`; or `"mains"`; `"quadratic"`; `"pairs"`, every pair of
            up to `ALL_PAIRS`, and else the `MANY_PAIRS` strongest. None is all main effects, all quadratic
            effects that the prior has, all pairs among the variables that matter (those with an lfsr of at
            most 0.2 for an effect of their own, the surest 20) and the strongest of all pairs, as many as
            may be selected. Interactions of three and more variables are asked for by label.
        probability
            Of the interval from `lower` to `upper`.
        rule, q
            How `selected` is decided, see `interplay.effects.selection.select`. The rule "fdr" is about the
            terms of this table. The rule "paper" looks at the main effects too where they are not asked for.

        Returns
        -------
        DataFrame
            See `interplay.results.tables.effect_table`.
        """
        return self._table(self._requests.posterior(terms, rule), probability, rule, q)

    def joint(self, labels: Labels) -> Joint:
        """Joint posterior of several effects on the standardised scale, with `.mean`, `.cov`, `.draws(n)`."""
        terms = self._requests.parsed(labels)
        names = tuple(label(term, self.design) for term in terms)
        mixture = JointMixture(*self.conditional.joint(terms))
        return Joint(names, mixture, *natural_scale(self.design, terms))

    def top_pairs(
        self, size: int = 20, probability: float = 0.9, rule: Rule = "lfsr", q: float = 0.05
    ) -> pd.DataFrame:
        """The strongest of all p(p−1)/2 pairs by |mean|/sd; no main effect need be there.

        Parameters
        ----------
        size
            How many.
        probability, rule, q
            As in `effects`.
        """
        return self._table(self._requests.strongest(size), probability, rule, q)

    def selected(self, rule: Rule = "lfsr", q: float = 0.05) -> list[str]:
        """Labels of the effects that a rule selects, the surest first.

        Parameters
        ----------
        rule, q
            `"lfsr"` and `"fdr"` judge all main and quadratic effects and the strongest pairs, whether or not
            their variables have main effects. `"paper"` judges pairs among selected main effects alone.
            Past q = 0.1, pairs beyond those in `effects()` are not looked at.
        """
        table = self.effects(rule=rule, q=q)
        return table.loc[table["selected"], "term"].tolist()

    def predict(
        self, rows: Any, return_std: bool = False
    ) -> Float[np.ndarray, " m"] | tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
        """Posterior mean of the response at new rows, in its own units.

        Parameters
        ----------
        rows
            New rows in any form that `interplay.design` takes; columns are matched by name.
        return_std
            Also give the standard deviation of a new observation: of the regression function and of the
            noise together.
        """
        parts = [(part.mean, part.sd) for part in self._observations(rows)]
        mean, sd = (np.concatenate(values) for values in zip(*parts, strict=True))
        return (mean, sd) if return_std else mean

    def predict_interval(self, rows: Any, probability: float = 0.9) -> Float[np.ndarray, "m 2"]:
        """Central interval of a new observation at each row, noise included, in units of the response.

        The ends are quantiles of the exact mixture over the draws of N(f(x), sd² + σ²). The noise is that of
        an observation with weight one.

        Parameters
        ----------
        rows
            As in `predict`.
        probability
            That the observation is inside.

        Returns
        -------
        array (m, 2)
            Lower and upper end.
        """
        return intervals(self._observations(rows), probability)

    def predictive_draws(
        self, rows: Any, size: int = 1000, random_state: int | np.random.Generator | None = None
    ) -> Float[np.ndarray, "size m"]:
        """Draws of a new observation at each row, noise included, in units of the response.

        The rows of one replicate share the hyperparameters; given these they are drawn one by one, so the
        draws are exact for each row, but do not carry what rows have in common beyond the hyperparameters.

        Parameters
        ----------
        rows
            As in `predict`.
        size
            Number of replicates.
        random_state
            Seed or generator.
        """
        random = np.random.default_rng(random_state)
        return draws(self._observations(rows), len(self.conditional), size, random)

    def r2(self) -> Float[np.ndarray, " s"]:
        """Bayesian R², one value for each draw: var f / (var f + σ²).

        f is the posterior mean of the regression function at the data given the draw, and var its variance
        over the rows, each counted as often as its weight says.
        """
        return 1.0 - self.variance_shares()["noise"].to_numpy()

    def variance_shares(self) -> pd.DataFrame:
        """Share of the response's variance from each kind of effect, one row for each draw.

        With f = f_main + f_quadratic + f_interaction the posterior mean at the data given the draw, the
        share of a part is cov(f_part, f) / (var f + σ²), and of the noise σ² / (var f + σ²). The four add up
        to one; a part that works against the others can have a share below zero. Interactions are all those
        of two and more variables together, and no coefficient of theirs is computed.

        Returns
        -------
        DataFrame
            `main quadratic interaction noise`; `.mean()` and `.quantile()` summarise it.
        """
        return pd.DataFrame(self._shares.copy(), columns=["main", "quadratic", "interaction", "noise"])

    @property
    def plot(self) -> "Plots":
        """Plots by name, such as `fit.plot.forest()`; the table of each is `fit.plot.tables.forest()`."""
        from interplay.results.plots.accessor import Plots

        return Plots(self)

    def report(self, path: str | Path) -> None:
        """Write all of it to one HTML file, see `interplay.results.report.write_report`."""
        from interplay.results.report import write_report

        write_report(self, path)

    def to_arviz(self) -> "xr.DataTree":
        """The fit as an xarray DataTree in ArviZ's layout, from which all of it can be had back."""
        from interplay.results.tree import to_tree

        return to_tree(self)

    def save(self, path: str | Path) -> None:
        """Write the fit to one netCDF file, see `interplay.results.files.save`; `interplay.load` reads it."""
        from interplay.results.files import save

        save(self, path)

    def __repr__(self) -> str:
        return (
            f"<Fit: {type(self.prior).__name__}, {self.design.n} rows, {self.design.p} variables,"
            f" {self.draws.chains} × {self.draws.length} draws, {self.diagnostics.verdict}>"
        )

    def __str__(self) -> str:
        from interplay.results.summary import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from interplay.results.summary import as_html

        return as_html(self)

    def __getstate__(self) -> dict[str, Any]:
        # Without the factors, which are large and quickly computed again.
        return {entry.name: getattr(self, entry.name) for entry in fields(self)} | {"store": self.store}

    @cached_property
    def _requests(self) -> Requests:
        return Requests(self.design, self.prior.quadratic, self.conditional, self.store)

    def _table(self, posterior: Posterior, probability: float, rule: Rule, q: float) -> pd.DataFrame:
        names = {label(term, self.design) for term in posterior.terms}
        judged = self._requests.with_mains(posterior) if rule == "paper" else posterior
        table = effect_table(
            self.design, judged.terms, judged.mixture, probability=probability, rule=rule, q=q
        )
        return table[table["term"].isin(names)].reset_index(drop=True)

    def _observations(self, rows: Any) -> Iterator[Mixture]:
        return observations(self.design, self.conditional, self.observation_variance, rows)

    @cached_property
    def _shares(self) -> Float[np.ndarray, "s 4"]:
        return variance_shares(
            self.conditional, self.design, self.observation_variance, quadratic=self.prior.quadratic
        )

    @cached_property
    def _engine(self) -> Engine:
        return choose_engine(self.design, self.prior)

    @cached_property
    def _parameters(self) -> dict[str, np.ndarray]:
        """The draws that answers use."""
        most = min(ANSWERS, max(100, NUMBERS // self.design.d))
        if self._engine.has_coefficients:
            features = dimension(self.design, self.prior.degree, quadratic=self.prior.quadratic)
            most = min(most, max(100, int(FACTORS / features**3)))
        return {name: np.asarray(v, dtype=np.float64) for name, v in self.draws.stacked(most).items()}
