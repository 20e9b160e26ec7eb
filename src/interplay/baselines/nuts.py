"""NumPyro's NUTS, which samples the baselines: chains one after the other, in double precision."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Key

from interplay.precision import double_precision

try:
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


@double_precision
def run(
    kernel: Any,
    *,
    seed: int,
    chains: int,
    warmup: int,
    draws: int,
    start: dict[str, Any] | None = None,
) -> Chains:
    """Run NumPyro's MCMC with the given kernel.

    Parameters
    ----------
    kernel
        A `numpyro.infer.NUTS`, of a model or of a potential.
    seed, chains, warmup, draws
        Seed, number of chains, and iterations of each chain.
    start
        Where to start, arrays with the chains as their first axis; by default as the kernel chooses.
    """

    # MCMC's own sequential chains compile each anew; a map over single chains compiles once.
    @jax.jit
    def every_chain(keys: Key[Array, " c"], start: Any) -> tuple[dict[str, Array], dict[str, Array]]:
        def one(chain: tuple[Key[Array, ""], Any]) -> tuple[dict[str, Array], dict[str, Array]]:
            sampler = MCMC(kernel, num_warmup=warmup, num_samples=draws, progress_bar=False)
            sampler.run(chain[0], extra_fields=("diverging", "num_steps"), init_params=chain[1])
            return sampler.get_samples(), sampler.get_extra_fields()

        return jax.lax.map(one, (keys, start))

    samples, extra = every_chain(jax.random.split(jax.random.key(seed), chains), start)
    return Chains(
        draws={name: np.asarray(value) for name, value in samples.items()},
        divergences=int(extra["diverging"].sum()),
        gradients=int(extra["num_steps"].sum()),
    )
