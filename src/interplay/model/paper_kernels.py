"""The paper's own kernels, sums of polynomial kernels, with the prior variances that they induce.

The rest of the package uses the expanded form in `kernel`, in which nothing cancels and factors have a place;
these are here to be compared with it, and for priors that are stated in the paper's terms. Their variables
are numbers, one column each. A monomial is a tuple of variables in which one may stand more than once.
"""

from collections import Counter
from dataclasses import dataclass
from functools import reduce
from math import factorial, prod
from operator import mul
from typing import Any

import numpy as np
from jaxtyping import Float

Matrix = Float[np.ndarray, "n p"]
Monomial = tuple[int, ...]
Values = Any
"""An array, or nested lists of numbers."""


def polynomial(
    X: Matrix, Z: Float[np.ndarray, "m p"], degree: int, constant: float
) -> Float[np.ndarray, "n m"]:
    """(xᵀx̃ + c)^d."""
    return (X @ Z.T + constant) ** degree


def block_degree(
    X: Matrix, Z: Float[np.ndarray, "m p"], eta: tuple[float, float, float], intercept_scale: float | int
) -> Float[np.ndarray, "n m"]:
    """The block-degree kernel (Appendix C.1), with variances η1², η2², η3² of mains, pairs and squares."""
    main, pair, square = (value**2 for value in eta)
    return (
        0.5 * pair * polynomial(X, Z, 2, 1.0)
        + (square - 0.5 * pair) * polynomial(X**2, Z**2, 1, 0.0)
        + (main - pair) * polynomial(X, Z, 1, 0.0)
        + intercept_scale**2
        - 0.5 * pair
    )


def sparse(
    X: Matrix,
    Z: Float[np.ndarray, "m p"],
    eta: tuple[float, float, float],
    kappa: Float[np.ndarray, " p"],
    intercept_scale: float | int,
) -> Float[np.ndarray, "n m"]:
    """The kernel of SKIM (Proposition 6.1, with κ² in its quadratic part as in Appendix C.2)."""
    return block_degree(X * kappa, Z * kappa, eta, intercept_scale)


@dataclass(frozen=True)
class TwoWayKernel:
    """The two-way interaction kernel (Definition 4.2).

        Σ_m (1 + ⟨λ^(m) x, λ^(m) x̃⟩)² + Σ_m ν_m x_i x_j x̃_i x̃_j + ⟨α x, α x̃⟩ + A + ⟨ψ x², ψ x̃²⟩

    Parameters
    ----------
    lam
        λ^(m), (M1, p).
    alpha_sq, psi_sq
        α² and ψ², (p,). They may be negative, as in the paper's block-degree kernel, as long as the
        induced variances are not.
    A
        The constant.
    pairs, nu
        Single pairs i < j and their ν.
    """

    lam: Values
    alpha_sq: Values
    psi_sq: Values
    A: float | int = 0.0
    pairs: tuple[tuple[int, int], ...] = ()
    nu: tuple[float, ...] = ()

    degree = 2

    def __post_init__(self) -> None:
        for name in ("lam", "alpha_sq", "psi_sq"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=float))

    def gram(self, X: Matrix, Z: Float[np.ndarray, "m p"]) -> Float[np.ndarray, "n m"]:
        """Gram matrix, as the definition is printed."""
        K = (X * self.alpha_sq) @ Z.T + self.A + (X**2 * self.psi_sq) @ (Z**2).T
        for lam in self.lam:
            K = K + polynomial(X * lam, Z * lam, 2, 1.0)
        for (i, j), nu in zip(self.pairs, self.nu, strict=True):
            K = K + nu * np.outer(X[:, i] * X[:, j], Z[:, i] * Z[:, j])
        return K

    def variance(self, monomial: Monomial) -> float:
        """Induced prior variance of a coefficient (Theorem 4.3)."""
        lam_sq = self.lam**2
        match sorted(monomial):
            case []:
                return len(self.lam) + self.A
            case [i]:
                return float(self.alpha_sq[i] + 2.0 * lam_sq[:, i].sum())
            case [i, j] if i == j:
                return float(self.psi_sq[i] + (lam_sq[:, i] ** 2).sum())
            case [i, j]:
                named = sum(nu for pair, nu in zip(self.pairs, self.nu, strict=True) if pair == (i, j))
                return float(2.0 * (lam_sq[:, i] * lam_sq[:, j]).sum() + named)
            case _:
                return 0.0


@dataclass(frozen=True)
class RWayKernel:
    """The r-way interaction kernel (Appendix A): all monomials up to degree r, powers included.

        Σ_m (1 + ⟨λ^(m) x, λ^(m) x̃⟩)^r + Σ_m ν_m Π_{i∈T_m} x_i x̃_i + Σ_m k_{r−1}(∇^(m) x, ∇^(m) x̃)

    Parameters
    ----------
    degree
        r, at least 3; for 2 there is `TwoWayKernel`.
    lam
        λ^(m), (M1, p).
    products, nu
        Single monomials T_m and their ν.
    lower
        Pairs of a scaling ∇^(m), (p,), and a kernel of degree r − 1.
    """

    degree: int
    lam: np.ndarray
    products: tuple[Monomial, ...] = ()
    nu: tuple[float, ...] = ()
    lower: tuple[tuple[np.ndarray, "TwoWayKernel | RWayKernel"], ...] = ()

    def __post_init__(self) -> None:
        if self.degree < 3:
            raise ValueError(
                f"RWayKernel(degree={self.degree}): expected at least 3; use TwoWayKernel for 2."
            )
        for _, kernel in self.lower:
            if kernel.degree != self.degree - 1:
                raise ValueError(
                    f"RWayKernel(degree={self.degree}): a kernel in `lower` has degree {kernel.degree},"
                    f" expected {self.degree - 1}."
                )

    def gram(self, X: Matrix, Z: Float[np.ndarray, "m p"]) -> Float[np.ndarray, "n m"]:
        """Gram matrix, as the definition is printed."""
        K = np.zeros((len(X), len(Z)))
        for lam in self.lam:
            K += polynomial(X * lam, Z * lam, self.degree, 1.0)
        for product, nu in zip(self.products, self.nu, strict=True):
            K += nu * np.outer(*(reduce(mul, (rows[:, i] for i in product)) for rows in (X, Z)))
        for scaling, kernel in self.lower:
            K += kernel.gram(X * scaling, Z * scaling)
        return K

    def variance(self, monomial: Monomial) -> float:
        """Induced prior variance of a coefficient, by the multinomial theorem.

        (1 + u)^r holds the monomial Π x_i^{k_i} of degree d with the factor r! / ((r − d)! Π k_i!).
        """
        d, powers = len(monomial), Counter(monomial)
        total = 0.0
        if d <= self.degree:
            count = factorial(self.degree) / factorial(self.degree - d)
            count /= prod(factorial(k) for k in powers.values())
            total += count * sum(prod(lam[i] ** 2 for i in monomial) for lam in self.lam)
        total += sum(
            nu for product, nu in zip(self.products, self.nu, strict=True) if Counter(product) == powers
        )
        for scaling, kernel in self.lower:
            total += prod(scaling[i] ** 2 for i in monomial) * kernel.variance(monomial)
        return float(total)
