"""Over the draws: a posterior is an equal mixture of Gaussians, summarised exactly."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize.elementwise import find_root
from scipy.special import ndtr, ndtri


@dataclass(frozen=True)
class Mixture:
    """The marginal posteriors of t quantities, each an equal mixture of s Gaussians.

    Parameters
    ----------
    means, sds
        Of each Gaussian, (s, t). A standard deviation of 0 is a point mass.
    """

    means: Float[np.ndarray, "s t"]
    sds: Float[np.ndarray, "s t"]

    def __post_init__(self) -> None:
        _check_finite(self.means, self.sds)

    @classmethod
    def joined(cls, *parts: "Mixture") -> "Mixture":
        """Several mixtures over the same draws, one after the other."""
        means = np.concatenate([part.means for part in parts], axis=1)
        return cls(means, np.concatenate([part.sds for part in parts], axis=1))

    def of(self, quantities: Int[np.ndarray, " k"]) -> "Mixture":
        """The posteriors of some of the quantities, in the order given."""
        return Mixture(self.means[:, quantities], self.sds[:, quantities])

    @property
    def mean(self) -> Float[np.ndarray, " t"]:
        """Mean of the mixture."""
        return self.means.mean(axis=0)

    @property
    def sd(self) -> Float[np.ndarray, " t"]:
        """Standard deviation of the mixture: within the draws and between them."""
        return np.sqrt(np.mean(self.sds**2, axis=0) + np.var(self.means, axis=0))

    @property
    def conditional_sd(self) -> Float[np.ndarray, " t"]:
        """Average standard deviation within the draws (Appendix E of the paper)."""
        return self.sds.mean(axis=0)

    @property
    def prob_positive(self) -> Float[np.ndarray, " t"]:
        """P(θ > 0)."""
        return np.mean(np.where(self.sds > 0, ndtr(_ratio(self.means, self.sds)), self.means > 0), axis=0)

    @property
    def prob_negative(self) -> Float[np.ndarray, " t"]:
        """P(θ < 0)."""
        return np.mean(np.where(self.sds > 0, ndtr(-_ratio(self.means, self.sds)), self.means < 0), axis=0)

    @property
    def lfsr(self) -> Float[np.ndarray, " t"]:
        """The local false sign rate min(P(θ ≥ 0), P(θ ≤ 0)): 1 for what is surely zero."""
        zero = np.mean((self.sds == 0) & (self.means == 0), axis=0)
        return np.minimum(np.minimum(self.prob_positive, self.prob_negative) + zero, 1.0)

    def cdf(self, x: Float[np.ndarray, " t"]) -> Float[np.ndarray, " t"]:
        """P(θ ≤ x)."""
        return _cdf(x, self.means, self.sds)

    def quantile(self, q: float) -> Float[np.ndarray, " t"]:
        """The q-quantile, by root finding between the smallest and largest quantile of a Gaussian."""
        if not 0.0 < q < 1.0:
            raise ValueError(f"q={q!r}: expected a probability between 0 and 1.")
        quantiles = self.means + self.sds * ndtri(q)
        low, high = quantiles.min(axis=0), quantiles.max(axis=0)
        # Where all Gaussians agree, to rounding, an end of the bracket is the quantile.
        at_low, at_high = self.cdf(low) >= q, self.cdf(high) <= q
        result = np.where(at_low, low, high)
        inside = np.flatnonzero(~at_low & ~at_high)
        if inside.size:
            result[inside] = find_root(  # type: ignore[call-overload]
                lambda x, at: _cdf(x, self.means[:, at.astype(int)], self.sds[:, at.astype(int)]) - q,
                (low[inside], high[inside]),
                args=(inside.astype(float),),
                tolerances={"xatol": 0.0, "xrtol": 1e-14, "fatol": 0.0, "frtol": 0.0},
            ).x
        return result

    def draws(self, size: int, random: np.random.Generator) -> Float[np.ndarray, "size t"]:
        """Independent draws from each mixture (not joint between the quantities)."""
        s, t = self.means.shape
        component = random.integers(s, size=(size, t))
        columns = np.arange(t)
        noise = random.standard_normal((size, t))
        return self.means[component, columns] + self.sds[component, columns] * noise


@dataclass(frozen=True)
class JointMixture:
    """The joint posterior of t quantities, an equal mixture of s multivariate Gaussians.

    Parameters
    ----------
    means
        Of each Gaussian, (s, t).
    covariances
        Of each Gaussian, (s, t, t).
    """

    means: Float[np.ndarray, "s t"]
    covariances: Float[np.ndarray, "s t t"]

    def __post_init__(self) -> None:
        _check_finite(self.means, self.covariances)

    @property
    def mean(self) -> Float[np.ndarray, " t"]:
        """Mean of the mixture."""
        return self.means.mean(axis=0)

    @property
    def cov(self) -> Float[np.ndarray, "t t"]:
        """Covariance of the mixture: within the draws and between them."""
        centred = self.means - self.mean
        return self.covariances.mean(axis=0) + centred.T @ centred / len(centred)

    def draws(self, size: int, random: np.random.Generator) -> Float[np.ndarray, "size t"]:
        """Joint draws from the mixture."""
        component = random.integers(len(self.means), size=size)
        values, vectors = np.linalg.eigh(self.covariances)
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        noise = random.standard_normal((size, self.means.shape[1]))
        return self.means[component] + np.einsum("sij,sj->si", roots[component], noise)


def _check_finite(means: np.ndarray, spreads: np.ndarray) -> None:
    # A draw that is not a number must never come out as a certain effect.
    bad = ~(np.isfinite(means).all(axis=1) & np.isfinite(spreads).reshape(len(means), -1).all(axis=1))
    if bad.any():
        raise ValueError(
            f"The posterior of {bad.sum()} of {bad.size} draws is not a number (first: {np.argmax(bad)}):"
            " there K + σ²I is not positive definite to working precision. Expected prior variances within"
            " about 10⁶ times the noise variance; standardise the data, or take these draws out."
        )


def _ratio(means: np.ndarray, sds: np.ndarray) -> np.ndarray:
    return means / np.where(sds > 0, sds, 1.0)


def _cdf(x: np.ndarray, means: np.ndarray, sds: np.ndarray) -> np.ndarray:
    spread = np.where(sds > 0, ndtr(_ratio(x - means, sds)), x >= means)
    return spread.mean(axis=0)
