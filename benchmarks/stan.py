"""SKIM in Stan, as one would write it, in a process of its own: `python -m benchmarks.stan`."""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from interplay.data.design import Design
    from interplay.model.priors.skim import SKIM

PROGRAM = """
data {
  int<lower=1> n;
  int<lower=1> p;
  matrix[n, p] X;
  vector[n] y;
  real<lower=0> expected_mains;
  real<lower=0> main_shape;
  real<lower=0> main_scale;
  real<lower=0> interaction_shape;
  real<lower=0> interaction_scale;
  real<lower=0> noise_scale;
  real<lower=0> intercept_scale;
}
transformed data {
  matrix[n, p] F = square(X);
  vector[n] zero = rep_vector(0, n);
}
parameters {
  real<lower=0> sigma;
  real<lower=0> m_sq;
  real<lower=0> xi_sq;
  real<lower=0> eta1;
  vector<lower=0>[p] lam;
}
transformed parameters {
  real eta2 = square(eta1) * sqrt(xi_sq) / m_sq;
  vector[p] kappa = sqrt(m_sq ./ (m_sq + square(eta1 * lam))) .* lam;
}
model {
  matrix[n, n] K1 = tcrossprod(diag_post_multiply(X, kappa));
  matrix[n, n] K2 = tcrossprod(diag_post_multiply(F, square(kappa)));
  matrix[n, n] K = square(intercept_scale) + square(eta1) * K1 + 0.5 * square(eta2) * (square(K1) - K2);

  sigma ~ normal(0, noise_scale);
  m_sq ~ inv_gamma(main_shape, main_scale);
  xi_sq ~ inv_gamma(interaction_shape, interaction_scale);
  eta1 ~ cauchy(0, expected_mains / (p - expected_mains) * sigma / sqrt(n));
  lam ~ cauchy(0, 1);
  y ~ multi_normal_cholesky(zero, cholesky_decompose(add_diag(K, square(sigma))));
}
"""
"""The model with the effects integrated out, and without quadratic effects."""

QUANTITIES = ("sigma", "m_sq", "xi_sq", "eta1", "eta2", "lam", "kappa")
"""What is kept of each draw."""

MISSING = "pystan is not installed: `pip install interplay[stan]`"
"""What stands in place of Stan's figures where there are none."""


@dataclass(frozen=True)
class Sampled:
    """What Stan drew, and what it took.

    Parameters
    ----------
    draws
        `QUANTITIES`, and `intercept_scale` and `eta3`, which are fixed: (chains, draws, …).
    gradients, warmup_gradients
        Leapfrog steps of all chains, in the draws and in the warm-up.
    divergences
        Among the draws.
    compile_seconds
        From the program to a module, by Stan and the C++ compiler, without a cache.
    seconds
        Of sampling, warm-up included, all chains.
    step_size
        Of each chain after its warm-up.
    """

    draws: dict[str, np.ndarray]
    gradients: int
    warmup_gradients: int
    divergences: int
    compile_seconds: float
    seconds: float
    step_size: tuple[float, ...]

    @property
    def warmup_seconds(self) -> float:
        """The part of the seconds that the warm-up took, by gradients."""
        return self.seconds * self.warmup_gradients / (self.warmup_gradients + self.gradients)


def available() -> bool:
    """Whether pystan is installed."""
    return find_spec("stan") is not None


