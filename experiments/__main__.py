"""Run experiments, or what is left of them, and write their page: `python -m experiments NAME …`."""

import argparse
from pathlib import Path

from experiments.data import fetch
from experiments.harness import run
from experiments.page import state, write
from experiments.registry import EXPERIMENTS
from experiments.task import records

ROOT = Path(__file__).parents[1]
QUICK = ROOT / "build" / "experiments"
"""Where a quick run writes: its figures are not for the page."""


def main() -> None:
    """Read the command line, run, write, and say what is missing."""
    arguments = _arguments()
    if arguments.download:
        fetch()
    folder = arguments.folder or (QUICK if arguments.quick else ROOT)
    chosen = [EXPERIMENTS[name] for name in arguments.names or EXPERIMENTS]
    results = folder / "experiments" / "results"
    if not arguments.page:
        run(
            results,
            [
                task
                for experiment in chosen
                for task in experiment.tasks(arguments.quick)
                if arguments.method in (None, task.method)
            ],
            scheduler=arguments.scheduler,
            workers=arguments.workers,
            threads=arguments.threads,
            budget=arguments.budget,
            fresh=arguments.fresh,
            say=lambda text: print(text, flush=True),
        )
    page = write(folder, list(EXPERIMENTS.values()), quick=arguments.quick)
    for experiment in chosen:
        tasks = experiment.tasks(arguments.quick)
        print(f"{experiment.name}: {state(records(results, tasks), tasks)}")
    print(f"wrote {page}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"which of {', '.join(EXPERIMENTS)} (default: all)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="a small version, in minutes, to see that it works"
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler (default: this machine)")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="tasks at a time (default: 1)")
    parser.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="threads of each task (default: all cores, shared out; 1 with --scheduler)",
    )
    parser.add_argument(
        "--budget", type=float, metavar="SECONDS", help="begin no task after so long; cheap ones come first"
    )
    parser.add_argument("--method", help="only tasks of this method, as SKIM (default: all)")
    parser.add_argument(
        "--download", action="store_true", help="first fetch the data of Tables 2 and 3 that are not there"
    )
    parser.add_argument("--fresh", action="store_true", help="do again what is done")
    parser.add_argument("--page", action="store_true", help="only write the page, from the results there are")
    parser.add_argument("--folder", type=Path, help="where to write (default: the repository)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"there is no experiment {unknown[0]!r}: expected {', '.join(EXPERIMENTS)}.")
    return arguments


if __name__ == "__main__":
    main()
