"""The compiled gradient of version 0.1.0, in an environment of its own, or its committed figures."""

import json
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

COMMITTED = {(200, 500): 3.22, (200, 5000): 14.24, (500, 10_000): 114.89}
"""Median milliseconds by (N, p) that version 0.1.0 committed: 2026-11-15, one thread of AMD EPYC, float32."""

PROGRAM = """
import json, sys, time
import numpy as np
import jax
from interplay import SKIM, design
from interplay.inference.target import target

with jax.enable_x64(True):
    data = dict(np.load(sys.argv[1]))
    density = target(design(data.pop("X"), data.pop("y")), SKIM())
    x = jax.flatten_util.ravel_pytree(data)[0]
    compiled = jax.jit(jax.value_and_grad(lambda x, density: density.log_density(x)))
    for _ in sys.stdin:
        before = time.perf_counter()
        value, _ = jax.block_until_ready(compiled(x, density))
        print(json.dumps([time.perf_counter() - before, float(value)]), flush=True)
"""
"""Reads data and position, and takes one gradient for each line that it is sent, by public names of 0.1.0."""


class OldGradient:
    """A process of version 0.1.0 that waits to take gradients at one position.

    Parameters
    ----------
    python
        Interpreter of an environment that has version 0.1.0.
    X, y
        The data.
    position
        Logarithms of the hyperparameters by their names in 0.1.0.
    """

    def __init__(self, python: Path, X: np.ndarray, y: np.ndarray, position: dict[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        problem = Path(self._folder.name) / "problem.npz"
        np.savez(problem, X=X, y=y, **position)
        # Run outside of this repository, whose own interplay would be imported in its place.
        self._process = subprocess.Popen(
            [str(python.absolute()), "-c", PROGRAM, str(problem)],
            cwd=self._folder.name,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "OldGradient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()
        self._folder.cleanup()

    def take(self) -> tuple[float, float]:
        """Seconds of one gradient, as the process itself measures them, and the log density."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("The process of version 0.1.0 ended; its message is above.")
        seconds, value = json.loads(answer)
        return seconds, value
