"""WOODBURY: the marginal likelihood by the Woodbury identity on explicit features, O(p² n² + n³)."""

import numpy as np
from jaxtyping import Float
from scipy.linalg import cho_factor, cho_solve


def log_likelihood(
    Phi: Float[np.ndarray, "n D"], S: Float[np.ndarray, " D"], noise: float, y: Float[np.ndarray, " n"]
) -> float:
    """Log likelihood with (σ²I + ΦSΦᵀ)⁻¹ and its determinant (Appendix F of the paper, its σ² mended)."""
    n = y.size
    factor = cho_factor((Phi * S) @ Phi.T + noise * np.eye(n), lower=True)
    log_det = 2.0 * np.sum(np.log(np.diag(factor[0])))
    return float(-0.5 * (y @ cho_solve(factor, y) + log_det + n * np.log(2.0 * np.pi)))
