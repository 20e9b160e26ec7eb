"""Work on all cores at once, each with a linear algebra of its own.

Most of a small fit is short NumPy calls, between which threads wait for each other, so items are
worked on by forked processes, which share the data with their parent as it is. Where a system cannot fork
safely, threads do it. The results are the same.
"""

import ctypes
import gc
import os
import pickle
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import IO, Any, NoReturn, TypeVar

from threadpoolctl import threadpool_limits

T = TypeVar("T")
R = TypeVar("R")

Workers = Callable[[Callable[[T], R], Sequence[T]], list[R]]
"""Apply a function to each item, several at a time, and return the results in order."""

PR_SET_PDEATHSIG = 1
"""Linux's request for a signal when the parent dies."""


def serially(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Run items one after another."""
    return [function(item) for item in items]


@contextmanager
def workers(blas_threads: int = 1) -> Iterator[Workers]:
    """As many workers as there are cores.

    What a function changes in its arguments, or elsewhere, may be lost: only its result comes back.

    Parameters
    ----------
    blas_threads
        Threads of the linear algebra inside a worker; results depend on it in their last digits.
    """
    with threadpool_limits(limits=blas_threads, user_api="blas"):
        if cores() == 1:
            yield serially
        elif sys.platform == "linux":
            yield _in_processes
        else:
            with ThreadPoolExecutor(cores()) as pool:
                yield lambda function, items: list(pool.map(function, items))


def cores() -> int:
    """The cores that this process may use, where the system tells; all of them elsewhere."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def _in_processes(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Take items in turn: some in this process, the others in children that live until they are done."""
    count = min(cores(), len(items))
    if count <= 1:
        return serially(function, items)
    children: list[tuple[int, IO[bytes]]] = []
    try:
        for share in range(1, count):
            children.append(_child(function, items[share::count]))
        results: list[list[R]] = [serially(function, items[0::count])]
        while children:
            results.append(_result_of(*children.pop(0)))
    finally:
        for process, pipe in children:
            _end(process, pipe)
    return [results[index % count][index // count] for index in range(len(items))]


def _child(function: Callable[[T], R], items: Sequence[T]) -> tuple[int, IO[bytes]]:
    """Start a process on some items; its number, and where its results come out."""
    parent, (source, sink) = os.getpid(), os.pipe()
    with warnings.catch_warnings():
        # Python and JAX warn of a fork beside other threads, whose locks the child would wait for. The child
        # calls nothing but NumPy and LAPACK, which hold no lock of another thread, and ends without clean-up.
        warnings.simplefilter("ignore")
        process = os.fork()
    if process == 0:
        os.close(source)
        _work(function, items, parent, sink)
    os.close(sink)
    return process, os.fdopen(source, "rb")


def _work(function: Callable[[T], R], items: Sequence[T], parent: int, sink: int) -> NoReturn:
    """The life of a child, which ends without the clean-up that is its parent's."""
    try:
        # Ctrl-C goes to every process of a terminal, and is for the parent to act on.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        gc.disable()  # a collection would write to, and so copy, all memory that is shared with the parent
        outcome: tuple[bool, Any]
        try:
            outcome = True, serially(function, items)
        except BaseException as error:
            outcome = False, error
        with os.fdopen(sink, "wb") as pipe:
            pickle.dump(outcome, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    finally:
        os._exit(0)


def _result_of(process: int, pipe: IO[bytes]) -> Any:
    """What a child found, or the error that it met, raised here."""
    try:
        succeeded, result = pickle.load(pipe)
    except EOFError:
        raise RuntimeError(
            "A worker process ended before its work was done, most likely because the system ran out of"
            " memory. Close other programs, or fit fewer rows or columns."
        ) from None
    finally:
        _end(process, pipe)
    if not succeeded:
        raise result
    return result


def _end(process: int, pipe: IO[bytes]) -> None:
    """Be rid of a child, whether it is done or not."""
    os.kill(process, signal.SIGKILL)
    pipe.close()
    os.waitpid(process, 0)
