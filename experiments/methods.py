"""The methods that are compared on data sets: how each is run, and how it looks in plots."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from experiments.task import SECONDS, Task

LONGEST = {"max_seconds": 1800.0, "max_draws": 100_000}
"""Limits of SKIM's sampler where nothing is timed: it is to converge."""

TIMED = {"max_seconds": SECONDS}
"""Where it is timed: the seconds that all methods have, and no more draws of a chain than by default."""

ANSWERS = 1200.0
"""Seconds that SKIM may take beyond those of its sampler, to load, compile and answer for all pairs."""

SKIM, LASSO_RAW, LASSO, HIERARCHICAL = "SKIM", "pairs LASSO, raw", "pairs LASSO", "hierarchical LASSO"
GLINTERNET, SUBSET = "glinternet", "best subset"


@dataclass(frozen=True)
class Method:
    """A method.

    Parameters
    ----------
    about
        What it is.
    work
        The function that runs it.
    cost
        About how many seconds for n rows and p variables: only the order matters.
    marker, color
        In plots; told apart without colour by the marker.
    """

    about: str
    work: str
    cost: Callable[[int, int], float]
    marker: str
    color: str


METHODS = {
    SKIM: Method(
        "interplay, `SKIM(quadratic=False)`, sampled until R-hat ≤ 1.01",
        "experiments.skim:skim",
        lambda n, p: 15.0 + 100.0 * (n / 200) ** 2 * p / 500,
        "o",
        "black",
    ),
    LASSO_RAW: Method(
        "scikit-learn's LassoCV on all columns and pairs as they are",
        "experiments.peers:lasso_raw",
        lambda n, p: 1.0 + 136.0 * n / 200 * (p / 500) ** 2,
        "v",
        "tab:red",
    ),
    LASSO: Method(
        "the same on standardised columns and pairs",
        "experiments.peers:lasso_standardised",
        lambda n, p: 1.0 + 102.0 * n / 200 * (p / 500) ** 2,
        "^",
        "tab:orange",
    ),
    HIERARCHICAL: Method(
        "hierarchical group LASSO by adelie, the objective of glinternet",
        "experiments.peers:hierarchical",
        lambda n, p: 1.0 + 31.0 * n / 200 * (p / 500) ** 2,
        "s",
        "tab:blue",
    ),
    GLINTERNET: Method(
        "the same by R's glinternet, where it is installed",
        "experiments.peers:glinternet",
        lambda n, p: 6.0 + 66.0 * n / 200 * (p / 500) ** 2,
        "D",
        "tab:cyan",
    ),
    SUBSET: Method(
        "best subset of all columns and pairs by abess, which the paper did not have",
        "experiments.peers:best_subset",
        lambda n, p: 1.0 + 27.0 * n / 200 * (p / 500) ** 2,
        "P",
        "tab:green",
    ),
}
"""By name. All peers choose their penalty or size by 5-fold cross-validation on shuffled rows."""

PEERS = tuple(name for name in METHODS if name != SKIM)


def grid(
    experiment: str,
    data: Sequence[Mapping[str, Any]],
    sizes: Sequence[tuple[int, int]],
    *,
    methods: Sequence[str] = tuple(METHODS),
    limits: Mapping[str, Any] | None = None,
    timed: bool = False,
) -> list[Task]:
    """Every method on every data set.

    Parameters
    ----------
    experiment
        Folder of the records.
    data, sizes
        The data sets, and rows and variables of each.
    methods
        Which methods.
    limits
        Settings of SKIM's sampler; by default only those that end it.
    timed
        Whether nothing else may run at the same time.
    """
    limits = (TIMED if timed else LONGEST) if limits is None else limits
    return [
        Task(
            experiment,
            one,
            name,
            METHODS[name].work,
            options=limits if name == SKIM else {},
            seconds=limits.get("max_seconds", SECONDS) + ANSWERS if name == SKIM else SECONDS,
            cost=METHODS[name].cost(n, p),
            timed=timed,
        )
        for one, (n, p) in zip(data, sizes, strict=True)
        for name in methods
    ]


def growing(tasks: Sequence[Task]) -> list[Task]:
    """The same tasks, each harder than the one before it of its method."""
    before: dict[str, str] = {}
    linked = []
    for task in tasks:
        linked.append(replace(task, easier=before.get(task.method, "")))
        before[task.method] = task.name
    return linked
