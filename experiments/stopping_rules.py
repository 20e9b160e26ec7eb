"""Candidate rules of stopping, and their replay on stored draws."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.fft import next_fast_len
from scipy.special import ndtri
from scipy.stats import chi2, rankdata

from interplay.inference.mixing import LEAST_DRAWS, mixing

EVERY = 25
"""Draws of each chain between two checks."""

ESS = 400.0
"""Bulk and tail effective sample size that every rule asks for."""

LEVEL = 0.01
"""Of a test of all quantities together."""


@dataclass(frozen=True, eq=False)
class Stored:
    """Draws of the quantities that a run monitors.

    Parameters
    ----------
    names
        Of the quantities.
    scales
        Which are hyperparameters that are one number.
    series
        Of each quantity, the draws of each chain.
    """

    names: tuple[str, ...]
    scales: np.ndarray
    series: Float[np.ndarray, "q c i"]


@dataclass(frozen=True, eq=False)
class Check:
    """What is known of the first draws of a run; arrays over quantities, each with enough effective draws.

    Parameters
    ----------
    scales
        As in `Stored`.
    r_hat
        Rank-normalised split R-hat.
    series
        The draws.
    """

    scales: np.ndarray
    r_hat: Float[np.ndarray, " q"]
    series: Float[np.ndarray, "q c i"]


Rule = Callable[[Check], bool]
"""Whether the draws so far are enough, given that their effective sample sizes are."""


def agree(series: Float[np.ndarray, "q c i"], parts: int = 1) -> Float[np.ndarray, " q"]:
    """Probability of means of chains as far apart as these, if all chains have one distribution.

    With z the normal scores of the ranks over all chains, m_g the mean of z in one of G groups (a chain, or a
    part of it) and n_g its effective number of draws by the autocorrelation within chains,

        Σ_g n_g (m_g − m̄)² / s² ~ χ²(G − 1).

    Parameters
    ----------
    series
        Draws.
    parts
        Into how many parts each chain is cut: two or more show drift.
    """
    q, chains, draws = series.shape
    length = draws // parts
    ranks = rankdata(series.reshape(q, -1), axis=1)
    z = ndtri((ranks - 0.375) / (chains * draws + 0.25)).reshape(q, chains, draws)
    groups = z[:, :, draws - parts * length :].reshape(q, chains * parts, length)
    within = groups - groups.mean(axis=2, keepdims=True)
    effective = length / _autocorrelation_time(within)
    means, variance = groups.mean(axis=2), within.var(axis=2).mean(axis=1)
    spread = np.sum((means - means.mean(axis=1, keepdims=True)) ** 2, axis=1)
    return chi2.sf(effective * spread / variance, chains * parts - 1)


def _autocorrelation_time(within: Float[np.ndarray, "q g i"]) -> Float[np.ndarray, " q"]:
    """1 + 2 Σ ρ, by Geyer's initial positive sequence of the mean autocovariance of the groups."""
    length = within.shape[2]
    padded = next_fast_len(2 * length, real=True)
    power = np.mean(np.abs(np.fft.rfft(within, n=padded, axis=2)) ** 2, axis=1)
    covariance = np.fft.irfft(power, n=padded, axis=1)[:, :length]
    rho = covariance / covariance[:, :1]
    sums = rho[:, 0 : length // 2 * 2 : 2] + rho[:, 1 : length // 2 * 2 : 2]
    kept = np.cumprod(sums > 0.0, axis=1)
    return np.maximum(2.0 * np.sum(np.minimum.accumulate(sums, axis=1) * kept, axis=1) - 1.0, 0.1)


def at_most(scales: float, others: float) -> Rule:
    """R-hat of hyperparameters and of all other quantities below bounds."""
    return lambda check: bool(np.all(check.r_hat <= np.where(check.scales, scales, others)))


def at_most_and_agree(scales: float, others: float, parts: int) -> Rule:
    """The same, and means of chains, or of parts of them, no further apart than by chance."""
    bounds = at_most(scales, others)

    def holds(check: Check) -> bool:
        if not bounds(check):
            return False
        return bool(np.min(agree(check.series, parts)) >= LEVEL / len(check.r_hat))

    return holds


RULES: dict[str, Rule] = {
    "R-hat ≤ 1.01": at_most(1.01, 1.01),
    "R-hat ≤ 1.02": at_most(1.02, 1.02),
    "scales ≤ 1.02, others ≤ 1.05": at_most(1.02, 1.05),
    "scales ≤ 1.02, others ≤ 1.05, chains agree": at_most_and_agree(1.02, 1.05, 1),
    "scales ≤ 1.02, others ≤ 1.05, halves agree": at_most_and_agree(1.02, 1.05, 2),
    "scales ≤ 1.01, others ≤ 1.03, halves agree": at_most_and_agree(1.01, 1.03, 2),
    "all ≤ 1.05, halves agree": at_most_and_agree(1.05, 1.05, 2),
    "no R-hat": lambda check: True,
}
"""By name: what each asks for beside 400 effective draws in bulk and tail of every quantity."""

TODAY = next(iter(RULES))
"""The rule of version 0.1.0."""


def replay(stored: Stored, rules: dict[str, Rule] | None = None) -> dict[str, int | None]:
    """At how many draws of each chain each rule would have stopped a run; None where it would not."""
    rules = RULES if rules is None else rules
    stops: dict[str, int | None] = dict.fromkeys(rules)
    for check, length in checks(stored):
        for name, rule in rules.items():
            if stops[name] is None and rule(check):
                stops[name] = length
        if None not in stops.values():
            break
    return stops


def checks(stored: Stored) -> Iterator[tuple[Check, int]]:
    """Every check at which all quantities have enough effective draws, and its number of draws."""
    suspects: Sequence[int] = ()
    for length in range(EVERY, stored.series.shape[2] + 1, EVERY):
        if length < LEAST_DRAWS:
            continue
        some = stored.series[:, :, :length]
        # What was short of draws at the last check mostly still is.
        if len(suspects) and np.min(_effective(some[suspects])) < ESS:
            continue
        found = mixing(some)
        effective = np.minimum(found.ess_bulk, found.ess_tail)
        if np.min(effective) < ESS:
            suspects = [int(np.argmin(effective))]
            continue
        yield Check(stored.scales, found.r_hat, some), length


def _effective(series: Float[np.ndarray, "q c i"]) -> Float[np.ndarray, " q"]:
    found = mixing(series)
    return np.minimum(found.ess_bulk, found.ess_tail)
