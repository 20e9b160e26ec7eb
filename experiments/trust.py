"""Trust by one fixed rule, whatever rule a run stops by."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from interplay.data.design import Design
from interplay.effects.conditional import Conditional
from interplay.effects.top_pairs import strongest_pairs
from interplay.inference.draws import Draws
from interplay.inference.mixing import mixing
from interplay.model.engines import choose_engine
from interplay.model.families import Family
from interplay.model.priors.base import Prior
from interplay.model.terms import Term, as_arrays, label, mains
from interplay.results.fit import Fit

R_HAT, ESS, CHAINS = 1.01, 400.0, 4
"""Rank-normalised split R-hat at most, bulk and tail effective sample size at least, and chains."""

LEAST_SIGNAL = 1.0
"""Median of η1² κ² N / σ² from which the κ of a variable is looked at."""

PAIRS, LEADING_FROM = 50, 100
"""Leading pairs whose conditional means are looked at, and draws from which they are found."""

MOST_DRAWS = 2000
"""Draws, evenly spaced over the chains, whose conditional means are computed."""

Series = Mapping[str, Float[np.ndarray, "c i"]]


@dataclass(frozen=True)
class Agreement:
    """How well chains agree on some quantities.

    Parameters
    ----------
    r_hat, ess
        The largest R-hat, and the smallest effective sample size, of the bulk or the tail.
    r_hat_of, ess_of
        Of which quantity.
    chains
        Number of chains.
    """

    r_hat: float
    ess: float
    r_hat_of: str
    ess_of: str
    chains: int

    @property
    def trusted(self) -> bool:
        """Whether the fixed rule holds."""
        return self.chains >= CHAINS and self.r_hat <= R_HAT and self.ess >= ESS


def agreement(series: Series) -> Agreement:
    """The worst of some quantities; what could not be computed is the worst of all."""
    # Conditional means may be of fewer draws than the rest.
    by_length: dict[int, list[str]] = {}
    for name, values in series.items():
        by_length.setdefault(values.shape[1], []).append(name)
    names = [name for some in by_length.values() for name in some]
    parts = [
        mixing(np.stack([np.asarray(series[name], dtype=np.float64) for name in some]))
        for some in by_length.values()
    ]
    r_hat = np.nan_to_num(np.concatenate([part.r_hat for part in parts]), nan=np.inf)
    fewest = np.concatenate([np.minimum(part.ess_bulk, part.ess_tail) for part in parts])
    ess = np.nan_to_num(fewest, nan=0.0)
    high, low = int(np.argmax(r_hat)), int(np.argmin(ess))
    chains = len(series[names[0]])
    return Agreement(float(r_hat[high]), float(ess[low]), names[high], names[low], chains)


def trust(fit: Fit) -> Agreement:
    """How well the chains of a fit agree on all that the fixed rule looks at."""
    return agreement(quantities(fit.design, fit.prior, fit.family, fit.draws))


def quantities(design: Design, prior: Prior, family: Family, draws: Draws) -> Series:
    """Everything that the fixed rule looks at.

    Hyperparameters that vary, log κ of each variable with a median of η1² κ² N / σ² of at least 1, and the
    conditional means of all main effects and of the 50 leading pairs; these means from at most 2000 draws,
    which leaves no more effective draws than there are.
    """
    scales = varying(draws.hyperparameters) | log_kappa(draws.hyperparameters, design)
    pairs = leading_pairs(design, prior, family, draws)
    return scales | conditional_means(design, prior, family, draws, [*mains(design), *pairs], MOST_DRAWS)


def varying(hyperparameters: Mapping[str, np.ndarray]) -> dict[str, Float[np.ndarray, "c i"]]:
    """Every hyperparameter that is one number and varies."""
    return {
        name: values for name, values in hyperparameters.items() if values.ndim == 2 and np.ptp(values) > 0
    }


def log_kappa(
    hyperparameters: Mapping[str, np.ndarray], design: Design
) -> dict[str, Float[np.ndarray, "c i"]]:
    """Log κ of each variable whose signal η1² κ² N / σ² has a median of at least 1."""
    if "kappa" not in hyperparameters:
        return {}
    kappa = hyperparameters["kappa"].astype(np.float64)
    per_kappa = hyperparameters["eta1"] ** 2 * design.n / hyperparameters["sigma"] ** 2
    signal = np.median(kappa**2 * per_kappa[..., None], axis=(0, 1))
    logs = np.log(np.maximum(kappa, np.finfo(np.float64).tiny))
    return {f"log_kappa[{design.names[k]}]": logs[..., k] for k in np.flatnonzero(signal >= LEAST_SIGNAL)}


def leading_pairs(design: Design, prior: Prior, family: Family, draws: Draws) -> list[Term]:
    """The pairs with the largest |mean| / sd, by a hundred draws."""
    if len(design.variables) < 2:
        return []
    each = max(LEADING_FROM // draws.chains, 1)
    terms, _ = strongest_pairs(_conditional(design, prior, family, _thinned(draws, each)), design, PAIRS)
    return terms


def conditional_means(
    design: Design,
    prior: Prior,
    family: Family,
    draws: Draws,
    terms: list[Term],
    most: int | None = MOST_DRAWS,
) -> dict[str, Float[np.ndarray, "c i"]]:
    """Means of terms given each of at most so many draws."""
    thinned = _thinned(draws, draws.length if most is None else most // draws.chains)
    conditional, arrays = _conditional(design, prior, family, thinned), as_arrays(terms)
    found = conditional.over_draws(lambda posterior: posterior.means(arrays))
    means = np.stack([np.full(len(terms), np.nan) if one is None else one for one in found])
    by_chain = means.reshape(draws.chains, -1, len(terms))
    return {f"effect[{label(term, design)}]": by_chain[:, :, k] for k, term in enumerate(terms)}


def _thinned(draws: Draws, each: int) -> dict[str, np.ndarray]:
    """At most so many draws of each chain, evenly spaced, one chain after the other."""
    kept = np.unique(np.linspace(0, draws.length - 1, min(each, draws.length)).astype(int))
    return {
        name: values[:, kept].reshape(-1, *values.shape[2:]).astype(np.float64)
        for name, values in draws.hyperparameters.items()
    }


def _conditional(
    design: Design, prior: Prior, family: Family, parameters: dict[str, np.ndarray]
) -> Conditional:
    count = len(next(iter(parameters.values())))
    working = tuple(
        family.working({name: np.asarray(values[s]) for name, values in parameters.items()}, design)
        for s in range(count)
    )
    return Conditional(choose_engine(design, prior), prior.variances(parameters, design.p), working)
