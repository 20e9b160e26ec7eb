"""The quantities of which draws are shown: global scales, and κ of the variables that matter."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.data.errors import DataError, nearest
from interplay.inference.stopping import matter
from interplay.results.fit import Fit

GLOBALS = ("eta1", "eta2", "eta3")
"""Global scales of a prior; those of the family come before them."""

SYMBOLS = {"sigma": "σ", "eta1": "η1", "eta2": "η2", "eta3": "η3"}

DEFAULT = 6
"""How many quantities are shown unless some are named."""


def names(fit: Fit, asked: Sequence[str] | None = None) -> list[str]:
    """Quantities in the names of `Diagnostics.quantities`: `sigma`, `eta1`, …, `log_kappa[bmi]`.

    Parameters
    ----------
    fit
        The fit.
    asked
        Some of them; None for the global scales that vary, and κ of the variables that matter, six in all.
    """
    draws = fit.draws.hyperparameters
    scales = [*_of_family(fit), *GLOBALS]
    usual = [name for name in scales if name in draws and np.ptp(draws[name]) > 0]
    if "kappa" not in draws:
        every = usual
    else:
        every = [*usual, *(f"log_kappa[{name}]" for name in fit.design.names)]
        usual = usual + [f"log_kappa[{fit.design.names[k]}]" for k in matter(draws["kappa"])]
    if asked is None:
        return usual[:DEFAULT]
    for name in asked:
        if name not in every:
            raise DataError(
                f"There are no draws of {name!r}.{nearest(name, every)} Expected"
                f" {', '.join(every[: len(scales)])} or 'log_kappa[NAME]' for a variable of a SKIM fit."
            )
    return list(asked)


def series(draws: Mapping[str, np.ndarray], name: str, variables: tuple[str, ...]) -> np.ndarray:
    """The draws of one quantity, without the axis of the variables."""
    values = scale(draws, name, variables)
    return np.log(np.maximum(values, np.finfo(np.float64).tiny)) if name.startswith("log_") else values


def scale(draws: Mapping[str, Any], name: str, variables: tuple[str, ...]) -> Any:
    """The same without the logarithm: σ, η1, κ."""
    if name in draws:
        return draws[name]
    return draws["kappa"][..., variables.index(name.removeprefix("log_kappa[").removesuffix("]"))]


def in_words(name: str) -> str:
    """The symbol of a quantity: σ, η1, log κ[bmi]."""
    return SYMBOLS.get(name, name.replace("log_kappa", "log κ"))


def _of_family(fit: Fit) -> list[str]:
    """Names of the family's parameters in tables: `sigma`."""
    return list(fit.family.constrain(np.zeros((1, len(fit.family.parameters)))))
