"""Run the paper's protocol, or what is left of it: `python -m experiments`."""

import argparse
from pathlib import Path

from experiments.run import run

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Read the command line, run, and write."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT, help="where to write (default: the repository)")
    parser.add_argument("--fresh", action="store_true", help="do not go on from earlier results")
    arguments = parser.parse_args()
    run(arguments.folder, fresh=arguments.fresh)


if __name__ == "__main__":
    main()
