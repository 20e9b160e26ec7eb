"""The posterior of the coefficients given one draw, in kernel space."""

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from interplay._support import lapack
from interplay.model.engines.base import ConditionalPosterior
from interplay.model.families.base import Working
from interplay.model.kernel import diagonal, gram
from interplay.model.layout import Layout
from interplay.model.terms import Terms, column_products, joint_prior, marginal_prior, term_features
from interplay.model.variances import Variances


@final
@dataclass(frozen=True, eq=False)
class KernelPosterior(ConditionalPosterior):
    """The posterior given one draw, in kernel space: the kernel interaction trick (Theorem 5.1, mended).

    Parameters
    ----------
    X, layout
        The data.
    variances, working
        The draw.
    lower, alpha
        Lower Cholesky factor of K + V, (n, n), and α = (K + V)⁻¹ z, (n,).
    """

    X: Float[np.ndarray, "n d"]
    layout: Layout
    variances: Variances
    working: Working
    lower: Float[np.ndarray, "n n"]
    alpha: Float[np.ndarray, " n"]

    @property
    def dual(self) -> Float[np.ndarray, " n"]:
        """α."""
        return self.alpha

    def effects(self, terms: Terms) -> tuple[Float[np.ndarray, " t"], Float[np.ndarray, " t"]]:
        """Mean = S_E Φ_Eᵀ α, variance = S_E − S_E Φ_Eᵀ (K + V)⁻¹ Φ_E S_E."""
        prior = marginal_prior(self.variances, self.layout, terms)
        features = term_features(self.X, self.layout, terms)
        mean = prior * (features.T @ self.alpha)
        return mean, self._variance(features * prior, prior)

    def means(self, terms: Terms) -> Float[np.ndarray, " t"]:
        """S_E Φ_Eᵀ α; of main effects without a copy of the columns."""
        prior = marginal_prior(self.variances, self.layout, terms)
        if terms.columns.shape[1] == 1 and not terms.square.any() and np.all(terms.columns >= 0):
            column = terms.columns[:, 0]
            return prior * self.layout.effect_scale[column] * (self.X.T @ self.alpha)[column]
        return prior * (term_features(self.X, self.layout, terms).T @ self.alpha)

    def combinations(
        self, terms: Terms, A: Float[np.ndarray, "q t"]
    ) -> tuple[Float[np.ndarray, " q"], Float[np.ndarray, "q q"]]:
        """A mean and A cov Aᵀ (the paper's Appendix B.5, mended)."""
        prior = joint_prior(self.variances, self.layout, terms)
        cross = term_features(self.X, self.layout, terms) * marginal_prior(self.variances, self.layout, terms)
        white = np.asfortranarray(cross @ A.T)
        mean = white.T @ self.alpha
        lapack.solve_triangle(self.lower, white)
        return mean, A @ prior @ A.T - white.T @ white

    def predict(
        self, rows: Float[np.ndarray, "m d"]
    ) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
        """Mean and variance of the linear predictor at new rows."""
        cross = gram(self.variances, self.layout, self.X, rows)
        return cross.T @ self.alpha, self._variance(cross, diagonal(self.variances, self.layout, rows))

    def fitted(self) -> Float[np.ndarray, " n"]:
        """K α = z − V α."""
        return self.working.response - self.working.noise * self.alpha

    def fitted_by(self, terms: Terms) -> Float[np.ndarray, " n"]:
        """Φ S Φᵀα, over the columns' own coefficients, which are independent."""
        features = column_products(self.X, terms)
        prior = marginal_prior(self.variances, self.layout, terms)
        return features @ (prior * (features.T @ self.alpha))

    def replicate(self, random: np.random.Generator) -> Float[np.ndarray, " n"]:
        """F = f₀ + K (K + V)⁻¹ (z − f₀ − e), f₀ ~ N(0, K), e ~ N(0, V) (Matheron's rule)."""
        K = gram(self.variances, self.layout, self.X, self.X)
        noise = self.working.noise
        prior = _normal(K, random)
        residual = self.working.response - prior - np.sqrt(noise) * random.standard_normal(noise.size)
        white = np.asfortranarray(residual[:, None])
        lapack.solve_triangle(self.lower, white)
        lapack.solve_triangle(self.lower, white, transposed=True)
        return prior + K @ white[:, 0]

    def leave_one_out(self) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """z_i − α_i / H_ii and 1 / H_ii, with H = (K + V)⁻¹ (Sundararajan and Keerthi 2001)."""
        inverse = self.lower.copy(order="F")
        lapack.inverse_from_factor(inverse)
        diagonal_of_inverse = np.diagonal(inverse)
        return self.working.response - self.alpha / diagonal_of_inverse, 1.0 / diagonal_of_inverse

    def _variance(self, cross: Float[np.ndarray, "n t"], prior: Float[np.ndarray, " t"]) -> np.ndarray:
        """Variance of quantities with the given prior variances and covariances with the data."""
        white = np.array(cross, order="F")
        lapack.solve_triangle(self.lower, white)
        return np.maximum(prior - np.einsum("ij,ij->j", white, white), 0.0)


def _normal(K: Float[np.ndarray, "n n"], random: np.random.Generator) -> Float[np.ndarray, " n"]:
    """A draw from N(0, K), whose eigenvalues may be zero to rounding."""
    values, vectors = np.linalg.eigh(K)
    return vectors @ (np.sqrt(np.maximum(values, 0.0)) * random.standard_normal(values.size))
