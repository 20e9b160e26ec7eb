"""Double precision inside interplay, without changing the JAX settings of the user's program."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import jax

P = ParamSpec("P")
R = TypeVar("R")


def double_precision(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function with 64-bit JAX arrays, and only that function.

    Every public entry point that computes is wrapped in this: the Cholesky factor needs 64 bits. Such a
    function takes and returns NumPy arrays, because a 64-bit JAX array is cut to 32 bits by the first
    operation outside the scope.
    """

    @wraps(function)
    def scoped(*args: P.args, **kwargs: P.kwargs) -> R:
        with jax.enable_x64(True):
            return function(*args, **kwargs)

    return scoped
