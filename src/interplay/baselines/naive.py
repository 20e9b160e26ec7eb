"""NAIVE: likelihood and effects by factorising the posterior precision of all coefficients, O(p⁶ + p⁴ n)."""

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array

from interplay.baselines.explicit import posterior_table
from interplay.data.design import Design
from interplay.model.variances import Variances


def log_likelihood(
    Phi: Float[np.ndarray, "n D"], S: Float[np.ndarray, " D"], noise: float, y: Float[np.ndarray, " n"]
) -> float:
    """Log likelihood through Σ_N⁻¹ = Σ_τ⁻¹ + ΦᵀΦ/σ² (Section 3 of the paper), for positive variances."""
    n = y.size
    factor = cho_factor(np.diag(1.0 / S) + Phi.T @ Phi / noise, lower=True)
    projection = Phi.T @ y
    log_det_ratio = -2.0 * np.sum(np.log(np.diag(factor[0]))) - np.sum(np.log(S))
    fit = projection @ cho_solve(factor, projection) / noise**2
    return float(-0.5 * n * np.log(2.0 * np.pi * noise) + 0.5 * log_det_ratio - 0.5 * (y @ y / noise - fit))


def posterior(
    Phi: Float[np.ndarray, "n D"],
    S: Float[np.ndarray, " D"],
    noise: float,
    y: Float[np.ndarray, " n"],
    directions: csr_array,
) -> tuple[Float[np.ndarray, " t"], Float[np.ndarray, " t"]]:
    """Mean and standard deviation of effects: Rθ with θ ~ N(Σ_N Φᵀy/σ², Σ_N) and R the directions."""
    factor = cho_factor(np.diag(1.0 / S) + Phi.T @ Phi / noise, lower=True)
    covariance = cho_solve(factor, np.eye(S.size))
    mean = covariance @ (Phi.T @ y) / noise
    return directions @ mean, np.sqrt(directions.multiply(directions @ covariance).sum(axis=1))


def table(
    design: Design, variances: Variances, sigma: Float[np.ndarray, " s"], *, quadratic: bool = True
) -> pd.DataFrame:
    """The effect table given draws of the hyperparameters, see `explicit.posterior_table`."""
    return posterior_table(design, variances, sigma, posterior, quadratic=quadratic)
