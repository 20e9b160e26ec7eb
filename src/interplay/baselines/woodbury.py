"""WOODBURY: likelihood and effects by the Woodbury identity on explicit features, O(p² n² + n³)."""

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.sparse import csr_array

from interplay.baselines.explicit import posterior_table
from interplay.data.design import Design
from interplay.model.variances import Variances


def log_likelihood(
    Phi: Float[np.ndarray, "n D"], S: Float[np.ndarray, " D"], noise: float, y: Float[np.ndarray, " n"]
) -> float:
    """Log likelihood with (σ²I + ΦSΦᵀ)⁻¹ and its determinant (Appendix F of the paper, its σ² mended)."""
    n = y.size
    factor = cho_factor((Phi * S) @ Phi.T + noise * np.eye(n), lower=True)
    log_det = 2.0 * np.sum(np.log(np.diag(factor[0])))
    return float(-0.5 * (y @ cho_solve(factor, y) + log_det + n * np.log(2.0 * np.pi)))


def posterior(
    Phi: Float[np.ndarray, "n D"],
    S: Float[np.ndarray, " D"],
    noise: float,
    y: Float[np.ndarray, " n"],
    directions: csr_array,
) -> tuple[Float[np.ndarray, " t"], Float[np.ndarray, " t"]]:
    """Mean and standard deviation of effects Rθ: RSΦᵀM⁻¹y and RSRᵀ − RSΦᵀM⁻¹ΦSRᵀ, M = σ²I + ΦSΦᵀ."""
    lower = np.linalg.cholesky((Phi * S) @ Phi.T + noise * np.eye(y.size))
    cross = (directions @ (Phi * S).T).T
    half = solve_triangular(lower, cross, lower=True)
    prior = directions.power(2) @ S
    mean = half.T @ solve_triangular(lower, y, lower=True)
    return mean, np.sqrt(np.maximum(prior - np.sum(half**2, axis=0), 0.0))


def table(
    design: Design, variances: Variances, sigma: Float[np.ndarray, " s"], *, quadratic: bool = True
) -> pd.DataFrame:
    """The effect table given draws of the hyperparameters, see `explicit.posterior_table`."""
    return posterior_table(design, variances, sigma, posterior, quadratic=quadratic)
