"""Bayesian discovery of main effects and interactions among many covariates."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from interplay.data import datasets, simulate
from interplay.data.design import Design, design, encode
from interplay.data.errors import DataError
from interplay.data.table import Table, read
from interplay.model.priors import SKIM, BlockDegree, Prior, TwoWay

if TYPE_CHECKING:
    from interplay.estimator import InteractionRegressor
    from interplay.inference.diagnostics import ConvergenceWarning
    from interplay.inference.sampler import NUTS, Lockstep
    from interplay.results.files import load
    from interplay.results.fit import Fit

__all__ = [
    "NUTS",
    "SKIM",
    "BlockDegree",
    "ConvergenceWarning",
    "DataError",
    "Design",
    "Fit",
    "InteractionRegressor",
    "Lockstep",
    "Prior",
    "Table",
    "TwoWay",
    "datasets",
    "design",
    "encode",
    "load",
    "read",
    "simulate",
]

_LATE = {
    "ConvergenceWarning": "interplay.inference.diagnostics",
    "Fit": "interplay.results.fit",
    "InteractionRegressor": "interplay.estimator",
    "Lockstep": "interplay.inference.sampler",
    "NUTS": "interplay.inference.sampler",
    "load": "interplay.results.files",
}
"""Names that bring scikit-learn, pandas or BlackJAX with them, imported when first used."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'interplay' has no attribute {name!r}")
    globals()[name] = getattr(import_module(_LATE[name]), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
