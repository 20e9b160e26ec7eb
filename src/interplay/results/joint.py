"""Several effects together, as a user sees them."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from interplay.effects.mixture import JointMixture


@dataclass(frozen=True)
class Joint:
    """The joint posterior of t effects.

    Parameters
    ----------
    labels
        The effects in words, in the order of all arrays.
    mixture
        Their joint posterior.
    slope, shift
        From this scale to units of the data.
    """

    labels: tuple[str, ...]
    mixture: JointMixture
    slope: Float[np.ndarray, " t"]
    shift: Float[np.ndarray, " t"]

    @property
    def mean(self) -> Float[np.ndarray, " t"]:
        """Posterior means."""
        return self.mixture.mean

    @property
    def cov(self) -> Float[np.ndarray, "t t"]:
        """Posterior covariance, within the draws of the hyperparameters and between them."""
        return self.mixture.cov

    def draws(
        self, size: int, random_state: int | np.random.Generator | None = None
    ) -> Float[np.ndarray, "size t"]:
        """Draws of all effects together.

        Parameters
        ----------
        size
            How many.
        random_state
            Seed or generator.
        """
        return self.mixture.draws(size, np.random.default_rng(random_state))

    def natural(self) -> "Joint":
        """The same in units of the data, see `interplay.effects.scale.natural_scale`."""
        means = self.mixture.means * self.slope + self.shift
        covariances = self.mixture.covariances * np.outer(self.slope, self.slope)
        one, zero = np.ones_like(self.slope), np.zeros_like(self.shift)
        return replace(self, mixture=JointMixture(means, covariances), slope=one, shift=zero)
