"""Settings of all tests; where a test imports JAX, for a baseline or an oracle, its arrays have 64 bits."""

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile(
    "interplay", deadline=None, derandomize=True, max_examples=12, database=None
)
hypothesis.settings.load_profile("interplay")

MAPS = Path("/proc/self/maps")
MANY_MAPS = 20_000
"""Memory maps from which compiled functions are forgotten. Each holds some, tests compile thousands of them,
and at Linux's limit of 65,530 the compiler crashes."""


@pytest.fixture(autouse=True)
def _double_precision(request: pytest.FixtureRequest) -> Iterator[None]:
    jax = sys.modules.get("jax")
    if jax is None or request.node.get_closest_marker("user_settings"):
        yield
        return
    with jax.enable_x64(True):
        yield


@pytest.fixture(autouse=True)
def _few_memory_maps() -> Iterator[None]:
    yield
    jax = sys.modules.get("jax")
    if jax is not None and MAPS.exists() and MAPS.read_bytes().count(b"\n") > MANY_MAPS:
        jax.clear_caches()
        gc.collect()
