"""What a sampler gives: draws of the hyperparameters, and what happened on the way."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Draws:
    """Draws of the hyperparameters by several chains.

    Parameters
    ----------
    hyperparameters
        What `Prior.constrain` gives, each array with chain and draw as its first two axes: `sigma`, `eta1`,
        `kappa` (chain, draw, p), …
    statistics
        Of each iteration, (chain, draw): `log_density`, `acceptance`, `divergent` and `steps`, the number
        of gradients that it took.
    """

    hyperparameters: dict[str, np.ndarray]
    statistics: dict[str, np.ndarray]

    @property
    def chains(self) -> int:
        """Number of chains."""
        return self.statistics["log_density"].shape[0]

    @property
    def length(self) -> int:
        """Draws of each chain."""
        return self.statistics["log_density"].shape[1]

    def stacked(self, most: int | None = None) -> dict[str, np.ndarray]:
        """Draws of all chains one after the other, thinned evenly to at most a given number."""
        total = self.chains * self.length
        size = total if most is None else min(most, total)
        chain, draw = np.divmod(np.linspace(0, total - 1, size).astype(int), self.length)
        return {name: values[chain, draw] for name, values in self.hyperparameters.items()}
