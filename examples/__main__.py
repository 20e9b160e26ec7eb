"""`python -m examples [NAME …]`: run the examples and write their pages in `docs/examples`."""

import sys

import matplotlib

from examples.pages import NAMES, write

if __name__ == "__main__":
    matplotlib.use("Agg")
    for name in sys.argv[1:] or NAMES:
        print(write(name), flush=True)
