"""Run all benchmarks and print their tables: `python -m benchmarks`."""

import argparse
from pathlib import Path

from benchmarks.threads import settle

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Read the command line, settle the threads, measure, print, and write if asked."""
    arguments = _arguments()
    settle(arguments.threads)
    # Only now may JAX and NumPy be loaded.
    from benchmarks.run import run

    run(arguments.threads, arguments.seed, quick=arguments.quick, folder=arguments.write)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--threads", type=int, default=1, help="threads, each with a core (default: 1)")
    parser.add_argument("--seed", type=int, default=0, help="seed of data and weights (default: 0)")
    parser.add_argument("--quick", action="store_true", help="smallest sizes, to see that it works")
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
