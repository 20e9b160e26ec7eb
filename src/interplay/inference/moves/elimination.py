"""Coefficients of active features, integrated out, as a metric of what remains."""

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from interplay._support import lapack


@final
@dataclass(frozen=True, eq=False)
class Elimination:
    """The precision of some coefficients θ_o = T β, β ~ N(0, 1), that are integrated out.

    With M = ΦᵀWΦ/v, B = 1 + T M_oo T = L Lᵀ and H = (v W⁻¹ + Φ_o T² Φ_oᵀ)⁻¹, the product of two columns is

        aᵀHb = aᵀWb/v − (L⁻¹ T Φ_oᵀWa/v)ᵀ (L⁻¹ T Φ_oᵀWb/v)

    Parameters
    ----------
    root
        T, the prior standard deviation of each coefficient, (o,).
    factor
        L in its lower triangle.
    """

    root: Float[np.ndarray, " o"]
    factor: Float[np.ndarray, "o o"]

    @classmethod
    def of(
        cls, gram: Float[np.ndarray, "o o"], root: Float[np.ndarray, " o"], noise: float
    ) -> "Elimination | None":
        """From the Gram matrix of the features; None where rounding leaves no positive definite matrix."""
        factor = np.multiply(gram, np.multiply.outer(root, root / noise), order="F")
        factor.ravel(order="K")[:: root.size + 1] += 1.0
        return cls(root, factor) if lapack.cholesky(factor) else None

    def whitened(self, projections: Float[np.ndarray, "k o"]) -> Float[np.ndarray, "k o"]:
        """L⁻¹ T Φ_oᵀWa/v of columns a, whose projections T Φ_oᵀWa/v are given as rows and overwritten."""
        lapack.solve_triangle(self.factor, projections.T)
        return projections

    def draw(self, whitened: Float[np.ndarray, " o"], random: np.random.Generator) -> Float[np.ndarray, " o"]:
        """A draw of θ_o given everything else, from what the response whitened comes to."""
        noisy = (whitened + random.standard_normal(whitened.size))[:, None]
        lapack.solve_triangle(self.factor, noisy, transposed=True)
        return self.root * noisy[:, 0]

    def mean(self, whitened: Float[np.ndarray, " o"]) -> Float[np.ndarray, " o"]:
        """The mean of θ_o given everything else."""
        right = whitened[:, None].copy()
        lapack.solve_triangle(self.factor, right, transposed=True)
        return self.root * right[:, 0]

    def variances(self, directions: Float[np.ndarray, "k o"]) -> Float[np.ndarray, " k"]:
        """Variances of combinations of θ_o given everything else."""
        rows = np.ascontiguousarray(directions * self.root)
        lapack.solve_triangle(self.factor, rows.T)
        return np.einsum("ij,ij->i", rows, rows)
