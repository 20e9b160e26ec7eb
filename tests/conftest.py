"""Every test runs with 64-bit JAX arrays, but for those that check that the package does this by itself."""

from collections.abc import Iterator

import hypothesis
import jax
import pytest

hypothesis.settings.register_profile(
    "interplay", deadline=None, derandomize=True, max_examples=12, database=None
)
hypothesis.settings.load_profile("interplay")


@pytest.fixture(autouse=True)
def _double_precision(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.node.get_closest_marker("user_settings"):
        yield
        return
    with jax.enable_x64(True):
        yield
