"""Fits without a sampler: draws from the prior, kept within a sensible range."""

import numpy as np
import pandas as pd

from interplay.data.design import Design
from interplay.inference.diagnostics import Diagnostics
from interplay.inference.draws import Draws
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors.base import Prior
from interplay.results.fit import Fit
from interplay.results.provenance import provenance


def make_draws(design: Design, prior: Prior, seed: int = 0, chains: int = 2, length: int = 4) -> Draws:
    """Draws of the prior, with every coordinate cut to [-1.5, 1.5]."""
    posterior = Posterior.of(design, prior, Gaussian())
    positions = [posterior.sample_prior(np.random.default_rng([seed, k])) for k in range(chains * length)]
    stacked = posterior.constrain(np.clip(np.stack(positions), -1.5, 1.5))
    random = np.random.default_rng(seed)
    shape = (chains, length)
    statistics = {
        "log_density": random.normal(size=shape),
        "acceptance": random.uniform(size=shape),
        "divergent": random.uniform(size=shape) < 0.2,
        "steps": random.integers(1, 32, size=shape),
    }
    return Draws(
        {name: values.reshape(shape + values.shape[1:]) for name, values in stacked.items()}, statistics
    )


def make_diagnostics() -> Diagnostics:
    """A verdict with something in every field."""
    quantities = pd.DataFrame(
        {
            "quantity": ["sigma", "log κ[x0]"],
            "r_hat": [1.0 + 1e-16 + 1 / 3, np.nan],
            "ess_bulk": [401.5, np.inf],
            "ess_tail": [500.0, 1.0],
        }
    )
    return Diagnostics(
        verdict="run longer",
        reason="R-hat of sigma is 1.33.",
        remedy="Raise max_draws.",
        ended="max_draws",
        r_hat=float("nan"),
        ess_bulk=401.5,
        ess_tail=1.0,
        worst="log κ[x0]",
        divergences=2,
        acceptance=0.81,
        gradients=12345,
        disagreements=("x0", "f0[level 1]"),
        remedies=("The step size was halved.",),
        seconds=1.25,
        quantities=quantities,
    )


def make_fit(design: Design, prior: Prior, seed: int = 0, chains: int = 2, length: int = 4) -> Fit:
    """A fit of draws that are no posterior, which every answer must take as given."""
    settings = {"sampler": None, "draws": length, "max_draws": 100, "max_seconds": 1.5, "seed": seed}
    draws = make_draws(design, prior, seed, chains, length)
    return Fit(design, prior, draws, make_diagnostics(), settings, provenance(design, seed))
