"""The process that fits one job: `python -m interplay.app.web.worker FOLDER`.

An interrupt ends sampling and keeps the draws so far. When the server is gone, so is this process: the
checkpoint stays, and the next server goes on from it.
"""

import math
import os
import signal
import sys
import threading
import traceback
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

from interplay._support.interrupt import noting_interrupts
from interplay.app.web.job import Files, load, tell, write_json


def main(folder: Path) -> None:
    """Fit, and leave the fit and the outcome in the folder."""
    files = Files(folder)
    threading.Thread(target=_end_with_server, daemon=True).start()
    with noting_interrupts():
        try:
            outcome = _fitted(files)
        except KeyboardInterrupt:
            outcome = {"state": "stopped", "message": "It was stopped before the first draw."}
        except Exception as error:
            traceback.print_exc()
            outcome = {"state": "failed", "message": _in_words(error)}
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    write_json(files.outcome, outcome)
    if outcome.get("ended") not in (None, "interrupted"):
        files.checkpoint.unlink(missing_ok=True)


def _fitted(files: Files) -> dict[str, str]:
    from interplay.app.request import Request
    from interplay.app.web import answers
    from interplay.inference.diagnostics import ConvergenceWarning
    from interplay.inference.progress import Stage

    def report(stage: Stage) -> None:
        tell(files, {name: _plain(value) for name, value in asdict(stage).items()})

    job = load(files)
    if job is None or job.request is None:
        raise ValueError("the folder holds no job.")
    request = Request(**{**job.request, "drop": tuple(job.request["drop"])})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        made = request.design(files.data)
        fit = request.fit(made, checkpoint=files.checkpoint, progress=report)
    # From here on an interrupt would only lose what is already there.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    fit.save(files.fit)
    effects = fit.effects()
    effects.to_csv(files.table, index=False)
    write_json(files.results, answers.results(fit, effects))
    words = [
        str(warning.message)
        for warning in caught
        if issubclass(warning.category, UserWarning) and not issubclass(warning.category, ConvergenceWarning)
    ]
    return {"state": "done", "message": " ".join(words), "ended": fit.diagnostics.ended}


def _end_with_server() -> None:
    # The server holds the other end, and writes nothing: an end of file is the end of the server.
    while os.read(0, 1):
        pass
    os._exit(0)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _in_words(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "There is not enough memory for this fit. Leave out columns or rows."
    return str(error) or type(error).__name__


if __name__ == "__main__":
    main(Path(sys.argv[1]))
