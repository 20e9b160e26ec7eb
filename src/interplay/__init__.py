"""Bayesian discovery of main effects and interactions among many covariates."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interplay.data import datasets, simulate
    from interplay.data.design import Design, design, encode
    from interplay.data.errors import DataError
    from interplay.data.table import Table, read
    from interplay.estimator import InteractionRegressor
    from interplay.inference.diagnostics import ConvergenceWarning
    from interplay.inference.sampler import NUTS, Lockstep
    from interplay.model.priors import SKIM, BlockDegree, Prior, TwoWay
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

_HOMES = {
    "BlockDegree": "interplay.model.priors",
    "ConvergenceWarning": "interplay.inference.diagnostics",
    "DataError": "interplay.data.errors",
    "Design": "interplay.data.design",
    "Fit": "interplay.results.fit",
    "InteractionRegressor": "interplay.estimator",
    "Lockstep": "interplay.inference.sampler",
    "NUTS": "interplay.inference.sampler",
    "Prior": "interplay.model.priors",
    "SKIM": "interplay.model.priors",
    "Table": "interplay.data.table",
    "TwoWay": "interplay.model.priors",
    "datasets": "interplay.data",
    "design": "interplay.data.design",
    "encode": "interplay.data.design",
    "load": "interplay.results.files",
    "read": "interplay.data.table",
    "simulate": "interplay.data",
}
"""Where each public name is at home. It is imported when first used, as JAX takes seconds."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'interplay' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    # A module is an attribute of its folder only once it is imported.
    value = getattr(home, name, None) or import_module(f"{_HOMES[name]}.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
