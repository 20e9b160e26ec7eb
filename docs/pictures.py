"""The pictures of the page on plots: `python docs/pictures.py TRIAL.nc DIABETES.nc`, from two saved fits."""

import sys
from pathlib import Path

from interplay.results.files import load
from interplay.results.plots.style import off_screen


def main(trial: str, diabetes: str) -> None:
    """Draw three plots of two saved fits.

    Parameters
    ----------
    trial, diabetes
        Fits of the simulated trial and of the diabetes data, as `make demo` makes them.
    """
    simulated = load(trial).plot
    plots = {
        "slopes": simulated.slopes,
        "map": simulated.interaction_map,
        "check": load(diabetes).plot.predictive_check,
    }
    with off_screen():
        for name, plot in plots.items():
            path = Path(__file__).with_name(f"plot-{name}.png")
            plot().figure.savefig(path, dpi=80, metadata={"Software": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
