"""Time and memory of one call, in a process that does nothing else."""

import time
from collections.abc import Callable
from typing import TypeVar

from benchmarks.probe import forget_peak, memory

T = TypeVar("T")


def measured(call: Callable[[], T]) -> tuple[T, dict[str, float]]:
    """What a call gives, and what it took.

    Returns
    -------
    tuple
        The value, and `seconds` of wall time; `processor_seconds`, added over threads; `peak_bytes`, the most
        resident memory of the process meanwhile; and `loaded_bytes`, what it held before: libraries, data.
    """
    loaded = forget_peak()
    before, busy = time.perf_counter(), time.process_time()
    value = call()
    return value, {
        "seconds": time.perf_counter() - before,
        "processor_seconds": time.process_time() - busy,
        "peak_bytes": memory("VmHWM"),
        "loaded_bytes": loaded,
    }
