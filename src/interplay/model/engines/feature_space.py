"""The engine for many rows: everything through the coefficients and sufficient statistics, O(dim Φ³)."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from jaxtyping import Float

from interplay._support import lapack
from interplay.data.design import Design
from interplay.model.engines.base import ConditionalPosterior, Engine, Likelihood
from interplay.model.engines.coefficients import Coefficients, Incidence, Statistics
from interplay.model.families.base import Working
from interplay.model.layout import Layout
from interplay.model.term_variances import pull_back_terms
from interplay.model.terms import Terms, as_arrays, column_products, marginal_prior, monomials
from interplay.model.variances import Variances

CHUNK = 4096
"""Rows read at a time."""

NOT_DEFINED = Likelihood(-math.inf)


@final
class FeatureSpace(Engine):
    """A data set in feature space.

    Parameters
    ----------
    design
        The data.
    degree, quadratic
        Highest order of interaction among the features, and whether squares are.
    """

    def __init__(self, design: Design, *, degree: int = 2, quadratic: bool = True) -> None:
        self._X = design.X
        self._layout = Layout.of(design)
        self._degree = degree
        self._features = as_arrays(monomials(design, degree, quadratic=quadratic))
        columns = self._features.columns
        self._variables = np.where(columns >= 0, self._layout.owner[columns], -1)
        self._incidence = Incidence.of(self._features, self._layout, degree, design.p)
        self._kept: tuple[np.ndarray, np.ndarray, Coefficients] | None = None

    @property
    def layout(self) -> Layout:
        """Which variable each column belongs to."""
        return self._layout

    @property
    def single_precision(self) -> bool:
        """Everything is in double precision."""
        return False

    @property
    def has_coefficients(self) -> bool:
        """All pairs are among the features."""
        return True

    def coefficients(self, working: Working) -> Coefficients:
        """What the rows say of explicit coefficients, kept while response and weights are the same arrays."""
        kept = self._kept
        if kept is None or kept[0] is not working.response or kept[1] is not working.weights:
            coefficients = Coefficients(self._incidence, self._gathered(working))
            kept = working.response, working.weights, coefficients
            self._kept = kept
        return kept[2]

    def statistics(self, working: Working) -> Statistics:
        """Sufficient statistics of the rows."""
        return self.coefficients(working).statistics

    def log_likelihood(self, variances: Variances, working: Working) -> Likelihood:
        """Log p(z | τ, v), from the sufficient statistics."""
        S, statistics = self._prior(variances), self.statistics(working)
        lower = _precision(np.sqrt(S), working.variance, statistics)
        return Likelihood(_factorise(lower, np.sqrt(S), working.variance, statistics)[0])

    def gradient(self, variances: Variances, working: Working) -> Likelihood:
        """The value and its derivatives.

        With B = I + S^½ ΦᵀWΦ S^½ / σ², u = B⁻¹ S^½ ΦᵀWz / σ² and m = S^½ u, in closed form

            ∂/∂S_j = ½ [(φ_jᵀα)² − φ_jᵀ H φ_j] = ½ [u_j² + (B⁻¹)_jj − 1] / S_j
            ∂/∂ log σ² = ½ [(z − Φm)ᵀW(z − Φm) / σ² − (n − D + tr B⁻¹)]
        """
        S, noise, statistics = self._prior(variances), working.variance, self.statistics(working)
        s = np.sqrt(S)
        lower = _precision(s, noise, statistics)
        value, white = _factorise(lower, s, noise, statistics)
        if not math.isfinite(value):
            return NOT_DEFINED
        lapack.solve_triangle(lower, white, transposed=True)
        u = white[:, 0] / noise
        inverse = lower.copy(order="F")
        lapack.invert_triangle(inverse)
        root = np.tril(inverse)
        inverse_diagonal = np.einsum("ij,ij->j", root, root)
        gram, m = statistics.gram, s * u
        fitted = gram @ m
        # Two forms of ∂/∂S_j, each of which cancels where the other does not. The first needs φᵀHφ.
        informed = S * np.diagonal(gram) > noise
        dS = np.empty(S.size)
        dS[informed] = 0.5 * (u[informed] ** 2 + inverse_diagonal[informed] - 1.0) / S[informed]
        weak = np.flatnonzero(~informed)
        if weak.size:
            explained = np.asfortranarray(s[:, None] * gram[:, weak])
            lapack.solve_triangle(lower, explained)
            H = (gram[weak, weak] - np.einsum("ij,ij->j", explained, explained) / noise) / noise
            alpha = (statistics.projection[weak] - fitted[weak]) / noise
            dS[weak] = 0.5 * (alpha**2 - H)
        residual = statistics.square - 2.0 * float(m @ statistics.projection) + float(m @ fitted)
        trace = statistics.rows - S.size + float(inverse_diagonal.sum())
        by_variances = pull_back_terms(variances, self._variables, self._features.square, dS)
        return Likelihood(value, by_variances, 0.5 * (residual / noise - trace))

    @cached_property
    def main_directions(self) -> Float[np.ndarray, "d d"]:
        """The main effects of all columns as combinations of their coefficients."""
        levels, same = self._layout.levels, self._layout.owner[:, None] == self._layout.owner
        component = np.eye(levels.size) - np.where(levels > 1, 1.0 / levels, 0.0)
        return np.where(same, self._layout.effect_scale[:, None] * component, 0.0)

    def condition(self, variances: Variances, working: Working) -> "FeaturePosterior":
        """The posterior of all coefficients."""
        s = np.sqrt(self._prior(variances))
        statistics = self.statistics(working)
        lower = _precision(s, working.variance, statistics)
        # LAPACK may take numbers that are not finite for positive ones.
        if not (lapack.cholesky(lower) and np.all(np.isfinite(np.diagonal(lower)))):
            raise np.linalg.LinAlgError("I + S^½ ΦᵀΦ S^½ / σ² is not positive definite to working precision")
        root = np.asfortranarray(np.diag(s))
        lapack.solve_triangle(lower, root)
        mean = root.T @ (root @ statistics.projection) / working.variance
        return FeaturePosterior(self._X, self._layout, self._features, working, mean, root)

    def _prior(self, variances: Variances) -> Float[np.ndarray, " D"]:
        if variances.degree > self._degree:
            raise ValueError(
                f"The prior has interactions up to order {variances.degree}, the features up to"
                f" {self._degree}. Choose the engine with the same prior."
            )
        return marginal_prior(variances, self._layout, self._features)

    def _gathered(self, working: Working) -> Statistics:
        """Read the rows once, in chunks."""
        D, n = len(self._features), len(self._X)
        gram, projection = np.zeros((D, D), order="F"), np.zeros(D)
        z, w = working.response, working.weights
        for start in range(0, n, CHUNK):
            rows = slice(start, start + CHUNK)
            Phi = column_products(self._X[rows], self._features) * np.sqrt(w[rows])[:, None]
            lapack.add_gram(np.asfortranarray(Phi.T), gram)
            projection += Phi.T @ (np.sqrt(w[rows]) * z[rows])
        symmetric = np.tril(gram) + np.tril(gram, -1).T
        return Statistics(symmetric, projection, float(z @ (w * z)), float(np.sum(np.log(w))), n)


@final
@dataclass(frozen=True, eq=False)
class FeaturePosterior(ConditionalPosterior):
    """The posterior given one draw, in feature space.

    Parameters
    ----------
    X, layout, features
        The data, and the features.
    working
        The rows given the draw.
    mean, root
        Of the coefficients: mean, and M with covariance MᵀM.
    """

    X: Float[np.ndarray, "n d"]
    layout: Layout
    features: Terms
    working: Working
    mean: Float[np.ndarray, " D"]
    root: Float[np.ndarray, "D D"]

    @property
    def dual(self) -> Float[np.ndarray, " n"]:
        """α = V⁻¹ (z − f)."""
        return (self.working.response - self.fitted()) / self.working.noise

    def effects(self, terms: Terms) -> tuple[Float[np.ndarray, " t"], Float[np.ndarray, " t"]]:
        """Mean and variance of each term."""
        return self._moments(self._directions(terms))

    def means(self, terms: Terms) -> Float[np.ndarray, " t"]:
        """Mean of each term."""
        return self._directions(terms) @ self.mean

    def combinations(
        self, terms: Terms, A: Float[np.ndarray, "q t"]
    ) -> tuple[Float[np.ndarray, " q"], Float[np.ndarray, "q q"]]:
        """A mean and A cov Aᵀ."""
        directions = A @ self._directions(terms)
        spread = directions @ self.root.T
        return directions @ self.mean, spread @ spread.T

    def predict(
        self, rows: Float[np.ndarray, "m d"]
    ) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"]]:
        """Mean and variance of the linear predictor at new rows."""
        return self._by_rows(rows)

    def fitted(self) -> Float[np.ndarray, " n"]:
        """Φ times the mean."""
        chunks = range(0, len(self.X), CHUNK)
        return np.concatenate(
            [column_products(self.X[start : start + CHUNK], self.features) @ self.mean for start in chunks]
        )

    def fitted_by(self, terms: Terms) -> Float[np.ndarray, " n"]:
        """The same for some of the features."""
        place = {_key(self.features, k): k for k in range(len(self.features))}
        index = np.array([place[_key(terms, k)] for k in range(len(terms))], dtype=int)
        return column_products(self.X, terms) @ self.mean[index]

    def replicate(self, random: np.random.Generator) -> Float[np.ndarray, " n"]:
        """Φ times a draw of the coefficients."""
        theta = self.mean + self.root.T @ random.standard_normal(self.mean.size)
        chunks = range(0, len(self.X), CHUNK)
        return np.concatenate(
            [column_products(self.X[start : start + CHUNK], self.features) @ theta for start in chunks]
        )

    def leave_one_out(self) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """From the leverages: H_ii = (1 − s_i / v_i) / v_i with s_i the posterior variance of f_i."""
        mean, variance = self._by_rows(self.X)
        noise = self.working.noise
        inverse_diagonal = (1.0 - variance / noise) / noise
        alpha = (self.working.response - mean) / noise
        return self.working.response - alpha / inverse_diagonal, 1.0 / inverse_diagonal

    def _by_rows(self, rows: Float[np.ndarray, "m d"]) -> tuple[np.ndarray, np.ndarray]:
        parts = [
            self._moments(column_products(rows[start : start + CHUNK], self.features))
            for start in range(0, len(rows), CHUNK)
        ]
        if not parts:
            return np.zeros(0), np.zeros(0)
        mean, variance = zip(*parts, strict=True)
        return np.concatenate(mean), np.concatenate(variance)

    def _moments(self, directions: Float[np.ndarray, "t D"]) -> tuple[np.ndarray, np.ndarray]:
        spread = directions @ self.root.T
        return directions @ self.mean, np.einsum("ij,ij->i", spread, spread)

    def _directions(self, terms: Terms) -> Float[np.ndarray, "t D"]:
        """The effects as combinations of coefficients: ⟨u_l, ·⟩ in each factor, the identity elsewhere."""
        layout, order = self.layout, max(terms.columns.shape[1], self.features.columns.shape[1])
        left = _padded(terms.columns, order)[:, None, :]
        right = _padded(self.features.columns, order)[None, :, :]
        levels = layout.levels[left]
        same_variable = (left >= 0) & (right >= 0) & (layout.owner[left] == layout.owner[right])
        component = np.where(left == right, 1.0, 0.0) - np.where(levels > 1, 1.0 / levels, 0.0)
        along = np.where(same_variable, layout.effect_scale[left] * component, 0.0)
        along = np.where((left < 0) & (right < 0), 1.0, along)
        return np.prod(along, axis=2) * (terms.square[:, None] == self.features.square[None, :])


def _precision(s: Float[np.ndarray, " D"], noise: float, statistics: Statistics) -> Float[np.ndarray, "D D"]:
    """B = I + S^½ ΦᵀWΦ S^½ / σ², in Fortran order."""
    B = np.multiply(statistics.gram, np.multiply.outer(s, s / noise), order="F")
    B.ravel(order="K")[:: s.size + 1] += 1.0
    return B


def _factorise(
    B: Float[np.ndarray, "D D"], s: Float[np.ndarray, " D"], noise: float, statistics: Statistics
) -> tuple[float, Float[np.ndarray, "D 1"]]:
    """Overwrite B with its factor; log N(z | 0, K + V), −inf where undefined, and L⁻¹ S^½ ΦᵀWz."""
    white = np.asfortranarray((s * statistics.projection)[:, None])
    # Python's own division by zero raises, where NumPy's gives infinity.
    if noise == 0 or not lapack.cholesky(B):
        return -math.inf, white
    lapack.solve_triangle(B, white)
    quadratic = (statistics.square - float(white[:, 0] @ white[:, 0]) / noise) / noise
    log_det = statistics.rows * math.log(2.0 * math.pi * noise) - statistics.log_weights
    log_det += 2.0 * float(np.sum(np.log(np.diagonal(B))))
    value = -0.5 * (quadratic + log_det)
    return (value if math.isfinite(value) else -math.inf), white


def _padded(columns: np.ndarray, order: int) -> np.ndarray:
    return np.pad(columns, ((0, 0), (0, order - columns.shape[1])), constant_values=-1)


def _key(terms: Terms, row: int) -> tuple[tuple[int, ...], bool]:
    columns = terms.columns[row]
    return tuple(columns[columns >= 0].tolist()), bool(terms.square[row])
