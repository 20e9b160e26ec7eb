"""Ctrl-C while sampling: noted at once, and acted on between two chunks, where nothing is lost."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_pressed = threading.Event()


@contextmanager
def noting_interrupts() -> Iterator[Callable[[], None]]:
    """Give a function that raises KeyboardInterrupt if Ctrl-C was pressed since.

    Raised wherever the main thread happens to be, as Python does it, the exception is lost if that is a
    destructor, or a callback of the garbage collector or of a weak reference. A
    second Ctrl-C is raised at once. One such context within another shares what it noted. Where a program
    handles Ctrl-C in its own way, or outside its main thread, nothing is changed.
    """
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield _raise_if_interrupted if signal.getsignal(signal.SIGINT) is _note else _nothing
        return
    _pressed.clear()
    signal.signal(signal.SIGINT, _note)
    try:
        yield _raise_if_interrupted
    finally:
        if signal.getsignal(signal.SIGINT) is _note:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _note(number: int, frame: FrameType | None) -> None:
    if _pressed.is_set():
        signal.default_int_handler(number, frame)
    _pressed.set()


def _raise_if_interrupted() -> None:
    if _pressed.is_set():
        raise KeyboardInterrupt


def _nothing() -> None:
    pass
