"""From a design to a fit, in one call."""

from pathlib import Path
from typing import Any

from interplay.data.design import Design
from interplay.inference.moves.hmc import HMC
from interplay.inference.progress import Report
from interplay.inference.sample import MAX_DRAWS, sample
from interplay.model.families import Family, Gaussian
from interplay.model.priors.base import Prior
from interplay.results.fit import Fit
from interplay.results.provenance import provenance


def learn(
    design: Design,
    prior: Prior,
    *,
    family: Family | None = None,
    sampler: HMC | None = None,
    draws: int | None = None,
    max_draws: int = MAX_DRAWS,
    max_seconds: float | int | None = None,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    progress: bool | Report = True,
) -> Fit:
    """Sample, and keep the draws with all that they come from; see `interplay.inference.sample.sample`."""
    likelihood = Gaussian() if family is None else family
    limits: dict[str, Any] = {"draws": draws, "max_draws": max_draws, "max_seconds": max_seconds}
    drawn, diagnostics = sample(
        design,
        prior,
        family=likelihood,
        sampler=sampler,
        seed=seed,
        checkpoint=checkpoint,
        progress=progress,
        **limits,
    )
    settings = {"sampler": repr(sampler), **limits, "seed": seed}
    return Fit(design, prior, drawn, diagnostics, settings, provenance(design, seed), likelihood)
