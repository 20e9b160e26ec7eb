"""The marginal likelihood and the posterior of the coefficients: two engines behind one interface."""

from interplay.model.engines.base import ConditionalPosterior, Engine, Likelihood
from interplay.model.engines.choice import choose_engine
from interplay.model.engines.feature_space import FeatureSpace
from interplay.model.engines.kernel_space import KernelSpace

__all__ = ["ConditionalPosterior", "Engine", "FeatureSpace", "KernelSpace", "Likelihood", "choose_engine"]
