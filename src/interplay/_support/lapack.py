"""The Cholesky factor, triangular solves and inverses of SciPy's LAPACK, without the interpreter lock.

SciPy's own wrappers (`scipy.linalg.lapack`) hold Python's global interpreter lock while LAPACK works, so that
chains in threads would wait for each other. The same routines are reached here through the addresses that
`scipy.linalg.cython_lapack` and `cython_blas` export for compiled extensions; `ctypes` releases the lock.
Matrices are in Fortran order and are overwritten, as LAPACK does it.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.linalg import cython_blas, cython_lapack

Matrix = Float[np.ndarray, "n m"]

_INT, _CHAR, _POINTER = ctypes.c_int, ctypes.c_char, ctypes.c_void_p


def _routine(module: Any, name: str, arguments: int) -> Callable[..., None]:
    """The routine of this name, whose arguments are all addresses."""
    capsule = module.__pyx_capi__[name]
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = get_pointer(capsule, get_name(capsule))
    return ctypes.CFUNCTYPE(None, *[_POINTER] * arguments)(address)


_POTRF = {kind: _routine(cython_lapack, f"{kind}potrf", 5) for kind in "sd"}
_POTRI = {kind: _routine(cython_lapack, f"{kind}potri", 5) for kind in "sd"}
_TRTRI = {kind: _routine(cython_lapack, f"{kind}trtri", 6) for kind in "sd"}
_TRSM = {kind: _routine(cython_blas, f"{kind}trsm", 11) for kind in "sd"}
_SYRK = {kind: _routine(cython_blas, f"{kind}syrk", 10) for kind in "sd"}

_KINDS = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
_SCALARS = {"s": ctypes.c_float, "d": ctypes.c_double}


def cholesky(matrix: Matrix) -> bool:
    """Overwrite the lower triangle of a matrix with its Cholesky factor.

    Returns
    -------
    bool
        Whether the matrix is positive definite. What stands above the diagonal is left as it was.
    """
    kind, n = _check(matrix)
    info = _INT(0)
    _POTRF[kind](_char(b"L"), _int(n), _data(matrix), _int(n), ctypes.addressof(info))
    return info.value == 0


def inverse_from_factor(factor: Matrix) -> None:
    """Overwrite the lower triangle of L with that of (L Lᵀ)⁻¹."""
    kind, n = _check(factor)
    info = _INT(0)
    _POTRI[kind](_char(b"L"), _int(n), _data(factor), _int(n), ctypes.addressof(info))


def invert_triangle(factor: Matrix) -> None:
    """Overwrite the lower triangle of L with that of L⁻¹."""
    kind, n = _check(factor)
    info = _INT(0)
    _TRTRI[kind](_char(b"L"), _char(b"N"), _int(n), _data(factor), _int(n), ctypes.addressof(info))


def solve_triangle(factor: Matrix, right: Float[np.ndarray, "n k"], *, transposed: bool = False) -> None:
    """Overwrite B, in Fortran order, with L⁻¹ B, or with L⁻ᵀ B."""
    kind, n = _check(factor)
    if right.shape[0] != n or not right.flags.f_contiguous or right.dtype != factor.dtype:
        raise ValueError(f"Expected {n} rows of {factor.dtype} in Fortran order, got {right.shape}.")
    side = b"T" if transposed else b"N"
    one = _SCALARS[kind](1.0)
    _TRSM[kind](
        _char(b"L"),
        _char(b"L"),
        _char(side),
        _char(b"N"),
        _int(n),
        _int(right.size // n if n else 0),
        ctypes.addressof(one),
        _data(factor),
        _int(n),
        _data(right),
        _int(n),
    )


def add_gram(columns: Float[np.ndarray, "n k"], total: Matrix, *, sign: float = 1.0) -> None:
    """Add ± C Cᵀ to the lower triangle of a matrix; both are in Fortran order, of one precision."""
    kind, n = _check(total)
    if columns.shape[0] != n or not columns.flags.f_contiguous or columns.dtype != total.dtype:
        raise ValueError(f"Expected {n} rows of {total.dtype} in Fortran order, got {columns.shape}.")
    scale, one = _SCALARS[kind](sign), _SCALARS[kind](1.0)
    _SYRK[kind](
        _char(b"L"),
        _char(b"N"),
        _int(n),
        _int(columns.shape[1]),
        ctypes.addressof(scale),
        _data(columns),
        _int(max(n, 1)),
        ctypes.addressof(one),
        _data(total),
        _int(n),
    )


def _check(matrix: Matrix) -> tuple[str, int]:
    n = matrix.shape[0]
    if matrix.shape != (n, n) or not matrix.flags.f_contiguous:
        raise ValueError(f"Expected a square matrix in Fortran order, got {matrix.shape}.")
    return _KINDS[matrix.dtype], n


# The objects behind the addresses must outlive the call: they are made once and kept.
_LETTERS = {letter: _CHAR(letter) for letter in (b"L", b"N", b"T")}
_CHARS = {letter: ctypes.addressof(value) for letter, value in _LETTERS.items()}
_INTS: dict[int, tuple[ctypes.c_int, int]] = {}


def _char(letter: bytes) -> int:
    return _CHARS[letter]


def _int(value: int) -> int:
    kept = _INTS.get(value)
    if kept is None:
        number = _INT(value)
        # Of two threads that come here at once, both get the one that was kept.
        kept = _INTS.setdefault(value, (number, ctypes.addressof(number)))
    return kept[1]


def _data(matrix: np.ndarray) -> int:
    # The same address as `matrix.ctypes.data`, without making the object around it.
    return matrix.__array_interface__["data"][0]
