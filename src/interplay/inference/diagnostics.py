"""Whether the draws can be trusted, in words."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.special import ndtr

from interplay.inference.mixing import LEAST_DRAWS
from interplay.inference.rounding import MOST_ROUNDING
from interplay.inference.stopping import ESS, R_HAT
from interplay.inference.trace import SPARSE, Trace

Verdict = Literal["trust", "run longer", "do not report"]

Ending = Literal["converged", "draws", "max_draws", "max_seconds", "interrupted", "rounding"]

BAD_R_HAT = 1.05
BAD_ESS = 100.0
"""Beyond these the draws are not to be reported at all."""

BAD_DIVERGENCES = 0.01
"""Share of divergent iterations beyond which parts of the posterior may be missing."""

SURE, UNSURE = 0.05, 0.25
"""Chains disagree on an effect where the chance that it has the other sign is at most the first in one, and
above the second in another."""

ENDINGS = {
    "converged": "sampling stopped when everything had converged",
    "draws": "sampling stopped at the number of draws asked for",
    "max_draws": "sampling stopped at max_draws",
    "max_seconds": "sampling stopped at max_seconds",
    "interrupted": "sampling was interrupted",
    "rounding": "sampling stopped: the noise is too small for double precision",
}


NO_NOISE = (
    "The response is all but a function of the covariates, which ordinary regression on the terms in question"
    " finds without a sampler."
)


class ConvergenceWarning(UserWarning):
    """The draws of a fit cannot be trusted yet."""


@dataclass(frozen=True)
class Diagnostics:
    """What is known of the quality of the draws.

    Parameters
    ----------
    verdict, reason, remedy
        Whether to trust the draws, why, and what to do (empty where nothing is to be done).
    ended
        Why sampling ended.
    r_hat
        The largest rank-normalised split R-hat of all quantities watched.
    ess_bulk, ess_tail
        The smallest effective sample sizes of all quantities watched.
    worst
        Name of the quantity with the largest R-hat.
    divergences
        Number of divergent iterations after warm-up.
    acceptance
        Average acceptance rate after warm-up.
    gradients
        Gradients of the log density, warm-up included.
    disagreements
        Main effects that some chains are sure of and others are not, by label.
    remedies
        What was changed on the way because something looked wrong, in words.
    seconds
        Wall time, warm-up included.
    quantities
        One row for each quantity watched: `quantity r_hat ess_bulk ess_tail`.
    """

    verdict: Verdict
    reason: str
    remedy: str
    ended: Ending
    r_hat: float
    ess_bulk: float
    ess_tail: float
    worst: str
    divergences: int
    acceptance: float
    gradients: int
    disagreements: tuple[str, ...]
    remedies: tuple[str, ...]
    seconds: float
    quantities: pd.DataFrame

    @property
    def limit(self) -> str:
        """What limits the run: the quantities with the fewest effective draws and with the largest R-hat."""
        known = self.quantities.dropna()
        if known.empty:
            return ""
        ess = known[["ess_bulk", "ess_tail"]]
        least = ess.min(axis=1).to_numpy().argmin()
        part = "bulk" if ess["ess_bulk"].iloc[least] <= ess["ess_tail"].iloc[least] else "tails"
        fewest, largest = known["quantity"].iloc[least], known["quantity"].iloc[known["r_hat"].argmax()]
        return (
            f"fewest effective draws, {ess.iloc[least].min():.0f} in the {part}, of {_kind(fewest)}; largest"
            f" R-hat, {known['r_hat'].max():.3f}, of {_kind(largest)}"
        )

    def __str__(self) -> str:
        parts = [f"{self.verdict.capitalize()}: {self.reason}", self.remedy, *self.remedies]
        return " ".join(part for part in parts if part)


def diagnose(
    trace: Trace,
    quantities: pd.DataFrame,
    labels: tuple[str, ...],
    *,
    ended: Ending,
    remedies: tuple[str, ...],
    gradients: int,
    seconds: float,
    rounding: float = 0.0,
) -> Diagnostics:
    """Judge the draws of a run, of which rounding moves the log density by so much."""
    r_hat = float(quantities["r_hat"].max())
    bulk, tail = float(quantities["ess_bulk"].min()), float(quantities["ess_tail"].min())
    name = "" if np.isnan(r_hat) else str(quantities["quantity"].to_numpy()[quantities["r_hat"].argmax()])
    divergences = int(trace.statistics["divergent"].sum())
    disagreements = tuple(labels[column] for column in disputed(trace.main_mean, trace.main_sd))
    verdict, reason, remedy = _verdict(
        r_hat, min(bulk, tail), name, divergences, trace.log_density.shape, disagreements
    )
    if rounding > MOST_ROUNDING:
        verdict, reason, remedy = "do not report", _too_precise(rounding), NO_NOISE
    return Diagnostics(
        verdict=verdict,
        reason=f"{reason}; {ENDINGS[ended]}.",
        remedy=remedy,
        ended=ended,
        r_hat=r_hat,
        ess_bulk=bulk,
        ess_tail=tail,
        worst=name,
        divergences=divergences,
        acceptance=float(trace.statistics["acceptance"].mean()),
        gradients=gradients,
        disagreements=disagreements,
        remedies=remedies,
        seconds=seconds,
        quantities=quantities,
    )


def _too_precise(rounding: float) -> str:
    moved = f"by {rounding:.2g}" if np.isfinite(rounding) else "beyond bounds"
    return f"the noise is so small beside the response that rounding moves the log density {moved}"


def disputed(mean: Float[np.ndarray, "c i d"], sd: Float[np.ndarray, "c j d"]) -> list[int]:
    """Columns whose main effect has a sign that some chains are sure of, and others are not.

    Parameters
    ----------
    mean, sd
        Conditional means of each draw, and standard deviations of every fifth.
    """
    mean = mean[:, ::SPARSE]
    positive = ndtr(mean / np.maximum(sd, np.finfo(sd.dtype).tiny)).mean(axis=1)
    low, high = positive.min(axis=0), positive.max(axis=0)
    up, down = (high >= 1.0 - SURE) & (low < 1.0 - UNSURE), (low <= SURE) & (high > UNSURE)
    return np.flatnonzero(up | down).tolist()


def _verdict(
    r_hat: float,
    ess: float,
    worst: str,
    divergences: int,
    shape: tuple[int, ...],
    disagreements: tuple[str, ...],
) -> tuple[Verdict, str, str]:
    chains, length = shape
    longer = "Raise max_draws (or draws), or max_seconds."
    if np.isnan(r_hat):
        reason = (
            f"{chains} chains of {length} draws are too few to say anything (at least {LEAST_DRAWS} each)"
        )
        return "do not report", reason, longer
    figures = f"largest R-hat {r_hat:.3f} ({worst}), smallest effective sample size {ess:.0f}"
    if divergences > BAD_DIVERGENCES * chains * length:
        reason = (
            f"{divergences} of {chains * length} iterations diverged: parts of the posterior may be missing"
        )
        return "do not report", reason, "Raise the sampler's acceptance, as in HMC(acceptance=0.95)."
    if r_hat > BAD_R_HAT or ess < BAD_ESS:
        hint = (
            f" The chains disagree on {_listed(disagreements)}: several sets of variables explain the data."
        )
        return "do not report", figures, longer + (hint if disagreements else "")
    if disagreements:
        reason = f"chains disagree on {_listed(disagreements)}; {figures}"
        return "run longer", reason, longer
    if r_hat > R_HAT or ess < ESS:
        return "run longer", f"{figures}; wanted are {R_HAT} and {ESS:.0f}", longer
    return "trust", figures, ""


def _kind(quantity: str) -> str:
    """A quantity that is monitored, and what it is."""
    if quantity.startswith("log_kappa["):
        return f"{quantity} (a variable)"
    return f"{quantity} ({'an effect' if quantity.startswith('effect[') else 'a hyperparameter'})"


def _listed(labels: tuple[str, ...], most: int = 5) -> str:
    shown = ", ".join(labels[:most])
    return shown if len(labels) <= most else f"{shown} and {len(labels) - most} more"
