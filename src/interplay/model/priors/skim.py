"""SKIM, the sparse kernel interaction model (Section 6 and Appendix D of the paper)."""

import math
from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np
from jaxtyping import Bool, Float, Int

from interplay.model import distributions as dist
from interplay.model.priors.base import Hyperparameters, LocalScales, Prior, PriorDensity, Scale, Vector
from interplay.model.settings import Number, check_degree, check_positive
from interplay.model.variances import Scalar, Symmetric, Variances


@final
@dataclass(frozen=True, kw_only=True)
class SKIM(Prior):
    """Few variables matter, and those that do may interact.

        m² ~ InvGamma(main_shape, main_scale)
        ξ_q², ψ² ~ InvGamma(interaction_shape, interaction_scale)
        η1 ~ C⁺(0, φ),  φ = s / (p − s) σ̃ / √n        λ_i ~ C⁺(0, 1)
        κ_i = m λ_i / √(m² + η1² λ_i²)                η2 = η1² ξ / m²,  η3 = η1² ψ / m²
        η_q = (η1 / m)^q ξ_q for interactions of order q > 2

    and the prior variances η1² κ_i², η2² κ_i² κ_j² and η3² κ_i⁴ of mains, pairs and squares. The defaults
    are the paper's, for data with unit scale; σ̃ is the noise scale of the family.

    Parameters
    ----------
    expected_mains
        Number s of variables expected to matter; by default 5, or half of the variables if that is fewer.
    quadratic
        Whether there are quadratic effects; the paper's experiments have none.
    degree
        Highest order of interaction: 2 for pairs.
    main_shape, main_scale
        Inverse gamma prior of m², the squared size of main effects that matter.
    interaction_shape, interaction_scale
        Inverse gamma prior of ξ² and ψ², the squared size of interactions and quadratic effects.
    intercept_scale
        Prior standard deviation of the intercept.
    """

    expected_mains: Number | None = None
    quadratic: bool = True
    degree: int = 2
    main_shape: Number = 12.5
    main_scale: Number = 112.5
    interaction_shape: Number = 12.5
    interaction_scale: Number = 12.5
    intercept_scale: Number = 3.0

    def __post_init__(self) -> None:
        check_degree("SKIM", self.degree)
        check_positive(
            "SKIM",
            main_shape=self.main_shape,
            main_scale=self.main_scale,
            interaction_shape=self.interaction_shape,
            interaction_scale=self.interaction_scale,
            intercept_scale=self.intercept_scale,
        )
        if self.expected_mains is not None:
            check_positive("SKIM", expected_mains=self.expected_mains)

    @property
    def has_local_scales(self) -> bool:
        """Each variable has its own λ_i."""
        return True

    def check(self, p: int) -> None:
        """Refuse an expected number of main effects that is not below the number of variables."""
        if self.expected_mains is not None and self.expected_mains >= p:
            raise ValueError(
                f"SKIM(expected_mains={self.expected_mains}) for data with {p} variables: the number of"
                f" variables expected to matter must be below {p}. Leave it out for {_default_mains(p):g}."
            )

    def coordinates(self, p: int) -> tuple[str, ...]:
        """Log η1, log m², log ξ_q², and log ψ² where there are quadratic effects."""
        interactions = [f"log_xi_sq{q}" for q in range(2, self.degree + 1)]
        return ("log_eta1", "log_m_sq", *interactions, *(["log_psi_sq"] if self.quadratic else []))

    def local_coordinates(self, p: int) -> dict[str, Int[np.ndarray, " k"]]:
        """Log λ of each variable."""
        return {"log_lam": np.arange(p)}

    def local_scales(self, t: Vector) -> LocalScales:
        """Weights η1²κ² = m² s with s = t²/(1 + t²), t = λ η1/m."""
        g = self._globals
        multipliers = np.empty(g)
        multipliers[0], multipliers[1:] = 2.0 * math.log(self.intercept_scale), t[1:g]
        limit, ratio = float(t[1]), float(t[0]) - 0.5 * float(t[1])
        return LocalScales(limit, ratio, *_constants(g)[:2], multipliers, _constants(g)[2])

    def sample(self, random: np.random.Generator, scale: Scale) -> Vector:
        """Draw t from the prior."""
        interactions = self.degree - 1 + self.quadratic
        return np.concatenate(
            [
                dist.sample_half_cauchy(random, float(self._log_phi(scale)), 1),
                dist.sample_inverse_gamma(random, self.main_shape, self.main_scale, 1),
                dist.sample_inverse_gamma(
                    random, self.interaction_shape, self.interaction_scale, interactions
                ),
                dist.sample_half_cauchy(random, 0.0, scale.p),
            ]
        )

    def log_density(self, t: Vector, scale: Scale) -> PriorDensity:
        """Log density of t."""
        g = self._globals
        eta1, by_eta1 = dist.half_cauchy(float(t[0]), float(self._log_phi(scale)))
        m_sq, by_m_sq = dist.inverse_gamma(float(t[1]), self.main_shape, self.main_scale)
        sizes, by_sizes = dist.inverse_gamma(t[2:g], self.interaction_shape, self.interaction_scale)
        lam, by_lam = dist.half_cauchy(t[g:], 0.0)
        value = float(eta1 + m_sq + np.sum(sizes) + np.sum(lam))
        gradient = np.empty(t.size)
        gradient[0], gradient[1] = by_eta1, by_m_sq
        gradient[2:g], gradient[g:] = by_sizes, by_lam
        return PriorDensity(value, gradient, -float(by_eta1))

    def log_density_of_globals(self, t: Float[np.ndarray, "*s g"], scale: Scale) -> Float[np.ndarray, "*s"]:
        """Log density of log η1, log m², log ξ_q² and log ψ²."""
        eta1, _ = dist.half_cauchy(t[..., 0] - self._log_phi(scale), 0.0)
        m_sq, _ = dist.inverse_gamma(t[..., 1], self.main_shape, self.main_scale)
        sizes, _ = dist.inverse_gamma(t[..., 2:], self.interaction_shape, self.interaction_scale)
        return np.asarray(eta1 + m_sq + np.sum(sizes, axis=-1))

    def constrain(self, t: Float[np.ndarray, "*s k"], p: int) -> dict[str, np.ndarray]:
        """The paper's symbols: `eta1 eta2 eta3 kappa intercept_scale`, and `eta_higher` past pairs."""
        ratio = t[..., 0] - 0.5 * t[..., 1]
        log_share = _log_share(t[..., self._globals :], ratio)
        orders = np.arange(2, self.degree + 1)
        eta = np.exp(orders * ratio[..., None] + 0.5 * t[..., 2 : self.degree + 1])
        eta3 = (
            np.exp(2.0 * ratio + 0.5 * t[..., self._globals - 1]) if self.quadratic else np.zeros(ratio.shape)
        )
        hyperparameters = {
            "eta1": np.exp(t[..., 0]),
            "eta2": eta[..., 0],
            "eta3": eta3,
            "kappa": np.exp(0.5 * log_share - ratio[..., None]),
            "intercept_scale": np.full(ratio.shape, float(self.intercept_scale)),
        }
        if self.degree > 2:
            hyperparameters["eta_higher"] = eta[..., 1:]
        return {name: np.asarray(value) for name, value in hyperparameters.items()}

    def variances(self, hyperparameters: Hyperparameters, p: int) -> Variances:
        """One component with weights κ², orders η1², η2², … and squares η3² (Proposition 6.1)."""
        return product_form(hyperparameters, hyperparameters["kappa"] ** 2)

    def pull_back(self, t: Vector, variances: Variances, derivative: Variances) -> Vector:
        """By log η1, log m², log ξ_q², log ψ² and log λ.

        With r = log η1 − ½ log m², s_i = sigmoid(2(log λ_i + r)): w_i = s_i e^{−2r}, orders[0] = η1²,
        orders[q−1] = e^{2qr + log ξ_q²} and squares = e^{4r + log ψ²}.
        """
        g = self._globals
        (component,), (by,) = variances.symmetric, derivative.symmetric
        ratio = t[0] - 0.5 * t[1]
        # ∂ log w_i / ∂ log λ_i = 2 (1 − s_i), and ∂ log w_i / ∂ r = 2 (1 − s_i) − 2 = −2 s_i.
        share = np.exp(_log_share(t[g:], ratio))
        by_log_w = by.weights * component.weights
        by_log_orders = by.orders * component.orders
        by_log_squares = float(by.squares * component.squares)
        powers = 2.0 * np.arange(2, self.degree + 1)
        by_ratio = -2.0 * (share @ by_log_w) + powers @ by_log_orders[1:] + 4.0 * by_log_squares
        gradient = np.empty(t.size)
        gradient[0] = by_ratio + 2.0 * by_log_orders[0]
        gradient[1] = -0.5 * by_ratio
        gradient[2 : self.degree + 1] = by_log_orders[1:]
        if self.quadratic:
            gradient[g - 1] = by_log_squares
        gradient[g:] = 2.0 * (1.0 - share) * by_log_w
        return gradient

    def expected_mains_for(self, p: int) -> float:
        """Number of variables expected to matter."""
        return _default_mains(p) if self.expected_mains is None else float(self.expected_mains)

    def position_of(
        self, included: Bool[np.ndarray, "*s p"], size: Float[np.ndarray, "*s"], scale: Scale
    ) -> Float[np.ndarray, "*s k"]:
        """A position at which just the given variables matter, with η1 κ_i = size."""
        m_sq = self.main_scale / self.main_shape
        log_interaction = np.log(self.interaction_scale / self.interaction_shape)
        log_eta1 = self._log_phi(scale) + 1.5
        share = np.clip(np.asarray(size) ** 2 / m_sq, 1e-6, 0.99)
        # η1² κ² = m² sigmoid(2 log(λ η1 / m)) solved for λ.
        log_active = 0.5 * (np.log(share) - np.log1p(-share) + np.log(m_sq)) - log_eta1
        t = np.empty((*included.shape[:-1], self._globals + included.shape[-1]))
        t[..., 0], t[..., 1] = log_eta1, np.log(m_sq)
        t[..., 2 : self._globals] = log_interaction
        t[..., self._globals :] = np.where(included, np.asarray(log_active)[..., None], -1.0)
        return t

    @property
    def _globals(self) -> int:
        """Number of global coordinates."""
        return 1 + self.degree + self.quadratic

    def _log_phi(self, scale: Scale) -> Scalar:
        s = self.expected_mains_for(scale.p)
        return np.log(s / (scale.p - s)) + scale.log_noise - 0.5 * np.log(scale.n)


