"""Any diagonal prior, as the paper's two-way interaction kernel (Section 4)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from interplay.model.polynomial import TwoWayKernel
from interplay.model.priors import distributions as dist
from interplay.model.priors.base import Hyperparameters, Number, Position, Prior, check_positive
from interplay.model.priors.decompose import decompose
from interplay.model.variances import ROUNDING, Variances


@final
@dataclass(frozen=True, eq=False)
class TwoWay(Prior):
    """Fixed prior variances, given as a two-way interaction kernel; only the noise is learned.

    The induced variances (Theorem 4.3) are

        S_() = M1 + A    S_(i) = α_i² + 2 Σ_m λ_mi²    S_(ii) = ψ_i² + Σ_m λ_mi⁴
        S_(ij) = 2 Σ_m λ_mi² λ_mj² + ν_ij

    `TwoWay.from_variances` finds such a kernel for variances that are given directly.

    Parameters
    ----------
    kernel
        The kernel of Definition 4.2.
    noise_scale
        Scale of the half-normal prior of the noise.
    """

    kernel: TwoWayKernel
    noise_scale: Number = 2.0

    degree = 2

    def __post_init__(self) -> None:
        check_positive("TwoWay", noise_scale=self.noise_scale)
        p = self.kernel.alpha_sq.size
        shapes = {
            "lam": (self.kernel.lam.ndim, self.kernel.lam.shape[-1]) == (2, p),
            "psi_sq": self.kernel.psi_sq.shape == (p,),
            "nu": len(self.kernel.nu) == len(self.kernel.pairs),
            "pairs": all(0 <= i < j < p for i, j in self.kernel.pairs),
        }
        wrong = [name for name, right in shapes.items() if not right]
        if wrong:
            raise ValueError(
                f"TwoWay: {', '.join(wrong)} of the kernel do not fit alpha_sq of length {p}; expected"
                f" lam (M, {p}), alpha_sq and psi_sq ({p},), pairs i < j < {p} and one nu for each."
            )
        singles = {
            "intercept": self.kernel.variance(()),
            "mains": min((self.kernel.variance((i,)) for i in range(p)), default=0.0),
            "squares": min((self.kernel.variance((i, i)) for i in range(p)), default=0.0),
            "pairs": min(map(self.kernel.variance, self.kernel.pairs), default=0.0),
        }
        for name, smallest in singles.items():
            # Rounding may leave a variance that should be zero a little below it.
            if smallest < -1e-9:
                raise ValueError(
                    f"TwoWay: the kernel gives {name} a prior variance of {smallest:.3g}; variances must not"
                    " be negative. Raise alpha_sq, psi_sq, A or nu."
                )

    @classmethod
    def from_variances(
        cls,
        p: int,
        *,
        mains: Number | np.ndarray | Callable[[np.ndarray], np.ndarray],
        pairs: Number | np.ndarray | Callable[[np.ndarray, np.ndarray], np.ndarray],
        squares: Number | np.ndarray | Callable[[np.ndarray], np.ndarray] = 0.0,
        intercept: Number = 9.0,
        max_components: int = 4,
        max_named_pairs: int | None = None,
        noise_scale: Number = 2.0,
    ) -> "TwoWay":
        """Find a kernel that induces the given prior variances, in O(p) per evaluation.

        Parameters
        ----------
        p
            Number of variables.
        mains, squares
            Variance of each main and quadratic effect: a number, an array (p,), or a function of an index
            array.
        pairs
            Variance of each interaction: a number, a symmetric matrix (p, p) whose diagonal is not used, or
            a function of two index arrays.
        intercept
            Variance of the intercept.
        max_components
            Most polynomial components λ^(m) that may be used.
        max_named_pairs
            Most single pairs ν that may be used; by default 10 p.
        noise_scale
            Scale of the half-normal prior of the noise.

        Raises
        ------
        ValueError
            Where the pairs have no such structure, and would need about p² terms.
        """
        indices = np.arange(p)
        variances = {"mains": mains, "squares": squares}
        S = {
            name: np.broadcast_to(np.asarray(v(indices) if callable(v) else v, dtype=float), (p,))
            for name, v in variances.items()
        }
        for name, values in S.items():
            if not np.all(np.isfinite(values) & (values >= 0)):
                raise ValueError(
                    f"TwoWay.from_variances: {name} hold {values.min():.3g}; expected variances ≥ 0."
                )
        weights, named = decompose(
            p, pairs, max_components, 10 * p if max_named_pairs is None else max_named_pairs
        )
        kernel = TwoWayKernel(
            lam=np.sqrt(weights),
            alpha_sq=S["mains"] - 2.0 * weights.sum(axis=0),
            psi_sq=S["squares"] - (weights**2).sum(axis=0),
            A=intercept - len(weights),
            pairs=tuple(named),
            nu=tuple(named.values()),
        )
        return cls(kernel, noise_scale)

    @property
    def quadratic(self) -> bool:
        """Whether any variable has a quadratic effect."""
        in_components = (self.kernel.lam**4).sum(axis=0)
        smallest = ROUNDING * (in_components + np.abs(self.kernel.psi_sq))
        return bool(np.any(self.kernel.psi_sq + in_components > smallest))

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The single pairs."""
        return self.kernel.pairs

    def check(self, p: int) -> None:
        """Refuse data with another number of variables."""
        if p != self.kernel.alpha_sq.size:
            raise ValueError(
                f"TwoWay: the kernel is for {self.kernel.alpha_sq.size} variables, the data have {p}."
                " Give one entry of lam, alpha_sq and psi_sq for each variable, in the order of the data."
            )

    def sample(self, key: Key[Array, ""], n: int, p: int) -> Position:
        """Draw an unconstrained position from the prior."""
        return {"log_sigma": dist.sample_half_normal(key, self.noise_scale)}

    def log_density(self, position: Position, n: int, p: int) -> Float[Array, ""]:
        """Log density of an unconstrained position."""
        return dist.half_normal(position["log_sigma"], self.noise_scale)

    def constrain(self, position: Position, n: int, p: int) -> Hyperparameters:
        """The noise `sigma`, and the fixed `intercept_scale`."""
        return {
            "intercept_scale": jnp.sqrt(self.kernel.variance(())),
            "sigma": jnp.exp(position["log_sigma"]),
        }

    def variances(self, hyperparameters: Hyperparameters, p: int) -> Variances:
        """The theorem's map: M1 components with orders (2, 2), and what stands beside them."""
        count = len(self.kernel.lam)
        return Variances(
            intercept=hyperparameters["intercept_scale"] ** 2,
            weights=jnp.asarray(self.kernel.lam**2),
            orders=jnp.full((count, 2), 2.0),
            squares=jnp.ones(count),
            mains=jnp.asarray(self.kernel.alpha_sq),
            quadratics=jnp.asarray(self.kernel.psi_sq),
            nu=jnp.asarray(self.kernel.nu, dtype=jnp.float64) if self.kernel.pairs else None,
            pairs=self.kernel.pairs,
        )
