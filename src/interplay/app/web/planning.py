"""What is asked, checked against the data before it is queued, and how long it will take."""

import os
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interplay.app.plan import Plan, plan
from interplay.app.request import Request
from interplay.app.web.refusal import RefusedError
from interplay.app.web.words import in_words
from interplay.data.design import Design

ONE_AT_A_TIME = threading.Lock()
"""Two timings at once would both be wrong."""

MOST_PLANS = 100
"""Plans that are kept."""

_plans: dict[tuple[int, int, int, bool], Plan] = {}


def checked(data: Path, title: str, fields: Mapping[str, Any]) -> tuple[Request, Design]:
    """The request and the design that it makes of the data; refused if it cannot be met.

    Parameters
    ----------
    data, title
        The file, and what its owner calls it.
    fields
        Of the request.
    """
    try:
        request = Request(**{**fields, "drop": tuple(fields["drop"])})
        with warnings.catch_warnings():
            # What is left out for being constant is told with the result.
            warnings.simplefilter("ignore", UserWarning)
            made = request.design(data)
        request.prior.check(made.p)
    except ValueError as error:
        raise RefusedError(422, in_words(str(error), data, title)) from error
    return request, made


def planned(data: Path, title: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """How large the problem is, and how long and how much memory it will take."""
    request, made = checked(data, title, fields)
    cost = _cost(made, request)
    return {
        "rows": made.n,
        "variables": made.p,
        "pairs": made.p * (made.p - 1) // 2,
        "seconds": cost.seconds,
        "memory": cost.memory,
        "words": str(cost),
        "too_large": cost.memory[0] > _memory(),
    }


def _cost(made: Design, request: Request) -> Plan:
    """The plan, which is the same for data of the same size, and is timed once."""
    key = (made.n, made.p, made.d, request.quadratic)
    with ONE_AT_A_TIME:
        if key not in _plans:
            _plans[key] = plan(made, request.prior)
        while len(_plans) > MOST_PLANS:
            del _plans[next(iter(_plans))]
        return _plans[key]


def _memory() -> float:
    """Bytes of this machine's memory, where the system tells."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError):
        return float("inf")
