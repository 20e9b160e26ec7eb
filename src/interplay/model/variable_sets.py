"""The evidence of sets of variables: the marginal likelihood with effects within a set and no others.

It follows from the prior's variances, restricted to the set, and the kernel; many sets are assessed together.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from interplay._support import lapack
from interplay.model.families.base import Working
from interplay.model.kernel import gram
from interplay.model.layout import Layout
from interplay.model.term_variances import term_variances
from interplay.model.variances import Variances, pair_variances_with

if TYPE_CHECKING:
    from interplay.model.posterior import Posterior

ENTRIES = 2**18
"""Entries of the matrices of several sets that are made together, which stay within a core's cache."""


@dataclass(frozen=True, eq=False)
class VariableSets:
    """Sets of variables, whose main effects have one prior standard deviation.

    Parameters
    ----------
    members
        Variables of each set, padded with p, (b, k).
    log_size
        Log of the prior standard deviation of the members' main effects, (b,).
    log_noise
        Log of the noise scale, (b,).
    """

    members: Int[np.ndarray, "b k"]
    log_size: Float[np.ndarray, " b"]
    log_noise: Float[np.ndarray, " b"]

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, index: np.ndarray | slice) -> "VariableSets":
        return VariableSets(self.members[index], self.log_size[index], self.log_noise[index])


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the likelihood says of each set.

    Parameters
    ----------
    log_likelihood
        Log p(z | set, sizes), (b,); −inf where it is not defined.
    alpha
        H z with H = (K + V)⁻¹, (b, m).
    precision
        About tr H / m, by one random probe, (b,).
    """

    log_likelihood: Float[np.ndarray, " b"]
    alpha: Float[np.ndarray, "b m"]
    precision: Float[np.ndarray, " b"]


class SetEvidence:
    """Assesses sets of variables on some rows of the data.

    Parameters
    ----------
    posterior
        The model.
    rows
        The rows to look at, (m,).
    random
        For the signs of the probe.
    """

    def __init__(
        self, posterior: "Posterior", rows: Int[np.ndarray, " m"], random: np.random.Generator
    ) -> None:
        self.posterior, self.rows = posterior, rows
        design = posterior.design
        weights = None if design.weights is None else design.weights[rows]
        self._design = replace(design, X=design.X[rows], y=design.y[rows], weights=weights)
        self._X = np.concatenate([design.X[rows], np.zeros((rows.size, 1))], axis=1)
        self._probe = np.where(random.random(rows.size) < 0.5, -1.0, 1.0)
        layout = posterior.engine.layout
        self._levels, self._square = np.append(layout.levels, 1.0), np.append(layout.square, 0.0)
        widths = [variable.stop - variable.start for variable in design.variables]
        # Columns of each variable, padded with d, whose column is zero.
        self._columns = np.full((design.p + 1, max(widths)), design.d)
        for g, variable in enumerate(design.variables):
            self._columns[g, : widths[g]] = np.arange(variable.start, variable.stop)
        self._norms = design.X[rows] ** 2

    def assess(self, sets: VariableSets) -> Evidence:
        """The evidence of each set."""
        compact = replace(sets, members=_compact(sets.members, self.posterior.p))
        k, m = compact.members.shape[1], self.rows.size
        features = _Features.of(k, self._columns.shape[1], self.posterior.prior.degree)
        explicit = features is not None and features.count <= m
        entries = m * features.count if explicit and features is not None else m * m
        size = max(1, ENTRIES // entries)
        parts = []
        for start in range(0, len(sets), size):
            some = compact[slice(start, start + size)]
            parts.append(
                self._in_feature_space(some, features)
                if explicit and features is not None
                else self._in_kernel_space(some)
            )
        return Evidence(
            np.concatenate([part.log_likelihood for part in parts]),
            np.concatenate([part.alpha for part in parts]),
            np.concatenate([part.precision for part in parts]),
        )

    def log_bayes_factors(self, sets: VariableSets, evidence: Evidence) -> Float[np.ndarray, "b p"]:
        """About how much each variable would add to the log evidence of each set; −inf for members.

        That is the sum over its main effect and its pairs with the members of

            ½ [S q² / (1 + S r) − log(1 + S r)],    q = φᵀH z,  r = ‖φ‖² tr H / m

        which is the gain by that feature alone, with φᵀHφ put at its average (Tipping and Faul 2003).
        """
        design, b = self.posterior.design, len(sets)
        p, owner = design.p, design.owner
        everyone = np.ones((b, p), dtype=bool)
        variances = self._variances(sets, everyone)
        X, total = self._X[:, :-1], np.zeros((b, design.d))
        main = term_variances(variances, np.arange(p)[:, None], np.zeros(p, dtype=bool))
        members = _compact(sets.members, p)
        pair = pair_variances_with(variances, members)
        precision = evidence.precision[:, None]
        alpha = evidence.alpha
        total += _gain(main[:, owner], alpha @ X, precision * self._norms.sum(axis=0))
        columns = self._columns[members].reshape(b, -1)
        width = self._columns.shape[1]
        for place in range(columns.shape[1]):
            member = self._X[:, columns[:, place]].T
            q = (alpha * member) @ X
            r = precision * (member**2 @ self._norms)
            total += _gain(pair[:, place // width][:, owner], q, r)
        gains = np.add.reduceat(total, [variable.start for variable in design.variables], axis=1)
        inside = np.zeros((b, p + 1), dtype=bool)
        np.put_along_axis(inside, sets.members, True, axis=1)
        return np.where(inside[:, :p], -np.inf, gains)

    def _in_feature_space(self, sets: VariableSets, features: "_Features") -> Evidence:
        """With explicit features Φ of the members: by B = I + S^½ ΦᵀWΦ S^½, where W = V⁻¹."""
        b, m = len(sets), self.rows.size
        columns, variances = self._columns[sets.members].reshape(b, -1), self._set_variances(sets)
        S = term_variances(variances, features.variables, features.squared)
        S[:, features.squared] *= self._square[columns]
        Phi = features.on(np.moveaxis(self._X[:, columns], 1, 0)) * np.sqrt(S)[:, None, :]
        working = [self._working(log_noise) for log_noise in sets.log_noise]
        weights = np.stack([1.0 / rows.noise for rows, _ in working])
        right = np.stack([np.column_stack([rows.response, self._probe]) for rows, _ in working])
        weighted = Phi * weights[:, :, None]
        B = np.swapaxes(Phi, 1, 2) @ weighted + np.eye(Phi.shape[2])
        projection = np.swapaxes(weighted, 1, 2) @ right
        solved = np.linalg.solve(B, projection)
        # zᵀHz = zᵀWz − (ΦᵀWz)ᵀ B⁻¹ ΦᵀWz, for the response and for the probe.
        forms = np.einsum("bmr,bm,bmr->br", right, weights, right)
        forms -= np.einsum("bdr,bdr->br", projection, solved)
        log_det = np.linalg.slogdet(B)[1] - np.sum(np.log(weights), axis=1)
        value = -0.5 * (forms[:, 0] + log_det + m * math.log(2.0 * math.pi))
        value += [factor for _, factor in working]
        alpha = weights * (right[:, :, 0] - np.einsum("bmd,bd->bm", Phi, solved[:, :, 0]))
        return Evidence(np.nan_to_num(value, nan=-np.inf), alpha, forms[:, 1] / m)

    def _in_kernel_space(self, sets: VariableSets) -> Evidence:
        """With the factor of K + V of each set."""
        b, m = len(sets), self.rows.size
        columns, variances = self._columns[sets.members].reshape(b, -1), self._set_variances(sets)
        owner = np.repeat(np.arange(sets.members.shape[1]), self._columns.shape[1])
        X = np.moveaxis(self._X[:, columns], 1, 0)
        K = gram(variances, Layout(owner, self._levels[columns], self._square[columns]), X, X)
        value, alpha, precision = np.full(b, -np.inf), np.zeros((b, m)), np.zeros(b)
        for s, log_noise in enumerate(sets.log_noise):
            working, factor = self._working(log_noise)
            lower = np.asfortranarray(K[s])
            lower.ravel(order="K")[:: m + 1] += working.noise
            right = np.asfortranarray(np.column_stack([working.response, self._probe]))
            if not lapack.cholesky(lower):
                continue
            lapack.solve_triangle(lower, right)
            log_det = 2.0 * float(np.sum(np.log(np.diagonal(lower))))
            quadratic = float(right[:, 0] @ right[:, 0])
            value[s] = factor - 0.5 * (quadratic + log_det + m * math.log(2.0 * math.pi))
            precision[s] = float(right[:, 1] @ right[:, 1]) / m
            lapack.solve_triangle(lower, right, transposed=True)
            alpha[s] = right[:, 0]
        return Evidence(np.nan_to_num(value, nan=-np.inf), alpha, precision)

    def _working(self, log_noise: float) -> tuple[Working, float]:
        """The rows at a noise, and what the likelihood has beside that of the working response."""
        family = self.posterior.family
        u = family.position_of(np.asarray(log_noise))
        return family.working(family.constrain(u), self._design), family.log_factor(u, self._design)[0]

    def _set_variances(self, sets: VariableSets) -> Variances:
        """Prior variances of the terms within each set."""
        included = np.zeros((len(sets), self.posterior.p + 1), dtype=bool)
        np.put_along_axis(included, sets.members, True, axis=1)
        return self._variances(sets, included[:, :-1]).taken(sets.members)

    def _variances(self, sets: VariableSets, included: np.ndarray) -> Variances:
        x = self.posterior.position_of(included, np.exp(sets.log_size), sets.log_noise)
        return self.posterior.variances(self.posterior.constrain(x))


@dataclass(frozen=True, eq=False)
class _Features:
    """The explicit features of sets of k members with pairs as their highest order.

    Parameters
    ----------
    left, right
        Columns of every product of two columns of different members.
    variables, squared
        Members of each feature, padded with −1, and whether it is a square: as in `term_variances`.
    """

    left: Int[np.ndarray, " q"]
    right: Int[np.ndarray, " q"]
    variables: Int[np.ndarray, "D 2"]
    squared: Bool[np.ndarray, " D"]

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, k: int, width: int, degree: int) -> "_Features | None":
        """Those of k members with so many columns each; None for higher orders than pairs."""
        if degree > 2:
            return None
        owner = np.repeat(np.arange(k), width)
        left, right = np.triu_indices(k * width, 1)
        apart = owner[left] != owner[right]
        left, right = left[apart], right[apart]
        none = np.full(owner.size, -1)
        variables = np.concatenate(
            [
                [[-1, -1]],
                np.column_stack([owner, none]),
                np.column_stack([owner[left], owner[right]]),
                np.column_stack([owner, none]),
            ]
        )
        squared = np.arange(len(variables)) >= len(variables) - owner.size
        return cls(left, right, variables, squared)

    @property
    def count(self) -> int:
        """Number of features."""
        return len(self.squared)

    def on(self, X: Float[np.ndarray, "b m c"]) -> Float[np.ndarray, "b m D"]:
        """Their values."""
        ones = np.ones((*X.shape[:2], 1))
        return np.concatenate([ones, X, X[:, :, self.left] * X[:, :, self.right], X**2], axis=2)


def _compact(members: Int[np.ndarray, "b k"], p: int) -> Int[np.ndarray, "b l"]:
    """The same sets, sorted, without places that are empty in all of them."""
    ordered = np.sort(members, axis=1)
    return ordered[:, : max(1, int((ordered < p).sum(axis=1).max(initial=1)))]


def _gain(S: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
    information = S * r
    return 0.5 * (S * q**2 / (1.0 + information) - np.log1p(information))
