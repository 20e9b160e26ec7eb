"""Stacks of draws over an engine."""

from collections.abc import Sequence

from engines import rows
from strategies import stacked

from interplay.data.design import Design
from interplay.effects.conditional import Conditional
from interplay.model.engines import Engine
from interplay.model.variances import Variances


def conditional_of(
    engine: Engine, design: Design, variances: Sequence[Variances], sigma: Sequence[float]
) -> Conditional:
    """The posterior given draws of prior variances and noise."""
    return Conditional(engine, stacked(list(variances)), tuple(rows(design, s) for s in sigma))
