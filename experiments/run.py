"""One run of the protocol: every fit is written as soon as it is done, and a rerun goes on from there."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.provenance import source

from experiments.protocol import SEEDS, SETTINGS, Errors, Found, Outcome, Setting, evaluate
from interplay.results.provenance import PACKAGES

MEASURED = ("data", "model", "inference", "effects", "results")
"""The folders of interplay that the figures come from."""


def run(
    folder: Path,
    *,
    fresh: bool = False,
    settings: Sequence[Setting] = SETTINGS,
    seeds: int = SEEDS,
    **limits: int,
) -> list[Outcome]:
    """Fit what is not there yet, and write figures, table and plot below a folder.

    Parameters
    ----------
    folder
        Root of the repository, or of a copy of its folders.
    fresh
        Whether to begin anew.
    settings, seeds
        What is fitted: each setting with the seeds 0, 1, …
    limits
        As in `experiments.protocol.evaluate`.
    """
    path = folder / "experiments" / "results" / "protocol.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    outcomes = [] if fresh or not path.exists() else read(path)
    known = source(MEASURED)
    # One seed of all settings after the other: a run that is stopped has something of each.
    for seed in range(seeds):
        for setting in settings:
            if any((one.n, one.p, one.scale, one.seed) == (*_values(setting), seed) for one in outcomes):
                continue
            outcome = evaluate(setting, seed, known, **limits)
            outcomes.append(outcome)
            save(path, outcomes)
            print(_line(outcome), flush=True)
    from experiments.page import write

    write(folder, outcomes)
    return outcomes


def read(path: Path) -> list[Outcome]:
    """The fits in a file of figures."""
    return [_outcome(one) for one in json.loads(path.read_text())["fits"]]


def save(path: Path, outcomes: list[Outcome]) -> None:
    """Write all fits; a stop in the middle leaves the file as it was."""
    figures = {
        "versions": {"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
        "cores": len(os.sched_getaffinity(0)),
        "seeds": "the seed of a fit is that of its data and of its sampler",
        "fits": [asdict(outcome) for outcome in outcomes],
    }
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(figures, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    beside.replace(path)


def _outcome(figures: dict[str, Any]) -> Outcome:
    found = {
        rule: Found(**(one | {"false_terms": tuple(one["false_terms"])}))
        for rule, one in figures["found"].items()
    }
    read_back = {
        "found": found,
        "errors": Errors(**figures["errors"]),
        "remedies": tuple(figures["remedies"]),
    }
    return Outcome(**(figures | read_back))


def _values(setting: Setting) -> tuple[int, int, float]:
    return setting.n, setting.p, setting.scale


def _line(outcome: Outcome) -> str:
    found = ", ".join(
        f"{rule} {one.mains}:{one.false_mains} {one.pairs}:{one.false_pairs}"
        for rule, one in outcome.found.items()
    )
    errors = outcome.errors
    return (
        f"({outcome.n}, {outcome.p}, {outcome.scale:g}) seed {outcome.seed}: {found}; errors of mains"
        f" {errors.mains:.3f}, pairs {errors.pairs:.3f}, slopes {errors.slopes:.3f}; {outcome.verdict},"
        f" R-hat {outcome.r_hat:.4f}, {outcome.draws} draws, {outcome.gradients} gradients,"
        f" {outcome.seconds:.1f} s (answers {outcome.answer_seconds:.1f} s)"
    )
