"""Which engine serves a data set at the least cost."""

from interplay.data.design import Design
from interplay.model.engines.base import Engine
from interplay.model.engines.feature_space import FeatureSpace
from interplay.model.engines.kernel_space import KernelSpace, Precision
from interplay.model.priors.base import Prior
from interplay.model.terms import dimension


def choose_engine(
    design: Design, prior: Prior, *, precision: Precision = "float64", tolerance: float = 1e-4
) -> Engine:
    """Choose the cheaper engine for a design: feature space where dim Φ < n and it costs less.

    The two give the same log likelihood, to 1e-8 while prior variances are within about 10³ times the noise
    variance; past that kernel space loses digits, as K + σ²I does.

    Parameters
    ----------
    design
        The data.
    prior
        Whose coefficients are meant: its degree and its quadratic effects.
    precision, tolerance
        Of the O(n² p) products of kernel space, see `KernelSpace`.
    """
    prior.check(design.p)
    degree, quadratic = prior.degree, prior.quadratic
    D = dimension(design, degree, quadratic=quadratic)
    n, d = design.X.shape
    feature_cost = 2.0 * D**3
    kernel_cost = 2.0 * n**3 + 4.0 * n**2 * d * (degree - 1)
    if n > D and feature_cost < kernel_cost:
        return FeatureSpace(design, degree=degree, quadratic=quadratic)
    return KernelSpace(design, precision=precision, tolerance=tolerance)
