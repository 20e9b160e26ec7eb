"""From the standardised scale, on which effects are learned, to the units of the data."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from interplay.data.design import Design
from interplay.model.terms import Term


def natural_scale(
    design: Design, terms: Sequence[Term]
) -> tuple[Float[np.ndarray, " t"], Float[np.ndarray, " t"]]:
    """The slope a and shift b with natural = a × standardised + b.

    A natural effect is θ s_y / (s_i …): the change of the response per unit of x_i (and of x_j, …), with the
    other numbers at their means (at zero where they were not standardised) and the factors at the average of
    their levels. The intercept is the response there.
    """
    slope = [design.response_scale / np.prod(design.scales[list(term)], initial=1.0) for term in terms]
    shift = [design.response_centre if term == () else 0.0 for term in terms]
    return np.array(slope), np.array(shift)
