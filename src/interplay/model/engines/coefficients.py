"""Explicit coefficients: what the rows say of them, and the prior variance of each as a product of shares."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.linalg import blas

from interplay.model.layout import Layout
from interplay.model.priors.base import LocalScales
from interplay.model.terms import Terms

KEPT_BYTES = 400_000_000
"""Rows of the Gram matrix are kept once more, by variable, where they take at most this much memory."""


@dataclass(frozen=True, eq=False)
class Statistics:
    """What the likelihood needs of the rows: ΦᵀWΦ, ΦᵀWz, zᵀWz, Σ log w and the number of rows."""

    gram: Float[np.ndarray, "D D"]
    projection: Float[np.ndarray, " D"]
    square: float
    log_weights: float
    rows: int


@dataclass(frozen=True, eq=False)
class Incidence:
    """Which variables each feature is made of.

    Parameters
    ----------
    places
        Variables of each feature, padded with p; a square has its variable twice, (D, q).
    kind
        0 for the intercept, the number of variables for products, and one more than the largest for
        squares, (D,).
    p, degree
        Number of variables, and of those in the largest product.
    """

    places: Int[np.ndarray, "D q"]
    kind: Int[np.ndarray, " D"]
    p: int
    degree: int

    @classmethod
    def of(cls, features: Terms, layout: Layout, degree: int, p: int) -> "Incidence":
        """Of the features of a design."""
        columns = features.columns
        places = np.full((len(features), max(columns.shape[1], 2)), p)
        places[:, : columns.shape[1]] = np.where(columns >= 0, layout.owner[columns], p)
        places[features.square, 1] = places[features.square, 0]
        kind = np.where(features.square, degree + 1, (columns >= 0).sum(axis=1))
        return cls(places, kind, p, degree)

    @cached_property
    def square(self) -> Bool[np.ndarray, " D"]:
        """Whether a feature is a square."""
        return (self.places[:, 0] == self.places[:, 1]) & (self.places[:, 0] < self.p)

    @cached_property
    def mains(self) -> Int[np.ndarray, " d"]:
        """The features that are columns."""
        return np.flatnonzero(self.kind == 1)

    @cached_property
    def of_kind(self) -> tuple[Int[np.ndarray, " k"], ...]:
        """The features of each kind, from 0 to degree + 1."""
        return tuple(np.flatnonzero(self.kind == kind) for kind in range(self.degree + 2))

    @cached_property
    def counts(self) -> Float[np.ndarray, " k"]:
        """Number of features of each kind."""
        return np.array([float(of_kind.size) for of_kind in self.of_kind])

    @cached_property
    def memberships(self) -> Float[np.ndarray, " p"]:
        """Number of features of each variable, a square counted twice."""
        return np.bincount(self.places.ravel(), minlength=self.p + 1)[: self.p].astype(float)

    @cached_property
    def blocks(self) -> tuple[Int[np.ndarray, " b"], ...]:
        """The features of each variable, the mains first, and its square last if it has one."""
        members: list[list[int]] = [[] for _ in range(self.p)]
        ordered = np.flatnonzero(~self.square).tolist() + np.flatnonzero(self.square).tolist()
        for feature in ordered:
            for variable in {v for v in self.places[feature].tolist() if v < self.p}:
                members[variable].append(feature)
        return tuple(np.array(block) for block in members)

    @cached_property
    def has_square(self) -> Bool[np.ndarray, " p"]:
        """Whether the last feature of a block is a square."""
        return np.array([bool(self.square[block[-1]]) for block in self.blocks])

    def log_variances(
        self, scales: LocalScales, log_share: Float[np.ndarray, " p"]
    ) -> Float[np.ndarray, " D"]:
        """Log prior variance of each coefficient."""
        padded = np.append(log_share, 0.0)
        total = scales.log_multipliers[self.kind]
        for variables in self._by_place:
            total += padded[variables]
        return total

    @cached_property
    def _by_place(self) -> tuple[Int[np.ndarray, " D"], ...]:
        return tuple(np.ascontiguousarray(self.places[:, place]) for place in range(self.places.shape[1]))


@final
@dataclass(frozen=True, eq=False)
class Coefficients:
    """The rows as a Gaussian likelihood of explicit coefficients θ: z ~ N(Φθ, v W⁻¹).

    Parameters
    ----------
    incidence
        Which variables each feature is made of.
    statistics
        What the likelihood needs of the rows.
    """

    incidence: Incidence
    statistics: Statistics

    @cached_property
    def norms(self) -> Float[np.ndarray, " D"]:
        """φᵀWφ of each feature."""
        return np.diagonal(self.statistics.gram).copy()

    def score(self, theta: Float[np.ndarray, " D"]) -> Float[np.ndarray, " D"]:
        """ΦᵀW(z − Φθ)."""
        return self.statistics.projection - self.product(theta)

    def product(self, theta: Float[np.ndarray, " D"]) -> Float[np.ndarray, " D"]:
        """ΦᵀWΦ θ, which reads one triangle."""
        # The Gram matrix is symmetric: its transpose is in Fortran order where it is not.
        gram = self.statistics.gram
        return blas.dsymv(1.0, gram if gram.flags.f_contiguous else gram.T, theta, lower=1)

    def products(self, theta: Float[np.ndarray, "D k"]) -> Float[np.ndarray, "D k"]:
        """ΦᵀWΦ Θ of several vectors."""
        return self.statistics.gram @ theta

    def squares(self, theta: Float[np.ndarray, " D"], score: Float[np.ndarray, " D"]) -> float:
        """(z − Φθ)ᵀW(z − Φθ), from the coefficients and their score."""
        return self.statistics.square - float(theta @ (self.statistics.projection + score))

    def gram(self, features: Int[np.ndarray, " a"]) -> Float[np.ndarray, "a a"]:
        """ΦᵀWΦ among some features."""
        return self.statistics.gram[features[:, None], features]

    def scores(
        self, features: Int[np.ndarray, " a"], theta: Float[np.ndarray, " D"]
    ) -> Float[np.ndarray, " a"]:
        """ΦᵀW(z − Φθ) of some features."""
        return self.statistics.projection[features] - self.statistics.gram[features] @ theta

    def rows_of(self, variable: int) -> Float[np.ndarray, "b D"]:
        """ΦᵀWΦ between the features of a variable and all features."""
        block = self.incidence.blocks[variable]
        if self._rows is not None:
            return self._rows[variable]
        return self.statistics.gram[block]

    @cached_property
    def _rows(self) -> tuple[Float[np.ndarray, "b D"], ...] | None:
        blocks, D = self.incidence.blocks, len(self.norms)
        if sum(block.size for block in blocks) * D * 8 > KEPT_BYTES:
            return None
        return tuple(self.statistics.gram[block] for block in blocks)
