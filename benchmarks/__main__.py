"""Run benchmarks and print their tables: `python -m benchmarks`, `python -m benchmarks --only sampling`."""

import argparse
import os
from pathlib import Path

from benchmarks.threads import settle

ROOT = Path(__file__).parents[1]

THREADS = {"marginal": 1, "sampling": 2}
"""The parts, and how many threads they have by default."""


def main() -> None:
    """Read the command line, settle the threads, measure, print, and write if asked."""
    arguments = _arguments()
    threads = arguments.threads or THREADS[arguments.only]
    settle(threads)
    # Only now may NumPy be loaded.
    from benchmarks.run import run, run_sampling

    chosen = {"quick": arguments.quick, "folder": arguments.write}
    if arguments.only == "marginal":
        run(threads, arguments.seed, old_python=arguments.old_python, **chosen)
    else:
        run_sampling(threads, arguments.seed, rows=arguments.rows, fresh=arguments.fresh, **chosen)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only",
        choices=THREADS,
        default="marginal",
        help="which part: the marginal likelihood (default), or samplers side by side",
    )
    parser.add_argument(
        "--threads", type=int, help="threads, each with a core (default: 1 for marginal, 2 for sampling)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of data and weights (default: 0)")
    parser.add_argument("--quick", action="store_true", help="smallest sizes, to see that it works")
    parser.add_argument(
        "--old-python",
        type=Path,
        default=os.environ.get("INTERPLAY_OLD_PYTHON"),
        metavar="PATH",
        help="of marginal, Python of an environment with interplay 0.1.0, to be measured in the same turns"
        " (default: INTERPLAY_OLD_PYTHON; without either, its committed figures are quoted)",
    )
    parser.add_argument(
        "--rows",
        nargs="+",
        default=[],
        metavar="TEXT",
        help="of sampling, only rows with one of these in their name, as 'Stan' or '(200, 500, 2)'",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="of sampling, measure rows again that are there already"
    )
    parser.add_argument(
        "--write",
        nargs="?",
        type=Path,
        const=ROOT,
        metavar="FOLDER",
        help="refresh benchmarks/results and docs/benchmarks.md, below FOLDER if given",
    )
    arguments = parser.parse_args()
    if arguments.quick and arguments.write and arguments.write.resolve() == ROOT:
        parser.error("--quick --write: a quick run is not for the committed results. Give another folder.")
    return arguments


if __name__ == "__main__":
    main()
