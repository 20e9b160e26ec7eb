"""Both engines on the same rows, and their likelihood and its gradient as one vector."""

import numpy as np
from strategies import ravel

from interplay.data.design import Design
from interplay.model.engines import Engine, FeatureSpace, KernelSpace, Likelihood
from interplay.model.families import Gaussian, Working
from interplay.model.variances import Variances


def both_engines(
    design: Design, variances: Variances, *, quadratic: bool = True
) -> tuple[KernelSpace, FeatureSpace]:
    """The exact engines for prior variances."""
    return KernelSpace(design, tolerance=0.0), FeatureSpace(
        design, degree=variances.degree, quadratic=quadratic
    )


def rows(design: Design, sigma: float) -> Working:
    """The rows of a design as the Gaussian family sees them."""
    return Gaussian().working({"sigma": np.asarray(sigma)}, design)


def log_likelihood(engine: Engine, design: Design, variances: Variances, sigma: float) -> float:
    """Log likelihood of the rows, each of which counts as often as its weight says."""
    value = engine.log_likelihood(variances, rows(design, sigma)).value
    return value + Gaussian().log_factor(np.log([sigma]), design)[0]


def gradient(engine: Engine, design: Design, variances: Variances, sigma: float) -> np.ndarray:
    """Derivatives of that by the logarithm of every prior variance and of σ."""
    likelihood = engine.gradient(variances, rows(design, sigma))
    assert likelihood.by_variances is not None
    by_log_variance = likelihood.by_log_variance + Gaussian().log_factor(np.log([sigma]), design)[1]
    by_log = ravel(likelihood.by_variances)[0] * ravel(variances)[0]
    return np.append(by_log, 2.0 * by_log_variance)


def differences(engine: Engine, design: Design, variances: Variances, sigma: float) -> np.ndarray:
    """The same by central differences of the log likelihood."""
    flat, unravel = ravel(variances)
    at, step = np.append(np.log(flat), np.log(sigma)), 1e-5

    def value(x: np.ndarray) -> float:
        return log_likelihood(engine, design, unravel(np.exp(x[:-1])), float(np.exp(x[-1])))

    return np.array([(value(at + e) - value(at - e)) / (2 * step) for e in step * np.eye(at.size)])


def is_undefined(likelihood: Likelihood) -> bool:
    """Whether the value is −inf and there is no derivative."""
    return likelihood.value == -np.inf and likelihood.by_variances is None and likelihood.by_log_variance == 0
