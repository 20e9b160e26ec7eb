"""Data as they might have been: draws of the whole response from the posterior predictive distribution."""

import numpy as np
from jaxtyping import Float

from interplay.results.fit import Fit


def replicates(fit: Fit, size: int, random: np.random.Generator) -> Float[np.ndarray, "size n"]:
    """Replicates of the response at the rows of the data, in its own units.

    All rows of a replicate are drawn together: they share the hyperparameters and the linear predictor. To
    each row noise of variance σ²/w is added.

    Parameters
    ----------
    fit
        The fit.
    size
        How many.
    random
        Where chance comes from.
    """
    conditional, design = fit.conditional, fit.design
    draws = random.integers(len(conditional), size=size)
    predictor = conditional.replicates(draws, random)
    noise = fit.observation_variance[draws][:, None] / design.row_weights
    response = predictor + np.sqrt(noise) * random.standard_normal(predictor.shape)
    return design.response_centre + design.response_scale * response
