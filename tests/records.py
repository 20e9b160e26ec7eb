"""Records made by hand, for what is shown of them."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from experiments import score
from experiments.methods import SKIM
from experiments.stopping_rules import RULES
from experiments.task import Record, Task

PROVENANCE = {"versions": {}, "source": "0" * 12, "date": "2026-01-01", "processor": "a processor"}
COST = {"seconds": 20.0, "processor_seconds": 30.0, "peak_bytes": 4e8, "loaded_bytes": 2e8}
TRUE = [f"x{i}" for i in range(5)] + [f"x{i}:x{j}" for i in range(5) for j in range(i)]


def found(true: Iterable[str], false: Iterable[str]) -> dict:
    return score.found([*true, *false], TRUE)


def fit(
    task: Task,
    true: Iterable[str] = TRUE,
    false: Iterable[str] = (),
    *,
    errors: tuple[float, float] = (1.0, 0.5),
    r_hat: float = 1.005,
) -> Record:
    """A fit of SKIM that finds the same by every rule."""
    true, false = list(true), list(false)
    terms = [{"term": name, "right": True, "lfsr": 0.001 if name in true else 0.4} for name in TRUE]
    terms += [{"term": name, "right": False, "lfsr": 0.04} for name in false]
    sampler = {
        "verdict": "trust",
        "ended": "converged",
        "r_hat": r_hat,
        "ess_bulk": 500.0,
        "ess_tail": 450.0,
        "gradients": 10_000,
        "chains": 4,
        "draws": 500,
    }
    values = {
        "found": {rule: found(true, false) for rule in ("paper", "lfsr", "fdr")},
        "errors": {"mains": errors[0], "pairs": errors[1], "slopes": errors[0]},
        "terms": terms,
        "sampler": sampler,
        "selection": {"terms": [*true, *false], "seconds": 3.0, "peak_bytes": 5e8},
    }
    return Record(task, "done", "", 2, COST, values, PROVENANCE)


def peer(
    task: Task,
    true: Iterable[str] = TRUE,
    false: Iterable[str] = (),
    *,
    errors: tuple[float, float] = (2.0, 3.0),
) -> Record:
    terms = [{"term": name, "right": name in TRUE, "coefficient": 1.0} for name in [*TRUE, *false]]
    values = {
        "found": {"nonzero": found(true, false)},
        "errors": {"mains": errors[0], "pairs": errors[1]},
        "terms": terms,
    }
    return Record(task, "done", "", 2, COST, values, PROVENANCE)


def likely(task: Task, random: np.random.Generator) -> Record:
    """Something of the kind that a task could give: figures at random."""
    p = task.data.get("p", 100)
    cost = COST | {"seconds": float(p**0.8 * random.uniform(0.1, 0.3)), "peak_bytes": 1e6 * (100 + p)}
    if task.experiment == "figure1":
        power = {"interplay": 1.0, "Woodbury": 2.0, "naive": 6.0}[task.method]
        seconds = 1e-5 * (p / 10) ** power
        values = {"seconds": [seconds], "bytes": 1e5 * (p / 10) ** min(power, 4.0), "log_likelihood": -70.0}
        return Record(
            task,
            "done",
            "",
            2,
            cost | {"seconds": seconds, "peak_bytes": values["bytes"]},
            values,
            PROVENANCE,
        )
    if task.experiment == "figure2a":
        values = {"r_hat": random.uniform(1.0, 1.2), "r_hat_pairs": 1.3}
        return Record(task, "done", "", 2, cost, values, PROVENANCE)
    if task.experiment == "stopping":
        return Record(task, "done", "", 2, cost, _stops(task, random), PROVENANCE)
    if task.experiment == "mixing" and task.method == SKIM:
        return Record(task, "done", "", 2, cost, _moments(random), PROVENANCE)
    true = [name for name in TRUE if random.random() < 0.8]
    if task.method == SKIM:
        made = fit(task, true, ["x9"] * int(random.random() < 0.2), errors=tuple(random.uniform(0.01, 3, 2)))
    else:
        false = [f"x{k}:x{k + 1}" for k in range(9, 9 + random.integers(60))]
        made = peer(task, true, [*false, "x7"], errors=tuple(random.uniform(0.1, 9, 2)))
    return Record(task, "done", "", 2, cost, made.values, PROVENANCE)


def _moments(random: np.random.Generator) -> dict[str, Any]:
    """When rules held in a run of which one in four never came to trust."""
    worst = {"r_hat": 1.008, "ess": 420.0, "r_hat_of": "eta1", "ess_of": "effect[x3]", "chains": 4}
    moments = {
        rule: {"seconds": float(random.uniform(1.0, 90.0)), "draws": 500} | worst
        for rule in ("together", "verdict", "trust")
    }
    rates = [("x1", 0.001), ("x2", float(random.uniform(0.03, 0.07)))]
    chosen = [{"term": name, "lfsr": q, "selected": q <= 0.05, "error": 0.01} for name, q in rates]
    sampler = {"verdict": "trust", "r_hat": 1.008, "draws": 500}
    never = {"trust": None} if random.random() < 0.25 else {}
    values = {"rows": 100, "columns": 20, "limit": worst, "selected": chosen, "sampler": sampler}
    return {**moments, **values, **never}


def _stops(task: Task, random: np.random.Generator) -> dict[str, Any]:
    """Where rules stopped a fit, which is good without a defect."""
    if task.method.startswith("power"):
        options = {name: task.options[name] for name in ("defect", "amount")}
        return {"state": "power", "passed": {rule: int(random.integers(9)) for rule in RULES}} | options
    state = "bad" if task.options else "good"
    stops = {rule: None if state == "bad" else int(random.integers(300, 900)) for rule in RULES}
    errors = {rule: stop and 0.05 for rule, stop in stops.items()}
    return {"state": state, "stops": stops, "errors": errors, "draws": 1000}
