"""NumPyro's NUTS, which samples the baselines: chains one after the other, in double precision."""

from dataclasses import dataclass
from typing import Any

import numpy as np

try:
    import jax
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS
except ImportError as error:
    raise ImportError(
        "This baseline is sampled by NumPyro, which is not installed. Install it with"
        " `pip install interplay[bench]`."
    ) from error


__all__ = ["NUTS", "Chains", "dist", "numpyro", "run"]


@dataclass(frozen=True)
class Chains:
    """Draws of several chains, after their warm-up.

    Parameters
    ----------
    draws
        Draws of each quantity, (chains, draws, …).
    divergences
        Number of transitions that left the region where the integrator is stable.
    gradients
        Number of gradients that the draws took.
    """

    draws: dict[str, np.ndarray]
    divergences: int
    gradients: int


def run(kernel: Any, *, seed: int, chains: int, warmup: int, draws: int) -> Chains:
    """Run NumPyro's MCMC with a kernel.

    Parameters
    ----------
    kernel
        A `numpyro.infer.NUTS` of a model, whose initialisation strategy says where chains start.
    seed, chains, warmup, draws
        Seed, number of chains, and iterations of each chain.
    """

    def one_chain(key: jax.Array) -> tuple[dict[str, jax.Array], dict[str, jax.Array]]:
        sampler = MCMC(kernel, num_warmup=warmup, num_samples=draws, progress_bar=False)
        sampler.run(key, extra_fields=("diverging", "num_steps"))
        return sampler.get_samples(), sampler.get_extra_fields()

    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(seed), chains)
        # MCMC's own sequential chains compile each anew; a map over single chains compiles once.
        samples, statistics = jax.jit(lambda keys: jax.lax.map(one_chain, keys))(keys)
        return Chains(
            draws={name: np.asarray(value) for name, value in samples.items()},
            divergences=int(statistics["diverging"].sum()),
            gradients=int(statistics["num_steps"].sum()),
        )
