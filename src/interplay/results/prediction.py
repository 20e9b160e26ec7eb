"""New observations: the mixture at each of some rows, with its intervals and draws."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxtyping import Float

from interplay.data.design import Design, encode
from interplay.effects.conditional import Conditional
from interplay.effects.mixture import Mixture

ROWS = 4096
"""Rows that are predicted at a time, which bounds the memory."""


def observations(
    design: Design, conditional: Conditional, noise: Float[np.ndarray, " s"], rows: Any
) -> Iterator[Mixture]:
    """The mixture over the draws of N(f(x), sd² + σ²), in units of the response, some rows at a time.

    Parameters
    ----------
    design, conditional
        The data, and the posterior given the draws.
    noise
        Variance σ² of an observation of weight one given the linear predictor, in each draw.
    rows
        New rows in any form that `interplay.design` takes.
    """
    X = encode(design, rows)
    centre, scale = design.response_centre, design.response_scale
    for start in range(0, len(X), ROWS):
        means, sds = conditional.predict(X[start : start + ROWS])
        yield Mixture(centre + scale * means, scale * np.sqrt(sds**2 + noise[:, None]))


def intervals(parts: Iterator[Mixture], probability: float) -> Float[np.ndarray, "m 2"]:
    """Lower and upper end of the central interval of each observation."""
    if not 0.0 < probability < 1.0:
        raise ValueError(f"probability={probability!r}: expected a number between 0 and 1, such as 0.9.")
    ends = [0.5 - probability / 2, 0.5 + probability / 2]
    return np.concatenate([np.column_stack([part.quantile(q) for q in ends]) for part in parts])


def draws(
    parts: Iterator[Mixture], components: int, size: int, random: np.random.Generator
) -> Float[np.ndarray, "size m"]:
    """Draws of each observation; those of one replicate are from the same of the mixture's components."""
    if size < 1:
        raise ValueError(f"size={size!r}: expected how many draws are wanted, at least 1.")
    component = random.integers(components, size=size)
    drawn = [
        part.means[component] + part.sds[component] * random.standard_normal((size, part.means.shape[1]))
        for part in parts
    ]
    return np.concatenate(drawn, axis=1)
