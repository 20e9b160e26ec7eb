"""Prior × family × engine: what inference sees of a model.

The only place that turns a position into prior variances and a working response.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from interplay.data.design import Design
from interplay.model.engines.base import ConditionalPosterior, Engine, Likelihood
from interplay.model.engines.choice import choose_engine
from interplay.model.engines.feature_space import FeatureSpace
from interplay.model.engines.kernel_space import Factored, KernelSpace, Precision
from interplay.model.families.base import Family, Working
from interplay.model.priors.base import Hyperparameters, LocalScales, Prior, Scale
from interplay.model.variable_sets import SetEvidence
from interplay.model.variances import Variances

Vector = Float[np.ndarray, " k"]

TOLERANCE = 0.1
"""Largest change of the log density by the squares of columns that are left out while sampling.

The bound is far from reached: over draws at (N, p) = (200, 200) and (200, 500) the change was lost in the
rounding of single precision, and a bound of 10⁻⁴ left out the truncation, and its gain, nine times of ten.
"""


class Density(NamedTuple):
    """A log density and its gradient; −inf with a zero gradient where it is not defined."""

    value: float
    gradient: Vector


class Evaluation(NamedTuple):
    """A log density in kernel space, and the matrices that it was computed from."""

    log_density: float
    factored: Factored


class Noise(NamedTuple):
    """The common factor v of the noise variances v/w_n: its log, w, and the gradient by the parameters."""

    log_variance: float
    weights: Float[np.ndarray, " n"]
    gradient: Vector


@dataclass(frozen=True, eq=False)
class Posterior:
    """The posterior over a vector of unconstrained hyperparameters: the family's first, then the prior's.

    Parameters
    ----------
    design
        The data.
    prior, family, engine
        What is believed of the coefficients, the likelihood, and how it is computed.
    """

    design: Design
    prior: Prior
    family: Family
    engine: Engine

    @classmethod
    def of(
        cls, design: Design, prior: Prior, family: Family, *, precision: Precision = "float32"
    ) -> "Posterior":
        """The posterior with the engine that costs least.

        Parameters
        ----------
        design, prior, family
            The data, and what is believed.
        precision
            Of the O(n² p) products. Single precision moves the log density by some 10⁻³, far below what a
            sampler notices, in half of the time; effects are later computed in double precision.
        """
        engine = choose_engine(design, prior, precision=precision, tolerance=TOLERANCE)
        return cls(design, prior, family, engine)

    @property
    def p(self) -> int:
        """Number of variables."""
        return self.design.p

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates of a position."""
        local = [
            f"{name}[{self.design.names[v]}]"
            for name, variables in self.prior.local_coordinates(self.p).items()
            for v in variables
        ]
        return (*self.family.parameters, *self.prior.coordinates(self.p), *local)

    @property
    def dimension(self) -> int:
        """Length of a position."""
        return len(self.coordinates)

    @cached_property
    def local(self) -> Int[np.ndarray, " k"]:
        """Coordinates that belong to a variable each, such as log λ_i; the others are global."""
        count = self.local_variable.size
        return np.arange(self.dimension - count, self.dimension)

    @cached_property
    def local_variable(self) -> Int[np.ndarray, " k"]:
        """The variable that each local coordinate belongs to."""
        blocks = list(self.prior.local_coordinates(self.p).values())
        return np.concatenate(blocks) if blocks else np.zeros(0, dtype=int)

    @property
    def family_count(self) -> int:
        """Number of the family's parameters, which come first."""
        return len(self.family.parameters)

    def sample_prior(self, random: np.random.Generator) -> Vector:
        """Draw a position from the prior."""
        u = self.family.sample(random)
        return np.concatenate([u, self.prior.sample(random, self._scale(u))])

    def log_density(self, x: Vector) -> float:
        """Unnormalised log posterior density."""
        return self._with_likelihood(x, self.engine.log_likelihood)

    def evaluate(self, x: Vector, near: Factored | None = None) -> Evaluation:
        """The log density in kernel space, with the matrices that it was computed from.

        Parameters
        ----------
        x
            The position.
        near
            What is known of a position at which most variables have the same weights.
        """
        kept: list[Factored] = []

        def likelihood(variances: Variances, working: Working) -> Likelihood:
            kept.append(self.kernel.factor(variances, working, near))
            return Likelihood(kept[0].value)

        value = self._with_likelihood(x, likelihood)
        return Evaluation(value, kept[0])

    @property
    def kernel(self) -> KernelSpace:
        """The engine, where it is kernel space."""
        if not isinstance(self.engine, KernelSpace):
            raise TypeError(
                f"This is a move in kernel space, and the engine is {type(self.engine).__name__}."
            )
        return self.engine

    @property
    def features(self) -> FeatureSpace:
        """The engine, where it is feature space."""
        if not isinstance(self.engine, FeatureSpace):
            raise TypeError(
                f"This is a move in feature space, and the engine is {type(self.engine).__name__}."
            )
        return self.engine

    def scale(self, x: Vector) -> Scale:
        """What the prior measures effects by, at a position."""
        return self._scale(self._parts(x)[0])

    def model(self, x: Vector) -> tuple[Variances, Working]:
        """The prior variances and the rows at a position."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self._model(*self._parts(x))

    def log_prior(self, x: Vector) -> float:
        """Log prior density of a position, the family's parameters included."""
        u, t = self._parts(x)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self.family.log_prior(u)[0] + self.prior.log_density(t, self._scale(u)).value

    def log_prior_and_factor(self, u: Vector, t: Vector) -> tuple[float, Vector]:
        """Log prior density with the factor of the likelihood beside the working response, and the gradient.

        Parameters
        ----------
        u, t
            The family's parameters and the prior's.
        """
        log_scale, by_log_scale = self.family.log_scale(u)
        prior = self.prior.log_density(t, Scale(self.design.total_weight, self.p, float(log_scale)))
        of_family, by_family = self.family.log_prior(u)
        factor, by_log_variance = self.family.log_factor(u, self.design)
        by_u = by_family + self.family.by_log_variance(by_log_variance) + prior.by_log_noise * by_log_scale
        return prior.value + of_family + factor, np.concatenate([by_u, prior.gradient])

    def log_variance(self, u: Vector) -> tuple[float, Vector]:
        """Log of the common factor of the noise variances, and its gradient by the family's parameters."""
        working = self.family.working(self.family.constrain(u), self.design)
        return math.log(working.variance), self.family.by_log_variance(1.0)

    def gradient(self, x: Vector) -> Density:
        """The log density and its gradient."""
        return self.gradient_of(x, self.engine.gradient)

    def gradient_of(self, x: Vector, likelihood: Callable[[Variances, Working], Likelihood]) -> Density:
        """The log density and its gradient, with a likelihood that stands for the engine's."""
        u, t = self._parts(x)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            variances, working = self._model(u, t)
            found = likelihood(variances, working)
            if found.by_variances is None:
                return Density(-math.inf, np.zeros(x.size))
            value, gradient = self._chain_rule(u, t, variances, found)
        finite = math.isfinite(value) and bool(np.all(np.isfinite(gradient)))
        return Density(value, gradient) if finite else Density(-math.inf, np.zeros(x.size))

    def noise(self, x: Vector) -> Noise:
        """The log of the working noise variance, the working weights of rows, and the variance's gradient."""
        u, _ = self._parts(x)
        working = self.family.working(self.family.constrain(u), self.design)
        return Noise(math.log(working.variance), working.weights, self.family.by_log_variance(1.0))

    def constrain(self, x: Float[np.ndarray, "*s k"]) -> dict[str, np.ndarray]:
        """The hyperparameters in the paper's symbols, and the family's parameters."""
        u, t = self._parts(x)
        return {**self.prior.constrain(t, self.p), **self.family.constrain(u)}

    def variances(self, hyperparameters: Hyperparameters) -> Variances:
        """The prior variances of all coefficients, given hyperparameters."""
        return self.prior.variances(hyperparameters, self.p)

    def working(self, hyperparameters: Hyperparameters) -> Working:
        """The rows given one draw."""
        return self.family.working(hyperparameters, self.design)

    def condition(self, hyperparameters: Hyperparameters) -> ConditionalPosterior:
        """The posterior of the coefficients given one draw."""
        return self.engine.condition(self.variances(hyperparameters), self.working(hyperparameters))

    def position_of(
        self,
        included: Bool[np.ndarray, "*s p"],
        size: Float[np.ndarray, "*s"],
        log_noise: Float[np.ndarray, "*s"],
    ) -> Float[np.ndarray, "*s k"]:
        """A position at which just the given variables matter; see `Prior.position_of`."""
        u = self.family.position_of(np.asarray(log_noise))
        scale = Scale(self.design.total_weight, self.p, np.asarray(log_noise))
        t = self.prior.position_of(included, size, scale)
        return np.concatenate([np.broadcast_to(u, (*t.shape[:-1], u.shape[-1])), t], axis=-1)

    def local_scales(self, x: Vector) -> LocalScales:
        """How the local coordinates act, given the global ones of a position."""
        return self.prior.local_scales(self._parts(x)[1])

    def log_gain(self, x: Vector) -> Float[np.ndarray, " k"]:
        """Log Σ_n ⟨x_ng, x_ng⟩ / v_n of the variable g of each local coordinate: its signal at weight one."""
        noise = self.noise(x)
        if noise.weights is self.design.row_weights:
            return self._log_norms - noise.log_variance
        return np.log(self._squared_norms(noise.weights)[self.local_variable]) - noise.log_variance

    def log_noise(self, x: Vector) -> float:
        """Log of the family's noise scale at a position."""
        return float(self.family.log_scale(self._parts(x)[0])[0])

    def set_evidence(self, rows: Int[np.ndarray, " m"], random: np.random.Generator) -> SetEvidence:
        """What gives the evidence of sets of variables, on some rows of the data."""
        return SetEvidence(self, rows, random)

    @cached_property
    def _log_norms(self) -> Float[np.ndarray, " k"]:
        return np.log(self._squared_norms(self.design.row_weights)[self.local_variable])

    def _squared_norms(self, weights: Float[np.ndarray, " n"]) -> Float[np.ndarray, " p"]:
        """Σ_n w_n ⟨x_ng, x_ng⟩ of each variable; the least positive number for a column of zeros."""
        by_column = weights @ self.design.X**2
        return np.maximum(np.bincount(self.design.owner, weights=by_column, minlength=self.p), 1e-300)

    def _with_likelihood(self, x: Vector, likelihood: Callable[[Variances, Working], Likelihood]) -> float:
        u, t = self._parts(x)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            prior = self.family.log_prior(u)[0] + self.prior.log_density(t, self._scale(u)).value
            variances, working = self._model(u, t)
            value = prior + likelihood(variances, working).value + self.family.log_factor(u, self.design)[0]
        return value if math.isfinite(value) else -math.inf

    def _parts(self, x: Float[np.ndarray, "*s k"]) -> tuple[np.ndarray, np.ndarray]:
        return x[..., : self.family_count], x[..., self.family_count :]

    def _scale(self, u: Vector) -> Scale:
        return Scale(self.design.total_weight, self.p, float(self.family.log_scale(u)[0]))

    def _model(self, u: Vector, t: Float[np.ndarray, " q"]) -> tuple[Variances, Working]:
        hyperparameters = self.prior.constrain(t, self.p)
        working = self.family.working(self.family.constrain(u), self.design)
        return self.prior.variances(hyperparameters, self.p), working

    def _chain_rule(
        self, u: Vector, t: Float[np.ndarray, " q"], variances: Variances, likelihood: Likelihood
    ) -> tuple[float, np.ndarray]:
        prior = self.prior.log_density(t, self._scale(u))
        of_family, by_family = self.family.log_prior(u)
        factor, by_log_variance = self.family.log_factor(u, self.design)
        by_u = by_family + self.family.by_log_variance(likelihood.by_log_variance + by_log_variance)
        by_u = by_u + prior.by_log_noise * self.family.log_scale(u)[1]
        assert likelihood.by_variances is not None
        by_t = prior.gradient + self.prior.pull_back(t, variances, likelihood.by_variances)
        return prior.value + of_family + factor + likelihood.value, np.concatenate([by_u, by_t])
