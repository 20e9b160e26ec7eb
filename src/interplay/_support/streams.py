"""Random numbers by their place in a run, so that a run that is resumed draws what it would have drawn."""

import numpy as np


class Streams:
    """Independent generators, one for each place in a run (Philox, counter-based).

    Salmon et al. (2011), Parallel random numbers: as easy as 1, 2, 3. The seed is the key, and the place is
    the counter: every generator starts 2⁶⁴ blocks away from all others, and needs nothing of what was drawn
    before.

    Parameters
    ----------
    seed
        Of the run.
    """

    def __init__(self, seed: int) -> None:
        self._key = np.random.SeedSequence(seed).generate_state(2, np.uint64)

    def at(self, phase: int, iteration: int, chain: int, move: int = 0) -> np.random.Generator:
        """The generator of a move of a chain in an iteration of a phase of the run."""
        counter = np.array([0, (move << 32) + chain, iteration, phase], dtype=np.uint64)
        return np.random.Generator(np.random.Philox(counter=counter, key=self._key))
