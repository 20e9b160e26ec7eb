"""How a response follows from the linear predictor: the likelihood."""

from interplay.model.families.base import Family, Working
from interplay.model.families.gaussian import Gaussian

__all__ = ["Family", "Gaussian", "Working"]
