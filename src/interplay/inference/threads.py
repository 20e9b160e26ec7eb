"""Chains in threads: that keeps every core busy, where one matrix product cannot.

Several chains in one batched computation would be no faster on a processor, and batched factorisations in two
threads at once hang in XLA's pool (JAX 0.10).
"""

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeVar

import jax
from threadpoolctl import threadpool_limits

T = TypeVar("T")
R = TypeVar("R")

SINGLE_THREAD = {"xla_cpu_multi_thread_eigen": False}
"""Compiler options of what runs in a worker: they hold for that function, not for the user's program."""

Workers = Callable[[Callable[[T], R], Sequence[T]], list[R]]
"""Apply a function to each item, several at a time, and give the results in order."""


def in_turn(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """The same in the thread that calls."""
    return [function(item) for item in items]


@contextmanager
def workers() -> Iterator[Workers]:
    """As many worker threads as there are cores, each with a linear algebra of one thread."""
    with threadpool_limits(limits=1), ThreadPoolExecutor(cores()) as pool:

        def apply(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
            def scoped(item: T) -> R:
                with jax.enable_x64(True):
                    return function(item)

            return list(pool.map(scoped, items))

        yield apply


def first_alone(workers: Workers[T, R], function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """The same as `workers`, the first item before all others: two threads would compile a function twice."""
    return [*workers(function, items[:1]), *workers(function, items[1:])]


def cores() -> int:
    """The cores that this process may use, where the system tells; all of them elsewhere."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def release_memory() -> None:
    """Give what the compiler has freed back to the system, some 200 MB, where the C library can (glibc)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
