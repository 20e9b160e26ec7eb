"""The inverse by halves and stripes, against LAPACK's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from interplay.model.triangle import SMALL, inverse_triangle, stripes


@pytest.mark.parametrize("n", [1, 2, SMALL, SMALL + 1, 4 * SMALL + 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_is_the_lower_triangle_of_the_inverse(n: int, dtype: str) -> None:
    X = np.random.default_rng(n).normal(size=(n, n + 5))
    matrix = X @ X.T + np.eye(n)
    expected = np.tril(np.linalg.inv(matrix))
    with jax.enable_x64(True):
        found = inverse_triangle(jnp.linalg.cholesky(jnp.asarray(matrix)), dtype)
    assert found.dtype == np.float64
    rough = 1e-6 * np.sqrt(np.linalg.cond(matrix))
    tolerance = (rough if dtype == "float32" else 1e-12) * np.abs(expected).max()
    assert_allclose(found, expected, atol=tolerance, rtol=0)


@pytest.mark.parametrize(("n", "count"), [(1, 4), (7, 2), (8, 4), (3, 5)])
def test_stripes_cover_the_rows_once(n: int, count: int) -> None:
    covered = [row for start, stop in stripes(n, count) for row in range(start, stop)]
    assert covered == list(range(n))
