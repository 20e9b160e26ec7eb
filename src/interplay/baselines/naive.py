"""NAIVE: the marginal likelihood by factorising the posterior precision of all coefficients, O(p⁶ + p⁴ n)."""

import numpy as np
from jaxtyping import Float
from scipy.linalg import cho_factor, cho_solve


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