def product_form(hyperparameters: Hyperparameters, weights: Float[np.ndarray, "*s p"]) -> Variances:
    """One component with weights w, orders η1², η2², … and squares η3² (Proposition 6.1)."""
    eta = np.stack([hyperparameters["eta1"], hyperparameters["eta2"]], axis=-1)
    if "eta_higher" in hyperparameters:
        eta = np.concatenate([eta, hyperparameters["eta_higher"]], axis=-1)
    return Variances(
        intercept=np.asarray(hyperparameters["intercept_scale"]) ** 2,
        symmetric=(Symmetric(weights, eta**2, np.asarray(hyperparameters["eta3"]) ** 2),),
        p=weights.shape[-1],
    )


def _log_share(log_lam: Float[np.ndarray, "*s p"], ratio: Scalar) -> np.ndarray:
    """Log sigmoid(2 (log λ + r)), which is log η1²κ²/m², and neither over- nor underflows early."""
    return -np.logaddexp(0.0, -2.0 * (log_lam + np.asarray(ratio)[..., None]))


@cache
def _constants(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of log m², of log η1/m, and of the multipliers by so many global coordinates.

    η1² κ² = m² s; with η_q = (η1/m)^q ξ_q the powers of η1/m cancel those in κ² = s m²/η1².
    """
    by_limit, by_ratio = np.zeros(size), np.zeros(size)
    by_limit[1] = 1.0
    by_ratio[:2] = 1.0, -0.5
    multipliers = np.eye(size)
    multipliers[0] = 0.0
    return by_limit, by_ratio, multipliers


def _default_mains(p: int) -> float:
    return min(5.0, p / 2)