def sample(
    design: "Design",
    prior: "SKIM",
    *,
    seed: int = 0,
    chains: int = 4,
    warmup: int = 1000,
    draws: int = 1000,
    limit: float | None = None,
) -> Sampled:
    """Sample p(τ, σ | y) in a fresh process, where each chain is a process of its own on the same cores.

    Parameters
    ----------
    design
        The data: numbers only.
    prior
        SKIM with pairs and without quadratic effects.
    seed, chains, warmup, draws
        Of Stan's NUTS with a diagonal metric; the rest is as Stan has it.
    limit
        Seconds after which to give up with `subprocess.TimeoutExpired`.
    """
    if not available():
        raise ImportError(MISSING)
    if prior.quadratic or prior.degree != 2 or design.d != design.p:
        raise ValueError("Stan's program is of SKIM(quadratic=False, degree=2) and of numbers.")
    settings = {"seed": seed + 1, "chains": chains, "warmup": warmup, "draws": draws}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "data.json", Path(folder) / "draws.npz"
        source.write_text(json.dumps({"data": data(design, prior), "settings": settings}))
        command = [sys.executable, "-m", "benchmarks.stan", str(source), str(target)]
        _run(command, folder, limit)
        found = dict(np.load(target))
    shape = found["sigma"].shape
    fixed = {"intercept_scale": np.full(shape, float(prior.intercept_scale)), "eta3": np.zeros(shape)}
    return Sampled(
        draws={name: found[name] for name in QUANTITIES} | fixed,
        gradients=int(found["gradients"]),
        warmup_gradients=int(found["warmup_gradients"]),
        divergences=int(found["divergences"]),
        compile_seconds=float(found["compile_seconds"]),
        seconds=float(found["seconds"]),
        step_size=tuple(found["step_size"].tolist()),
    )


def data(design: "Design", prior: "SKIM") -> dict[str, object]:
    """The data block of the program."""
    # Imported here, so that a process that only compiles and samples does not load the package.
    from interplay.model.families import Gaussian

    p = design.p
    return {
        "n": design.n,
        "p": p,
        "X": design.X.tolist(),
        "y": design.y.tolist(),
        "expected_mains": min(5.0, p / 2) if prior.expected_mains is None else float(prior.expected_mains),
        "main_shape": float(prior.main_shape),
        "main_scale": float(prior.main_scale),
        "interaction_shape": float(prior.interaction_shape),
        "interaction_scale": float(prior.interaction_scale),
        "noise_scale": float(Gaussian().noise_scale),
        "intercept_scale": float(prior.intercept_scale),
    }


def _run(command: list[str], folder: str, limit: float | None) -> None:
    """Run a command of several processes in a folder, and end all of them at the limit."""
    # pystan keeps compiled programs in the user's cache: a new one, so that compilation counts. The compiler
    # leaves its files where it runs.
    settings = {"XDG_CACHE_HOME": folder, "PYTHONPATH": str(Path(__file__).parents[1])}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        raise
    if process.returncode:
        raise RuntimeError(f"Stan failed:\n{errors}")


def _sample(source: Path, target: Path) -> None:
    import stan

    request = json.loads(source.read_text())
    settings = request["settings"]
    start = time.perf_counter()
    model = stan.build(PROGRAM, data=request["data"], random_seed=settings["seed"])
    built = time.perf_counter()
    fit = model.sample(
        num_chains=settings["chains"],
        num_warmup=settings["warmup"],
        num_samples=settings["draws"],
        save_warmup=True,
    )
    seconds = time.perf_counter() - built

    def chains(name: str) -> np.ndarray:
        # pystan gives (…, iterations × chains) with the chain changing fastest.
        values = fit[name]
        values = values.reshape(*values.shape[:-1], -1, settings["chains"])
        values = np.moveaxis(values, (-1, -2), (0, 1))
        return values[..., 0] if values.shape[2:] == (1,) and name != "lam" else values

    def after(name: str) -> np.ndarray:
        return chains(name)[:, settings["warmup"] :]

    steps = chains("n_leapfrog__")
    sampled = {
        "gradients": steps[:, settings["warmup"] :].sum(),
        "warmup_gradients": steps[:, : settings["warmup"]].sum(),
        "divergences": after("divergent__").sum(),
        "step_size": after("stepsize__")[:, 0],
        "compile_seconds": built - start,
        "seconds": seconds,
        **{name: after(name) for name in QUANTITIES},
    }
    np.savez(target, allow_pickle=False, **sampled)


if __name__ == "__main__":
    _sample(Path(sys.argv[1]), Path(sys.argv[2]))
