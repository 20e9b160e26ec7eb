"""`python -m examples.picture demo.nc docs/picture.png`: the map of interactions of a saved fit."""

import sys

import matplotlib

import interplay as ip

if __name__ == "__main__":
    matplotlib.use("Agg")
    fit, picture = sys.argv[1:]
    ip.load(fit).plot.interaction_map().figure.savefig(picture, dpi=110, bbox_inches="tight")
