"""`interplay predict`: the response at new rows, as CSV."""

from typing import Annotated

import typer

from interplay.app.cli import options
from interplay.app.cli.messages import opened
from interplay.app.cli.places import data_file


def predict(
    saved: options.Saved,
    data: options.Data,
    interval: Annotated[float, typer.Option(help="Probability that a new observation is inside.")] = 0.9,
) -> None:
    """Predict the response at new rows, as CSV.

    The CSV goes to stdout, one line for each row, in their order. Columns are matched by name. `mean` is the
    posterior mean; `sd`, `lower` and `upper` are those of a new observation, noise included. All are in units
    of the response.

    \b
    Examples:
    interplay predict run.nc new.csv > predictions.csv
    interplay predict run.nc - --interval 0.5 < new.csv
    """
    if not 0.0 < interval < 1.0:
        raise typer.BadParameter(f"{interval} is not between 0 and 1.", param_hint="--interval")
    fit = opened(saved)
    with data_file(data) as file:
        import pandas as pd

        mean, sd = fit.predict(file, return_std=True)
        ends = fit.predict_interval(file, interval)
    table = pd.DataFrame({"mean": mean, "sd": sd, "lower": ends[:, 0], "upper": ends[:, 1]})
    typer.echo(table.to_csv(index=False), nl=False)
