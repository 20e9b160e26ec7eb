"""The page and the pictures of all experiments, made from their records."""

from collections.abc import Sequence
from pathlib import Path

from experiments import cells
from experiments.experiment import Experiment
from experiments.methods import METHODS
from experiments.task import SPARED, Record, Task, records

COMMENTS = Path(__file__).parent / "comments"
"""A file for each experiment with what its results say, written by hand."""

HEAD = """# Experiments

The paper's figures and tables, made anew: ours beside the paper's, and where they differ. `make
experiments` runs all of them and writes this page, `python -m experiments NAME …` some, `make
experiments-quick` a small version of each. A run that is stopped goes on where it stopped. Each task is one
method on one data set, in a process of its own, which is stopped after 600 s or at 8 GB; where p grows, a
method that was stopped is not begun again with more variables. SKIM's sampler goes on until it has
converged. Where methods are timed beside each other it is stopped after 600 s, elsewhere after 1800 s or
100,000 draws of each chain; its answers for all pairs may take 1200 s more. A fit that did
not converge is named, and so is one that has no answer to report. Everything is kept in
`experiments/results`, one file for each task, with versions, seeds, seconds and peak memory. Seconds are
wall time of the fit, for the peers with its cross-validation, for SKIM with compilation.
"""

UNWRITTEN = "*No comment yet: it is written when the results are there.*\n"


def write(folder: Path, experiments: Sequence[Experiment], *, quick: bool = False) -> Path:
    """Write `docs/experiments.md` and its pictures below a folder, from the results there."""
    page = folder / "docs" / "experiments.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    parts = [HEAD]
    if quick:
        parts.append("**A quick run: the sizes are far too small for the figures to mean anything.**\n")
    parts += [_methods(), *(_section(folder, experiment, quick) for experiment in experiments)]
    page.write_text("\n".join(parts))
    return page


def state(found: Sequence[Record], tasks: Sequence[Task]) -> str:
    """How much of an experiment is there, in words."""
    missing = len(tasks) - sum(record.status != "failed" for record in found)
    absent = sum(record.status == "not available" for record in found)
    left_out = sum(record.note.startswith(SPARED) for record in found)
    exceptions = [f"{absent} that cannot be run here"] * bool(absent)
    exceptions += [f"{left_out} not begun, as an easier one was stopped"] * bool(left_out)
    but = f", but for {' and '.join(exceptions)}" if exceptions else ""
    words = [_partial(missing, len(tasks)) if missing else f"All {len(tasks)} tasks were run{but}."]
    empty = cells.collect([one for one in found if one.status in cells.EMPTY], lambda one: one.task.method)
    for method, some in empty.items():
        notes = list(dict.fromkeys((one.note.strip().splitlines() or [""])[-1].rstrip(".") for one in some))
        which = "" if len(notes) == 1 else "the first of them: "
        words.append(f"{method}: {len(some)} × {some[0].status} ({which}{notes[0]}).")
    slow = cells.unconverged(found)
    if slow:
        named = ", ".join(f"{one.task.name} (R-hat {cells.sampler(one, 'r_hat'):.3f})" for one in slow)
        words.append(f"SKIM did not reach R-hat ≤ 1.01 in {_count(len(slow), 'fit')}: {named}.")
    stopped = [one for one in found if one.status in ("time limit", "memory limit")]
    if stopped:
        words.append("Stopped: " + ", ".join(f"{one.task.name} ({one.note})" for one in stopped) + ".")
    sources = sorted({one.provenance["source"] for one in found if one.provenance})
    conditions = sorted({(one.threads, one.provenance["processor"]) for one in found if one.provenance})
    if sources:
        where = "; ".join(f"{_count(count, 'thread')} of {processor}" for count, processor in conditions)
        words.append(f"{where}; source {', '.join(sources)}.")
    return " ".join(words)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _partial(missing: int, every: int) -> str:
    if missing == every:
        return f"**None of {every} tasks is done.**"
    return f"**Partial: {missing} of {every} tasks are missing; what follows is from the others alone.**"


def _section(folder: Path, experiment: Experiment, quick: bool) -> str:
    tasks = experiment.tasks(quick)
    found = records(folder / "experiments" / "results", tasks)
    head = f"## {experiment.title}\n\n{experiment.about}\n"
    if not any(record.done for record in found):
        notes = [one.note.strip().splitlines()[-1] for one in found[:1] if one.note]
        return "\n".join([head, " ".join(["*Not run yet.*", *notes]) + "\n"])
    picture = folder / "docs" / "experiments" / f"{experiment.name}.png"
    experiment.draw(found, picture)
    shown = [table.to_markdown() for table in experiment.tables(found)]
    image = f"![{experiment.picture}](experiments/{experiment.name}.png)\n"
    comment = COMMENTS / f"{experiment.name}.md"
    words = comment.read_text() if comment.exists() and not quick else UNWRITTEN
    return "\n".join([head, state(found, tasks) + "\n", *shown, image, words])


def _methods() -> str:
    lines = [f"- **{name}**: {method.about}" for name, method in METHODS.items()]
    end = "All peers choose their penalty or size by 5-fold cross-validation on shuffled rows."
    return "\n".join(["## Methods", "", *lines, "", end, ""])
