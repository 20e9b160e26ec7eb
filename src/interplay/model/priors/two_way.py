"""Any diagonal prior, as the paper's two-way interaction kernel (Section 4)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from interplay.model.paper_kernels import TwoWayKernel
from interplay.model.priors.base import Hyperparameters, Prior, PriorDensity, Scale, Vector
from interplay.model.priors.decompose import decompose
from interplay.model.settings import Number
from interplay.model.variances import ROUNDING, Symmetric, Variances


@final
@dataclass(frozen=True, eq=False)
class TwoWay(Prior):
    """Fixed prior variances, given as a two-way interaction kernel; only the family's noise is learned.

    The induced variances (Theorem 4.3) are

        S_() = M1 + A    S_(i) = α_i² + 2 Σ_m λ_mi²    S_(ii) = ψ_i² + Σ_m λ_mi⁴
        S_(ij) = 2 Σ_m λ_mi² λ_mj² + ν_ij

    `TwoWay.from_variances` finds such a kernel for variances that are given directly.

    Parameters
    ----------
    kernel
        The kernel of Definition 4.2.
    """

    kernel: TwoWayKernel

    degree = 2

    def __post_init__(self) -> None:
        kernel, p = self.kernel, self.kernel.alpha_sq.size
        fits = {
            "lam": kernel.lam.ndim == 2 and kernel.lam.shape[1] == p,
            "psi_sq": kernel.psi_sq.shape == (p,),
            "nu": len(kernel.nu) == len(kernel.pairs),
            "pairs": all(0 <= i < j < p for i, j in kernel.pairs)
            and len(set(kernel.pairs)) == len(kernel.pairs),
        }
        wrong = [name for name, right in fits.items() if not right]
        if wrong:
            raise ValueError(
                f"TwoWay: {', '.join(wrong)} of the kernel do not fit alpha_sq of length {p}; expected"
                f" lam (M, {p}), alpha_sq and psi_sq ({p},), different pairs i < j < {p} and one nu for each."
            )
        weights = kernel.lam**2
        i, j = np.array(kernel.pairs, dtype=int).reshape(-1, 2).T
        variances = {
            "intercept": np.array([kernel.variance(())]),
            "mains": kernel.alpha_sq + 2.0 * weights.sum(axis=0),
            "squares": kernel.psi_sq + (weights**2).sum(axis=0),
            "pairs": np.array(kernel.nu) + 2.0 * (weights[:, i] * weights[:, j]).sum(axis=0),
        }
        for name, values in variances.items():
            # Rounding may leave a variance that should be zero a little below it.
            if not np.all(values >= -1e-9):
                raise ValueError(
                    f"TwoWay: the kernel gives {name} a prior variance of {np.min(values):.3g}; expected"
                    " numbers that are not negative. Raise alpha_sq, psi_sq, A or nu."
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

        Raises
        ------
        ValueError
            Where the pairs have no such structure, and would need about p² terms.
        """
        indices = np.arange(p)
        variances = {"mains": mains, "squares": squares}
        S: dict[str, np.ndarray] = {}
        for name, given in variances.items():
            values = np.asarray(given(indices) if callable(given) else given, dtype=float)
            if values.shape not in {(), (p,)}:
                raise ValueError(
                    f"TwoWay.from_variances: {name} have shape {values.shape}; expected a number or ({p},)."
                )
            S[name] = np.broadcast_to(values, (p,))
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
        return cls(kernel)

    @property
    def quadratic(self) -> bool:
        """Whether any variable has a quadratic effect."""
        in_components = (self.kernel.lam**4).sum(axis=0)
        smallest = ROUNDING * (in_components + np.abs(self.kernel.psi_sq))
        return bool(np.any(self.kernel.psi_sq + in_components > smallest))

    def check(self, p: int) -> None:
        """Refuse data with another number of variables."""
        if p != self.kernel.alpha_sq.size:
            raise ValueError(
                f"TwoWay: the kernel is for {self.kernel.alpha_sq.size} variables, the data have {p}."
                " Give one entry of lam, alpha_sq and psi_sq for each variable, in the order of the data."
            )

    def coordinates(self, p: int) -> tuple[str, ...]:
        """None: the variances are fixed."""
        return ()

    def sample(self, random: np.random.Generator, scale: Scale) -> Vector:
        """An empty vector."""
        return np.zeros(0)

    def log_density(self, t: Vector, scale: Scale) -> PriorDensity:
        """Zero."""
        return PriorDensity(0.0, np.zeros(0), 0.0)

    def constrain(self, t: Float[np.ndarray, "*s k"], p: int) -> dict[str, np.ndarray]:
        """The fixed `intercept_scale`."""
        return {"intercept_scale": np.full(t.shape[:-1], np.sqrt(self.kernel.variance(())))}

    def variances(self, hyperparameters: Hyperparameters, p: int) -> Variances:
        """The theorem's map: M1 components with orders (2, 2), and what stands beside them."""
        intercept = np.asarray(hyperparameters["intercept_scale"]) ** 2

        def every(values: np.ndarray) -> np.ndarray:
            return np.broadcast_to(values, (*intercept.shape, *np.shape(values)))

        two = every(np.full(2, 2.0))
        return Variances(
            intercept=intercept,
            symmetric=tuple(Symmetric(every(lam**2), two, every(np.asarray(1.0))) for lam in self.kernel.lam),
            mains=every(self.kernel.alpha_sq),
            quadratics=every(self.kernel.psi_sq),
            nu=every(np.array(self.kernel.nu, dtype=float)) if self.kernel.pairs else None,
            pairs=self.kernel.pairs,
            p=p,
        )

    def pull_back(self, t: Vector, variances: Variances, derivative: Variances) -> Vector:
        """An empty vector."""
        return np.zeros(0)
