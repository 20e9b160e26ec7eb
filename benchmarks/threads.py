"""A fixed number of threads, settled before NumPy, or JAX for a reference, is loaded."""

import os
import sys

MARK = "INTERPLAY_BENCHMARK_THREADS"
"""Environment variable that says that the process was started with its threads settled."""


def settle(threads: int) -> None:
    """Start this process again, bound to as many cores as it may have threads.

    OpenBLAS and JAX read their settings once, when they are loaded: so nothing that loads them may be
    imported before this has returned. Processes that are started later inherit the settings.
    """
    if os.environ.get(MARK) == str(threads):
        return
    if sys.platform != "linux":
        raise SystemExit("The benchmarks bind cores and read /proc: they run on Linux alone.")
    cores = sorted(os.sched_getaffinity(0))
    if not 1 <= threads <= len(cores):
        raise SystemExit(
            f"--threads {threads}: expected a number from 1 to {len(cores)}, the cores there are."
        )
    os.sched_setaffinity(0, cores[-threads:])
    eigen = "true" if threads > 1 else "false"
    flags = f"--xla_cpu_multi_thread_eigen={eigen} intra_op_parallelism_threads={threads}"
    settings = {
        MARK: str(threads),
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip(),
        "JAX_PLATFORMS": "cpu",
        "OMP_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
    }
    os.execve(sys.executable, [sys.executable, "-m", "benchmarks", *sys.argv[1:]], os.environ | settings)
