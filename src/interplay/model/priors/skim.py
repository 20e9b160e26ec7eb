"""SKIM, the sparse kernel interaction model (Section 6 and Appendix D of the paper)."""

from dataclasses import dataclass
from typing import final

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from interplay.model.priors import distributions as dist
from interplay.model.priors.base import (
    Hyperparameters,
    Number,
    Position,
    Prior,
    check_degree,
    check_positive,
    product_form,
)
from interplay.model.variances import Variances


@final
@dataclass(frozen=True, kw_only=True)
class SKIM(Prior):
    """Few variables matter, and those that do may interact.

        m² ~ InvGamma(main_shape, main_scale)
        ξ_q², ψ² ~ InvGamma(interaction_shape, interaction_scale)
        σ ~ N⁺(0, noise_scale)                        η1 ~ C⁺(0, φ),  φ = s / (p − s) σ / √n
        λ_i ~ C⁺(0, 1)                                κ_i = m λ_i / √(m² + η1² λ_i²)
        η2 = η1² ξ / m²,  η3 = η1² ψ / m²             η_q = (η1 / m)^q ξ_q for interactions of order q > 2

    and the prior variances η1² κ_i², η2² κ_i² κ_j² and η3² κ_i⁴ of mains, pairs and squares. The defaults
    are the paper's, for data with unit scale.

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
    noise_scale
        Scale of the half-normal prior of the noise.
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
    noise_scale: Number = 2.0
    intercept_scale: Number = 3.0

    def __post_init__(self) -> None:
        check_degree("SKIM", self.degree)
        check_positive(
            "SKIM",
            main_shape=self.main_shape,
            main_scale=self.main_scale,
            interaction_shape=self.interaction_shape,
            interaction_scale=self.interaction_scale,
            noise_scale=self.noise_scale,
            intercept_scale=self.intercept_scale,
        )
        if self.expected_mains is not None:
            check_positive("SKIM", expected_mains=self.expected_mains)

    def check(self, p: int) -> None:
        """Refuse an expected number of main effects that is not below the number of variables."""
        if self.expected_mains is not None and self.expected_mains >= p:
            raise ValueError(
                f"SKIM(expected_mains={self.expected_mains}) for data with {p} variables: the number of"
                f" variables expected to matter must be below {p}. Leave it out for {_default_mains(p):g}."
            )

    def sample(self, key: Key[Array, ""], n: Number, p: int) -> Position:
        """Draw an unconstrained position from the prior."""
        keys = jax.random.split(key, 6)
        log_sigma = dist.sample_half_normal(keys[0], self.noise_scale)
        interaction = self.interaction_shape, self.interaction_scale
        position = {
            "log_sigma": log_sigma,
            "log_m_sq": dist.sample_inverse_gamma(keys[1], self.main_shape, self.main_scale),
            "log_xi_sq": dist.sample_inverse_gamma(keys[2], *interaction, (self.degree - 1,)),
            "log_eta1": dist.sample_half_cauchy(keys[3], self._log_phi(log_sigma, n, p)),
            "log_lam": dist.sample_half_cauchy(keys[4], jnp.zeros(()), (p,)),
        }
        if self.quadratic:
            position["log_psi_sq"] = dist.sample_inverse_gamma(keys[5], *interaction)
        return position

    def log_density(self, position: Position, n: Number, p: int) -> Float[Array, ""]:
        """Log density of an unconstrained position."""
        interaction = self.interaction_shape, self.interaction_scale
        log_phi = self._log_phi(position["log_sigma"], n, p)
        total = (
            dist.half_normal(position["log_sigma"], self.noise_scale)
            + dist.inverse_gamma(position["log_m_sq"], self.main_shape, self.main_scale)
            + jnp.sum(dist.inverse_gamma(position["log_xi_sq"], *interaction))
            + dist.half_cauchy(position["log_eta1"], log_phi)
            + jnp.sum(dist.half_cauchy(position["log_lam"], jnp.zeros(())))
        )
        if self.quadratic:
            total += dist.inverse_gamma(position["log_psi_sq"], *interaction)
        return total

    def constrain(self, position: Position, n: Number, p: int) -> Hyperparameters:
        """The paper's symbols: `eta1 eta2 eta3 kappa intercept_scale sigma`, and `eta_higher` past pairs."""
        log_ratio = position["log_eta1"] - 0.5 * position["log_m_sq"]
        # κ_i² = (m/η1)² · sigmoid(2 log(λ_i η1/m)), which neither over- nor underflows early.
        log_kappa = 0.5 * jax.nn.log_sigmoid(2.0 * (position["log_lam"] + log_ratio)) - log_ratio
        orders = jnp.arange(2, self.degree + 1)
        eta = jnp.exp(orders * log_ratio + 0.5 * position["log_xi_sq"])
        hyperparameters = {
            "eta1": jnp.exp(position["log_eta1"]),
            "eta2": eta[0],
            "eta3": jnp.exp(2.0 * log_ratio + 0.5 * position["log_psi_sq"])
            if self.quadratic
            else jnp.zeros(()),
            "kappa": jnp.exp(log_kappa),
            "intercept_scale": jnp.asarray(self.intercept_scale),
            "sigma": jnp.exp(position["log_sigma"]),
        }
        if self.degree > 2:
            hyperparameters["eta_higher"] = eta[1:]
        return hyperparameters

    def variances(self, hyperparameters: Hyperparameters, p: int) -> Variances:
        """One component with weights κ²."""
        return product_form(hyperparameters, hyperparameters["kappa"] ** 2)

    @property
    def selects(self) -> bool:
        """Each variable has its own λ_i."""
        return True

    def expected(self, p: int) -> float:
        """Number of variables expected to matter."""
        return _default_mains(p) if self.expected_mains is None else float(self.expected_mains)

    def place(
        self, included: Bool[Array, " p"], size: Float[Array, ""], sigma: Float[Array, ""], n: Number, p: int
    ) -> Position:
        """A position at which just the given variables matter, with η1 κ_i = size."""
        log_sigma = jnp.log(sigma)
        log_m_sq = jnp.log(self.main_scale / self.main_shape)
        log_interaction = jnp.log(self.interaction_scale / self.interaction_shape)
        log_eta1 = self._log_phi(log_sigma, n, p) + 1.5
        share = jnp.clip(size**2 / jnp.exp(log_m_sq), 1e-6, 0.99)
        # η1² κ² = m² sigmoid(2 log(λ η1 / m)) solved for λ.
        log_active = 0.5 * (jnp.log(share) - jnp.log1p(-share) + log_m_sq) - log_eta1
        position = {
            "log_sigma": log_sigma,
            "log_m_sq": log_m_sq,
            "log_xi_sq": jnp.full(self.degree - 1, log_interaction),
            "log_eta1": log_eta1,
            "log_lam": jnp.where(included, log_active, -1.0),
        }
        if self.quadratic:
            position["log_psi_sq"] = log_interaction
        return position

    def _log_phi(self, log_sigma: Float[Array, ""], n: Number, p: int) -> Float[Array, ""]:
        s = self.expected(p)
        return jnp.log(s / (p - s)) + log_sigma - 0.5 * jnp.log(n)


def _default_mains(p: int) -> float:
    return min(5.0, p / 2)
