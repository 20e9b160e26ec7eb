"""A real server in a process of its own, and data small enough for it."""

import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
from patience import PATIENCE, wait_for


def small_csv(seed: int = 0, rows: int = 60, columns: int = 6) -> bytes:
    """Two variables that act, alone and together."""
    random = np.random.default_rng(seed)
    data = pd.DataFrame(random.normal(size=(rows, columns)), columns=[f"x{k}" for k in range(columns)])
    data["x2"] = np.resize(["low", "middle", "high"], rows)
    noise = random.normal(size=rows)
    data["y"] = 3 * data["x0"] + 2 * data["x1"] + 4 * data["x0"] * data["x1"] + noise
    return data.to_csv(index=False).encode()


class Live:
    """A server that was started as a user does."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.options = folder, options
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "interplay", "serve", "--port", "0", "--folder", str(self.folder)]
        self.process = subprocess.Popen([*command, *self.options], stderr=subprocess.PIPE, text=True)
        lines = []
        assert self.process.stderr is not None
        impatience = threading.Timer(PATIENCE, self.process.kill)
        impatience.start()
        while not (found := re.search(r"http://\S+?/", "".join(lines[-1:]))):
            line = self.process.stderr.readline()
            assert line, f"the server did not start: {lines}"
            lines.append(line)
        impatience.cancel()
        self.url = found[0]
        self.client = httpx.Client(base_url=self.url, timeout=PATIENCE)

    def end(self, how: signal.Signals = signal.SIGINT) -> None:
        self.client.close()
        self.process.send_signal(how)
        try:
            self.said = self.process.communicate(timeout=PATIENCE)[1]
        finally:
            self.process.kill()

    def upload(self, content: bytes, name: str = "small.csv") -> dict[str, Any]:
        answer = self.client.post("api/jobs", params={"name": name}, content=content)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def job(self, identifier: str) -> dict[str, Any]:
        return self.client.get(f"api/jobs/{identifier}").json()

    def reach(self, identifier: str, state: str) -> dict[str, Any]:
        def found() -> dict[str, Any] | None:
            job = self.job(identifier)
            assert job["state"] == state or job["state"] != "failed", job["message"]
            return job if job["state"] == state else None

        return wait_for(found, f"a job that is {state}")
