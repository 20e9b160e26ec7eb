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
    from interplay.inference.moves.hmc import HMC
    from interplay.model.families import Family, Gaussian
    from interplay.model.priors import SKIM, BlockDegree, Prior, TwoWay
    from interplay.results.files import load
    from interplay.results.fit import Fit

__all__ = [
    "HMC",
    "SKIM",
    "BlockDegree",
    "ConvergenceWarning",
    "DataError",
    "Design",
    "Family",
    "Fit",
    "Gaussian",
    "InteractionRegressor",
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
    "Family": "interplay.model.families",
    "Fit": "interplay.results.fit",
    "Gaussian": "interplay.model.families",
    "HMC": "interplay.inference.moves.hmc",
    "InteractionRegressor": "interplay.estimator",
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
"""Where each public name is at home. It is imported when first used, so that `import interplay` is quick."""


_GONE = {
    "Lockstep": "The sampler is called HMC now: interplay.HMC(chains=4, acceptance=0.8, …).",
    "NUTS": "The default sampler is interplay.HMC; NumPyro's NUTS on the same model, as a reference, is in"
    " interplay.baselines.plain.",
}
"""Public names of version 0.1.0 that are gone, and what to use."""


def __getattr__(name: str) -> Any:
    if name in _GONE:
        raise AttributeError(f"interplay.{name} is gone. {_GONE[name]}")
    if name not in _HOMES:
        raise AttributeError(f"module 'interplay' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    # A module is an attribute of its folder only once it is imported.
    value = getattr(home, name, None) or import_module(f"{_HOMES[name]}.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
