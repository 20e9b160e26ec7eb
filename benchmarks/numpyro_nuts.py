"""NumPyro's NUTS on the plain density, a process for each core: `python -m benchmarks.numpyro_nuts`."""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import Problem
from benchmarks.row import Row

CHAINS = 4

STRETCH = 25
"""Iterations of one call, after each of which the time is noted."""

DRAWS = 1000
"""Draws of each chain after which sampling ends."""

LIMIT, AFTER = 1800.0, 600.0
"""Seconds after which it ends in any case: in all, and after the warm-up."""


@dataclass(frozen=True)
class Part:
    """What the chains of one process drew, and when.

    Parameters
    ----------
    draws
        Of each quantity, (chains, draws, …), as far as they came.
    times, busy
        Seconds from the beginning to the end of each stretch of all chains; and as the processor counts them.
    gradients, divergences
        Of each stretch, added over the chains.
    bytes
        Peak resident memory.
    """

    draws: dict[str, np.ndarray]
    times: np.ndarray
    busy: np.ndarray
    gradients: np.ndarray
    divergences: np.ndarray
    bytes: float


def measure(
    problem: Problem,
    threads: int,
    *,
    warmup: int = 1000,
    draws: int = DRAWS,
    limit: float = LIMIT,
    after: float = AFTER,
) -> Row:
    """Run four chains, shared out to as many processes as there are threads, each bound to a core.

    Parameters
    ----------
    problem
        The data.
    threads
        Number of processes. In each of them, chains go on by turns.
    warmup, draws
        Iterations of each chain. The rest is as NumPyro has it.
    limit, after
        Seconds after which no further stretch is begun: in all, and after the warm-up.
    """
    from benchmarks.quality import first_enough, quality, watched
    from interplay.data.design import design
    from interplay.data.simulate import synthetic
    from interplay.inference.stopping import ESS, R_HAT
    from interplay.model.priors.skim import SKIM

    parts = _parts(problem, threads, warmup, draws, (limit, after))
    first = -(-warmup // STRETCH)
    stretches = min(len(part.times) for part in parts)
    settings = (
        f"{CHAINS} chains in {threads} processes of one core each, {warmup} iterations of warm-up, at most"
        f" {limit:.0f} s, {after:.0f} s of it after the warm-up"
    )
    seconds = max(float(part.times[stretches - 1]) for part in parts)
    total = int(sum(part.gradients.sum() for part in parts))
    peak = sum(part.bytes for part in parts)
    if stretches <= first + 1:
        note = f"{settings}: ended after {stretches * STRETCH} iterations, in the warm-up"
        return Row(
            "NumPyro",
            problem,
            seconds=seconds,
            chains=CHAINS,
            draws=0,
            warmup_gradients=total,
            bytes=peak,
            note=note,
        )
    length = (stretches - first) * STRETCH
    joined = {
        name: np.concatenate([part.draws[name][:, :length] for part in parts]) for name in parts[0].draws
    }
    simulation = synthetic(problem.n, problem.p, scale=problem.scale, seed=problem.seed)
    series = watched(
        design(simulation.X, simulation.y), SKIM(quadratic=False), joined, list(simulation.effects)
    )
    found = quality(series)
    warm = max(float(part.times[first - 1]) for part in parts)
    lengths = range(4 * STRETCH, length + 1, STRETCH)
    enough = first_enough(series, lengths)
    if enough is not None:
        to_enough = max(float(part.times[first + enough // STRETCH - 1]) for part in parts)
    elif found.r_hat <= R_HAT:
        to_enough = warm + (seconds - warm) * ESS / min(found.ess_bulk, found.ess_tail)
    else:
        to_enough = None
        settings += f"; R-hat was {found.r_hat:.2f} at the end"
    return Row(
        "NumPyro",
        problem,
        seconds=seconds,
        to_enough=to_enough,
        extrapolated=enough is None and to_enough is not None,
        sampling_seconds=seconds - warm,
        processor_seconds=sum(float(part.busy[stretches - 1] - part.busy[first - 1]) for part in parts),
        chains=CHAINS,
        draws=length,
        gradients=int(sum(part.gradients[first:stretches].sum() for part in parts)),
        warmup_gradients=int(sum(part.gradients[:first].sum() for part in parts)),
        ess_bulk=found.ess_bulk,
        ess_tail=found.ess_tail,
        r_hat=found.r_hat,
        worst=found.worst,
        divergences=int(sum(part.divergences[first:stretches].sum() for part in parts)),
        bytes=peak,
        note=settings,
    )


def _parts(
    problem: Problem, threads: int, warmup: int, draws: int, limits: tuple[float, float]
) -> list[Part]:
    root = Path(__file__).parents[1]
    environment = os.environ | dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
    )
    environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    with tempfile.TemporaryDirectory() as folder:
        targets = [Path(folder) / f"{k}.npz" for k in range(threads)]
        processes = []
        for k, target in enumerate(targets):
            request = {
                "problem": vars(problem),
                "chains": list(range(k, CHAINS, threads)),
                "core": k,
                "warmup": warmup,
                "draws": draws,
                "limits": limits,
                "target": str(target),
            }
            command = [sys.executable, "-m", "benchmarks.numpyro_nuts", json.dumps(request)]
            process = subprocess.Popen(
                command,
                cwd=root,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            processes.append(process)
        errors = [process.communicate()[1] for process in processes]
        for process, error in zip(processes, errors, strict=True):
            if process.returncode:
                raise RuntimeError(f"NumPyro at {problem} failed:\n{error}")
        return [_read(target) for target in targets]


def _read(target: Path) -> Part:
    found = dict(np.load(target))
    own = {name: found.pop(name) for name in ("times", "busy", "gradients", "divergences", "bytes")}
    return Part(draws=found, **(own | {"bytes": float(own["bytes"])}))


def _sample(request: dict[str, Any]) -> None:
    os.sched_setaffinity(0, [sorted(os.sched_getaffinity(0))[request["core"]]])
    import jax

    from benchmarks.probe import memory
    from interplay.baselines.nuts import NUTS
    from interplay.baselines.plain import model
    from interplay.data.design import design
    from interplay.data.simulate import synthetic
    from interplay.model.priors.skim import SKIM

    problem = Problem(**request["problem"])
    simulation = synthetic(problem.n, problem.p, scale=problem.scale, seed=problem.seed)
    made, prior = design(simulation.X, simulation.y), SKIM(quadratic=False)
    # The warm-up in whole stretches, so that none has both.
    warmup = -(-request["warmup"] // STRETCH)
    stretches = warmup + -(-request["draws"] // STRETCH)
    times, busy, steps, divergences, positions = [], [], [], [], []
    start = time.perf_counter()
    with jax.enable_x64(True):
        kernel = NUTS(model(made, prior))
        states = [
            kernel.init(jax.random.key(1000 * problem.seed + chain), warmup * STRETCH, None, (), {})
            for chain in request["chains"]
        ]

        @jax.jit
        def advance(state: Any) -> Any:
            def one(state: Any, _: None) -> Any:
                state = kernel.sample(state, (), {})
                return state, (state.z, state.num_steps, state.diverging)

            return jax.lax.scan(one, state, None, length=STRETCH)

        for stretch in range(stretches):
            moved = [jax.block_until_ready(advance(state)) for state in states]
            states = [state for state, _ in moved]
            times.append(time.perf_counter() - start)
            busy.append(time.process_time())
            steps.append(sum(int(kept[1].sum()) for _, kept in moved))
            divergences.append(sum(int(kept[2].sum()) for _, kept in moved))
            if stretch >= warmup:
                positions.append([jax.tree.map(np.asarray, kept[0]) for _, kept in moved])
            limit, after = request["limits"]
            warm = times[warmup - 1] if stretch >= warmup else times[-1]
            if times[-1] > limit or times[-1] - warm > after:
                break
        peak = memory("VmHWM")
        draws = {}
        if positions:
            every = jax.jit(jax.vmap(jax.vmap(kernel.postprocess_fn((), {}))))
            chains = [
                jax.tree.map(lambda *values: np.concatenate(values), *(stretch[k] for stretch in positions))
                for k in range(len(states))
            ]
            stacked = jax.tree.map(lambda *values: np.stack(values), *chains)
            draws = {name: np.asarray(values) for name, values in every(stacked).items()}
    arrays: dict[str, Any] = {"times": times, "busy": busy, "gradients": steps, "divergences": divergences}
    np.savez(request["target"], **(draws | arrays | {"bytes": peak}))


if __name__ == "__main__":
    _sample(json.loads(sys.argv[1]))
