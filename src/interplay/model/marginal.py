"""The marginal likelihood: two engines behind one function, chosen by cost."""

from typing import Any, Protocol, runtime_checkable

from jaxtyping import Array, Bool, Float

from interplay.data.design import Design
from interplay.model.kernelspace import Precision, kernel_space
from interplay.model.layout import Layout
from interplay.model.pairscreen import OverDraws, PairScreen
from interplay.model.priors.base import Prior
from interplay.model.terms import Terms, dimension
from interplay.model.variances import Variances
from interplay.model.weightspace import weight_space

Factor = Any
"""What an engine keeps of one draw: a record of its own."""


@runtime_checkable
class Engine(Protocol):
    """A data set made ready: the likelihood of a draw, and the posterior given it.

    `factorise` is done once a draw; `effects`, `joint` and `predict` answer from the factor.
    """

    @property
    def layout(self) -> Layout:
        """Which variable each column belongs to."""

    def log_likelihood(self, variances: Variances, sigma: Float[Array, ""]) -> Float[Array, ""]:
        """Log p(y | τ, σ)."""

    @property
    def has_rough(self) -> bool:
        """Whether `rough` gives anything cheaper."""

    def rough(self, variances: Variances, sigma: Float[Array, ""]) -> "tuple[Engine, Bool[Array, '']]":
        """Something cheaper for likelihoods alone, and whether it comes near enough at this position."""

    def factorise(self, variances: Variances, sigma: Float[Array, ""]) -> Factor:
        """The factor that every question about this draw needs."""

    def effects(
        self, factor: Factor, variances: Variances, terms: Terms
    ) -> tuple[Float[Array, " t"], Float[Array, " t"]]:
        """Mean and variance of each term."""

    def joint(
        self, factor: Factor, variances: Variances, terms: Terms
    ) -> tuple[Float[Array, " t"], Float[Array, "t t"]]:
        """Mean and covariance of the terms together."""

    def predict(
        self, factor: Factor, variances: Variances, rows: Float[Array, "m d"]
    ) -> tuple[Float[Array, " m"], Float[Array, " m"]]:
        """Mean and variance of the regression function at new rows."""

    def pair_screen(
        self, variances: Variances, sigma: Float[Array, " s"], over_draws: OverDraws
    ) -> PairScreen | None:
        """Bounds on the interactions of all pairs, over a stack of draws; None where pairs are few."""


def engine(
    design: Design,
    prior: Prior,
    *,
    precision: Precision = "float64",
    tolerance: float = 1e-4,
) -> Engine:
    """Choose the cheaper engine for a design: weight space where dim Φ < n and it costs less.

    The two give the same log likelihood, to 1e-8 while prior variances are within about 10³ times the noise
    variance; past that kernel space loses digits, as K + σ²I does.

    Parameters
    ----------
    design
        The data.
    prior
        Whose coefficients are meant: its degree, its quadratic effects and its named pairs.
    precision, tolerance
        Of the O(n² p) products of kernel space, see `kernel_space`.
    """
    prior.check(design.p)
    degree, quadratic = prior.degree, prior.quadratic
    D = dimension(design, degree, quadratic=quadratic)
    n, d = design.X.shape
    weight_cost = 2.0 * D**3
    kernel_cost = 2.0 * n**3 + 4.0 * n**2 * d * (degree - 1)
    if n > D and weight_cost < kernel_cost:
        return weight_space(design, prior.pairs, degree=degree, quadratic=quadratic)
    return kernel_space(design, prior.pairs, precision=precision, tolerance=tolerance)
