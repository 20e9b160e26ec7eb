"""R-hat and effective sample sizes of many series at once: the numbers of ArviZ, which takes them one by one.

They are asked for all main effects again and again while a fit goes on, and took up to a fifth of its time.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy.fft import next_fast_len
from scipy.special import ndtri

from interplay._support.parallel import Workers, serially

TAILS = (0.05, 0.95)
"""Quantiles whose effective sample sizes make that of the tail."""

AT_ONCE = 2**16
"""Numbers that are worked with at a time, so that they stay in the cache."""

LEAST_DRAWS = 8
"""Draws of each chain below which nothing is said."""


class Mixing(NamedTuple):
    """How well the chains of each series mix."""

    r_hat: Float[np.ndarray, " q"]
    ess_bulk: Float[np.ndarray, " q"]
    ess_tail: Float[np.ndarray, " q"]


def mixing(series: Float[np.ndarray, "q c i"], workers: Workers = serially) -> Mixing:
    """R-hat (rank-normalised, split, the larger of plain and folded), bulk and tail effective sample size.

    By Vehtari et al. (2021), Rank-normalization, folding, and localization.

    Parameters
    ----------
    series
        Of each quantity, the draws of each chain.
    workers
        Share the quantities among them.

    Returns
    -------
    Mixing
        NaN where there are too few draws, and R-hat of what does not vary.
    """
    quantities, chains, draws = series.shape
    if draws < LEAST_DRAWS:
        return Mixing(*np.full((3, quantities), np.nan))
    size = max(AT_ONCE // (chains * draws), 1)
    blocks = [series[start : start + size] for start in range(0, quantities, size)]
    return Mixing(*(np.concatenate(parts) for parts in zip(*workers(_mixing, blocks), strict=True)))


def _mixing(series: Float[np.ndarray, "q c i"]) -> Mixing:
    whole = series.astype(np.float64)
    split = _split(whole)
    middle = np.median(split, axis=(1, 2), keepdims=True)
    scores = _normal_scores(split)
    r_hat = np.maximum(_r_hat(scores), _r_hat(_normal_scores(np.abs(split - middle))))
    bounds = np.quantile(whole, TAILS, axis=(1, 2))[:, :, None, None]
    tails = [_ess(_split((whole <= bound).astype(np.float64))) for bound in bounds]
    return Mixing(r_hat, _ess(scores), np.minimum(*tails))


def _split(values: Float[np.ndarray, "q c i"]) -> Float[np.ndarray, "q m h"]:
    """Each chain as two, without the middle draw of an odd number."""
    half = values.shape[2] // 2
    return np.concatenate([values[:, :, :half], values[:, :, -half:]], axis=1)


def _normal_scores(values: Float[np.ndarray, "q m h"]) -> Float[np.ndarray, "q m h"]:
    """Normal quantiles of the ranks of each series (Blom), equal values having their mean rank."""
    size = values[0].size
    order = np.argsort(values.reshape(-1, size), axis=1)
    order += size * np.arange(len(values))[:, None]
    order = order.ravel()
    ordered = values.ravel().take(order)
    begins = np.empty(values.size, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    begins[::size] = True
    first = np.flatnonzero(begins)
    count = np.diff(first, append=values.size)
    # Mean ranks are whole or half numbers, so that twice the rank finds its quantile in a table.
    quantiles = ndtri((np.arange(2, 2 * size + 1) / 2.0 - 0.375) / (size + 0.25))
    scores = np.empty(values.size)
    scores[order] = np.repeat(quantiles.take(2 * (first % size) + count - 1), count)
    return scores.reshape(values.shape)


def _r_hat(values: Float[np.ndarray, "q m h"]) -> Float[np.ndarray, " q"]:
    length = values.shape[2]
    between = length * values.mean(axis=2).var(axis=1, ddof=1)
    within = values.var(axis=2, ddof=1).mean(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt((between / within + length - 1) / length)


def _ess(values: Float[np.ndarray, "q m h"]) -> Float[np.ndarray, " q"]:
    """Effective sample size for the mean, by Geyer's initial monotone sequence."""
    _, chains, length = values.shape
    covariance = _autocovariance(values)
    total = covariance[:, :1] + values.mean(axis=2).var(axis=1, ddof=1)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        rho = 1.0 - (covariance[:, :1] * length / (length - 1.0) - covariance) / total
    rho[:, 0] = 1.0
    # Sums of neighbours are positive, and fall, for a chain that is reversible: up to the first that is not,
    # the lags count, each sum no more than those before.
    last = -(-(length - 4) // 2)
    sums = rho[:, 0 : 2 * last + 1 : 2] + rho[:, 1 : 2 * last + 2 : 2]
    stop = _first(~(sums > 0.0), last)
    counts = np.arange(last + 1) < stop[:, None]
    series = np.arange(len(rho))
    even, both = rho[series, 2 * stop], sums[series, stop]
    rest = np.where((even > 0.0) | (both >= 0.0) | (stop == 0), even, 0.0)
    time = -1.0 + 2.0 * np.sum(np.minimum.accumulate(sums, axis=1), axis=1, where=counts) + rest
    size = chains * length
    ess = size / np.maximum(time, 1.0 / np.log10(size))
    return np.where(np.ptp(values, axis=(1, 2)) < np.finfo(np.float64).resolution, float(size), ess)


def _autocovariance(values: Float[np.ndarray, "q m h"]) -> Float[np.ndarray, "q h"]:
    """At every lag, the mean over the chains."""
    length = values.shape[2]
    padded = next_fast_len(2 * length, real=True)
    spectrum = np.fft.rfft(values - values.mean(axis=2, keepdims=True), n=padded, axis=2)
    power = np.mean(spectrum.real**2 + spectrum.imag**2, axis=1)
    return np.fft.irfft(power, n=padded, axis=1)[:, :length] / length


def _first(true: Bool[np.ndarray, "q k"], otherwise: int) -> np.ndarray:
    return np.where(true.any(axis=1), true.argmax(axis=1), otherwise)
