"""LAPACK without the interpreter lock, against NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from interplay._support import lapack

SIZES = [1, 2, 33, 128, 259]
both_precisions = pytest.mark.parametrize("dtype", ["float32", "float64"])


def positive_definite(n: int, dtype: str) -> np.ndarray:
    X = np.random.default_rng(n).normal(size=(n, n + 5))
    return np.asfortranarray(X @ X.T + np.eye(n), dtype=dtype)


def tolerance(dtype: str, matrix: np.ndarray) -> float:
    return 1e-6 * float(np.sqrt(np.linalg.cond(matrix))) if dtype == "float32" else 1e-12


def factor_of(matrix: np.ndarray) -> np.ndarray:
    factor = matrix.copy(order="F")
    assert lapack.cholesky(factor)
    return factor


@pytest.mark.parametrize("n", SIZES)
@both_precisions
def test_factor_stands_in_the_lower_triangle(n: int, dtype: str) -> None:
    matrix = positive_definite(n, dtype)
    factor = factor_of(matrix)
    expected = np.linalg.cholesky(matrix.astype(float))
    assert factor.dtype == dtype
    assert_allclose(np.tril(factor), expected, atol=tolerance(dtype, matrix) * expected.max(), rtol=0)
    assert_array_equal(np.triu(factor, 1), np.triu(matrix, 1))


@both_precisions
def test_what_is_not_positive_definite_has_no_factor(dtype: str) -> None:
    assert not lapack.cholesky(np.asfortranarray(np.diag([1.0, -1.0, 2.0]), dtype=dtype))
    assert lapack.cholesky(np.asfortranarray(np.eye(3), dtype=dtype))


@pytest.mark.parametrize("n", SIZES)
@both_precisions
def test_inverses(n: int, dtype: str) -> None:
    matrix = positive_definite(n, dtype)
    inverse, triangle = factor_of(matrix), factor_of(matrix)
    lapack.inverse_from_factor(inverse)
    lapack.invert_triangle(triangle)
    exact = matrix.astype(float)
    expected = np.tril(np.linalg.inv(exact)), np.linalg.inv(np.linalg.cholesky(exact))
    for found, known in zip((inverse, triangle), expected, strict=True):
        near = tolerance(dtype, matrix) * np.abs(known).max()
        assert_allclose(np.tril(found), known, atol=near, rtol=0)


@pytest.mark.parametrize("columns", [1, 4])
@pytest.mark.parametrize("transposed", [False, True])
@both_precisions
def test_triangular_solves(dtype: str, transposed: bool, columns: int) -> None:
    matrix = positive_definite(20, dtype)
    right = np.asfortranarray(np.random.default_rng(1).normal(size=(20, columns)), dtype=dtype)
    lower = np.linalg.cholesky(matrix.astype(float))
    expected = np.linalg.solve(lower.T if transposed else lower, right.astype(float))
    lapack.solve_triangle(factor_of(matrix), right, transposed=transposed)
    assert_allclose(right, expected, atol=tolerance(dtype, matrix) * np.abs(expected).max(), rtol=0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@both_precisions
def test_gram_is_added_to_the_lower_triangle(dtype: str, sign: float) -> None:
    columns = np.asfortranarray(np.random.default_rng(2).normal(size=(15, 7)), dtype=dtype)
    start = positive_definite(15, dtype)
    total = start.copy(order="F")
    lapack.add_gram(columns, total, sign=sign)
    near = {"float32": 1e-5, "float64": 1e-12}[dtype]
    expected = start.astype(float) + sign * columns.astype(float) @ columns.astype(float).T
    assert_allclose(np.tril(total), np.tril(expected), atol=near * np.abs(expected).max(), rtol=0)
    assert_array_equal(np.triu(total, 1), np.triu(start, 1))


def test_other_orders_shapes_and_precisions_are_refused() -> None:
    matrix, right = np.eye(3, order="F"), np.ones((3, 2), order="F")
    with pytest.raises(ValueError, match="Fortran order"):
        lapack.cholesky(np.arange(9.0).reshape(3, 3))
    with pytest.raises(ValueError, match="square"):
        lapack.cholesky(np.ones((3, 2), order="F"))
    for wrong in (np.ones((3, 2)), right.astype("float32")):
        with pytest.raises(ValueError, match="3 rows of float64 in Fortran order"):
            lapack.solve_triangle(matrix, wrong)
        with pytest.raises(ValueError, match="3 rows of float64 in Fortran order"):
            lapack.add_gram(wrong, matrix)
    for function in (lapack.inverse_from_factor, lapack.invert_triangle):
        with pytest.raises(ValueError, match="Fortran order"):
            function(np.arange(9.0).reshape(3, 3))
