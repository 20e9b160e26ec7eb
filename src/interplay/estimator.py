"""The scikit-learn front: one class that holds the settings and, after `fit`, a Fit."""

import warnings
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from interplay.data.design import design
from interplay.data.frame import to_array
from interplay.effects.selection import Rule
from interplay.inference.sample import MAX_DRAWS
from interplay.model.families import Family, Gaussian
from interplay.model.priors import SKIM
from interplay.results.fit import Fit
from interplay.results.joint import Joint
from interplay.results.learn import learn
from interplay.results.requests import Labels

if TYPE_CHECKING:
    from interplay.results.plots.accessor import Plots


class InteractionRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Bayesian regression with main effects, quadratic effects and interactions among many variables.

    Parameters
    ----------
    prior
        What is believed: `SKIM()` if None.
    family
        The likelihood: `"auto"` or `"gaussian"` for a continuous response with normal noise, or a `Family`
        such as `Gaussian(noise_scale=1.0)`.
    standardize
        Centre and scale numbers and the response.
    impute
        `"mean"` puts the mean in place of missing covariates; None refuses them.
    sampler
        How to sample; None for the default.
    draws
        Draws of each chain; None samples until converged.
    max_draws, max_seconds
        Where to stop if it does not converge.
    random_state
        Seed, an instance of `numpy.random.RandomState`, or None. A fit that is to be resumed from its
        checkpoint needs a seed.
    checkpoint
        File that is written as sampling goes on, from which the same call resumes.
    progress
        Whether to show progress on a terminal or in a notebook; or a function to call with each stage.

    Attributes
    ----------
    fit_ : Fit
        Draws, data and every answer; `fit_.save("run.nc")` keeps it.
    diagnostics_ : Diagnostics
        Whether to trust the draws, in words and numbers.
    n_features_in_ : int
        Number of covariates given to `fit`, those without variation included.
    feature_names_in_ : ndarray
        Their names, if they had names that are text.

    Notes
    -----
    Text columns are factors. New rows of a data frame are matched by name, in any order. `set_output` is a
    matter of transformers, and this class has no `transform`: in a pipeline, `set_output(transform="pandas")`
    makes the steps before it hand their column names on to it.
    """

    # Anything may be given here; `fit` checks it, as scikit-learn asks.
    def __init__(
        self,
        prior: Any = None,
        *,
        family: Any = "auto",
        standardize: Any = True,
        impute: Any = None,
        sampler: Any = None,
        draws: Any = None,
        max_draws: Any = MAX_DRAWS,
        max_seconds: Any = None,
        random_state: Any = None,
        checkpoint: Any = None,
        progress: Any = True,
    ) -> None:
        self.prior = prior
        self.family = family
        self.standardize = standardize
        self.impute = impute
        self.sampler = sampler
        self.draws = draws
        self.max_draws = max_draws
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "InteractionRegressor":
        """Learn from data.

        Parameters
        ----------
        X
            Covariates: a data frame (pandas, polars, …), an array, a mapping, or a file.
        y
            The response: one number for each row, or the name of a column of X.
        sample_weight
            How many copies each row counts as; whole or not. A row of weight zero is left out.

        Warns
        -----
        ConvergenceWarning
            Once, if the draws cannot be trusted, with the reason and the remedy.
        """
        _refuse_sparse(X)
        family = _family(self.family)
        data = design(
            X,
            _one_column(y),
            standardize=self.standardize,
            impute=self.impute,
            weights=sample_weight,
            scale_response=family.scale_response,
        )
        self.fit_ = learn(
            data,
            SKIM() if self.prior is None else self.prior,
            family=family,
            sampler=self.sampler,
            draws=self.draws,
            max_draws=self.max_draws,
            max_seconds=self.max_seconds,
            seed=_seed(self.random_state),
            checkpoint=self.checkpoint,
            progress=self.progress,
        )
        self.diagnostics_ = self.fit_.diagnostics
        names = data.source_names or data.names
        self.n_features_in_ = len(names)
        if _has_names(X):
            self.feature_names_in_ = np.array(names, dtype=object)
        elif "feature_names_in_" in vars(self):
            del self.feature_names_in_
        return self

    def effects(
        self,
        terms: str | Labels | None = None,
        probability: float = 0.9,
        rule: Rule = "lfsr",
        q: float = 0.05,
    ) -> pd.DataFrame:
        """Table of effects, the surest first, see `interplay.results.fit.Fit.effects`."""
        return self._fitted().effects(terms, probability, rule, q)

    def joint(self, labels: Labels) -> Joint:
        """Joint posterior of several effects, see `interplay.results.fit.Fit.joint`."""
        return self._fitted().joint(labels)

    def top_pairs(
        self, size: int = 20, probability: float = 0.9, rule: Rule = "lfsr", q: float = 0.05
    ) -> pd.DataFrame:
        """The strongest of all pairs, see `interplay.results.fit.Fit.top_pairs`."""
        return self._fitted().top_pairs(size, probability, rule, q)

    def selected(self, rule: Rule = "lfsr", q: float = 0.05) -> list[str]:
        """Labels of the effects that a rule selects, see `interplay.results.fit.Fit.selected`."""
        return self._fitted().selected(rule, q)

    def predict(
        self, X: Any, return_std: bool = False
    ) -> Float[np.ndarray, " m"] | tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
        """Mean at new rows, and the sd of a new observation, see `interplay.results.fit.Fit.predict`."""
        return self._ready(X).predict(X, return_std)

    def predict_interval(self, X: Any, probability: float = 0.9) -> Float[np.ndarray, "m 2"]:
        """Interval of a new observation at each row, see `interplay.results.fit.Fit.predict_interval`."""
        return self._ready(X).predict_interval(X, probability)

    @property
    def plot(self) -> "Plots":
        """Plots by name, such as `est.plot.forest()`, see `interplay.results.plots.accessor.Plots`."""
        return self._fitted().plot

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.impute is not None
        return tags

    def __str__(self) -> str:
        return f"{self!r}\n{self.fit_}" if "fit_" in vars(self) else repr(self)

    def _html_repr(self) -> str:
        diagram = super()._html_repr()
        return f"{diagram}{self.fit_._repr_html_()}" if "fit_" in vars(self) else diagram

    def _fitted(self) -> Fit:
        check_is_fitted(self, "fit_")
        return self.fit_

    def _ready(self, X: Any) -> Fit:
        """The fit, once new rows have been looked at."""
        fitted = self._fitted()
        _refuse_sparse(X)
        if "feature_names_in_" in vars(self) and not _is_table(X):
            warnings.warn(
                f"X does not have valid feature names, but {type(self).__name__} was fitted with feature"
                " names: its columns are taken in their order. Give a data frame to be sure.",
                UserWarning,
                stacklevel=3,
            )
        return fitted


def _family(family: Any) -> Family:
    """The family that a setting means."""
    if isinstance(family, Family):
        return family
    if isinstance(family, str) and family in ("auto", "gaussian"):
        return Gaussian()
    raise ValueError(
        f"family={family!r}: expected 'auto', 'gaussian', or a family such as Gaussian(noise_scale=1.0)."
    )


def _seed(random_state: Any) -> int:
    """A seed for the sampler: a whole number is its own."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _one_column(y: Any) -> Any:
    """A response of shape (n, 1) as one of shape (n,), with scikit-learn's warning."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) != 2 or shape[1] != 1:
        return y
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y to"
        " (n_samples,), for example using ravel().",
        DataConversionWarning,
        stacklevel=3,
    )
    return y[y.columns[0]] if hasattr(y, "columns") else np.asarray(y)[:, 0]


def _refuse_sparse(X: Any) -> None:
    # Some sparse matrices are mappings too, which are tables to the data layer.
    if issparse(X):
        to_array(X, "X")


def _is_table(X: Any) -> bool:
    """Whether the columns come with names: a data frame, a mapping or a file."""
    return hasattr(X, "columns") or hasattr(X, "keys") or isinstance(X, str | Path)


def _has_names(X: Any) -> bool:
    """Whether the columns have names that are text, as scikit-learn asks of `feature_names_in_`."""
    names = X.columns if hasattr(X, "columns") else X.keys() if hasattr(X, "keys") else ()
    return isinstance(X, str | Path) or (len(names) > 0 and all(isinstance(name, str) for name in names))
