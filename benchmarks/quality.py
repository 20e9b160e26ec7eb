"""How many effective draws there are of what matters, by the same measure for every sampler."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from interplay.data.design import Design
from interplay.effects.conditional import Conditional
from interplay.inference.stopping import ESS, R_HAT, assess
from interplay.model.families import Gaussian
from interplay.model.posterior import Posterior
from interplay.model.priors.skim import SKIM
from interplay.model.terms import Term, label

PART = 256
"""Draws at a time, which bounds the memory."""

Series = Float[np.ndarray, "c i"]


@dataclass(frozen=True)
class Quality:
    """The worst of all quantities: R-hat, bulk and tail effective sample size, and which has the fewest."""

    r_hat: float
    ess_bulk: float
    ess_tail: float
    worst: str

    @property
    def enough(self) -> bool:
        """Whether R-hat ≤ 1.01 and both effective sample sizes ≥ 400."""
        return bool(self.r_hat <= R_HAT and min(self.ess_bulk, self.ess_tail) >= ESS)


def watched(
    design: Design, prior: SKIM, draws: Mapping[str, np.ndarray], terms: Sequence[Term]
) -> dict[str, Series]:
    """Log σ, log η1, and the conditional means of some effects, for each chain and draw.

    Parameters
    ----------
    design, prior
        The model.
    draws
        Draws of the hyperparameters, each array (chains, draws, …).
    terms
        The effects.
    """
    shape = draws["sigma"].shape
    flat = {name: values.reshape(-1, *values.shape[2:]) for name, values in draws.items()}
    posterior = Posterior.of(design, prior, Gaussian(), precision="float64")
    parts = []
    for start in range(0, len(flat["sigma"]), PART):
        some = {name: np.asarray(values[start : start + PART], float) for name, values in flat.items()}
        working = [posterior.working({"sigma": sigma}) for sigma in map(np.asarray, some["sigma"])]
        parts.append(Conditional(posterior.engine, posterior.variances(some), working).effects(terms)[0])
    means = np.concatenate(parts).reshape(*shape, len(terms))
    logs = {f"log {name}": np.log(np.asarray(draws[name], dtype=np.float64)) for name in ("sigma", "eta1")}
    return logs | {label(term, design): means[:, :, k] for k, term in enumerate(terms)}


def quality(series: Mapping[str, Series], length: int | None = None) -> Quality:
    """The worst of all quantities, over the first so many draws of each chain."""
    found = assess({name: values[:, :length] for name, values in series.items()})
    return Quality(
        r_hat=max(one[0] for one in found.values()),
        ess_bulk=min(one[1] for one in found.values()),
        ess_tail=min(one[2] for one in found.values()),
        worst=min(found, key=lambda name: found[name][1]),
    )


def first_enough(series: Mapping[str, Series], lengths: Sequence[int]) -> int | None:
    """The first of the numbers of draws with which there is enough of everything, or None."""
    return next((length for length in lengths if quality(series, length).enough), None)
