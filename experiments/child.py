"""One task in a process of its own, started by `experiments.attempt`: `python -m experiments.child`."""

import ctypes
import importlib
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from experiments.provenance import known
from experiments.task import FINAL, NoAnswerError, plain

DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""


def main(request: dict[str, Any]) -> None:
    """Settle on the cores, do the work, and write what came of it to the file that was asked for."""
    _settle(request["cores"], request["parent"])
    module, function = request["work"].split(":")
    try:
        work = getattr(importlib.import_module(module), function)
        values, cost = work(request["data"], request["threads"], **request["options"])
        answer = {"status": "done", "note": "", "values": values, "cost": cost}
    except NoAnswerError as error:
        answer = {"status": "no answer", "note": str(error)}
    except ImportError as error:
        answer = {"status": "not available", "note": str(error)}
    except MemoryError as error:
        answer = {"status": "memory limit", "note": str(error)}
    except Exception:
        answer = {"status": "failed", "note": traceback.format_exc()[-2000:]}
    if answer["status"] in FINAL:
        answer["provenance"] = known(request["data"].get("seed", 0), request["threads"])
    Path(request["answer"]).write_text(json.dumps(plain(answer), allow_nan=False))


def _settle(cores: list[int], parent: int) -> None:
    """Take these cores alone, and end with the worker, should that be lost."""
    os.sched_setaffinity(0, cores)
    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("The worker was lost before its task began.")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
