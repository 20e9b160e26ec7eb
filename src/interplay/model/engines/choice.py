"""Which engine serves a data set at the least cost."""

from interplay.data.design import Design
from interplay.model.engines.base import Engine
from interplay.model.engines.feature_space import FeatureSpace
from interplay.model.engines.kernel_space import KernelSpace, Precision
from interplay.model.priors.base import Prior
from interplay.model.terms import dimension

MOST_FEATURES = 3300
"""Features up to which moves in feature space pay for any number of rows: 80 numbers with all pairs."""

MOST_KERNEL_ROWS = 1500
"""Rows up to which moves in kernel space pay where there are more features than rows."""


def choose_engine(
    design: Design, prior: Prior, *, precision: Precision = "float64", tolerance: float = 1e-4
) -> Engine:
    """Choose the engine that samples a design at the least cost.

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
    if _prefers_features(design, prior):
        return FeatureSpace(design, degree=prior.degree, quadratic=prior.quadratic)
    return KernelSpace(design, precision=precision, tolerance=tolerance)


def _prefers_features(design: Design, prior: Prior) -> bool:
    """Whether sampling in feature space costs less.

    With D features, of which a are active at a time, an iteration costs about

        feature space    p (a³/3 + a² p + 9 p³) + 4 D² flops, whatever the number of rows n; n D² once
        kernel space     some ten times n³ + 2 n² d, whatever D

    if the prior has local scales, and for trajectories alone D³ against n³ + 2 n² d. Active features are a
    few hundred, so that feature space pays from some 1,500 rows on as long as ΦᵀWΦ is small, and below that
    where D < n.
    """
    D = dimension(design, prior.degree, quadratic=prior.quadratic)
    n, d = design.X.shape
    if prior.has_local_scales and n > MOST_KERNEL_ROWS and D <= MOST_FEATURES:
        return True
    return n > D and n**3 + 2.0 * n**2 * d * (prior.degree - 1) > D**3
