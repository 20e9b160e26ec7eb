"""`interplay plan`: how long a fit will take, and how much memory."""

import typer

from interplay.app.cli import options
from interplay.app.cli.messages import say
from interplay.app.cli.places import data_file


def plan(
    data: options.Data,
    response: options.Response,
    drop: options.Drop = None,
    impute: options.Impute = None,
    expected_mains: options.ExpectedMains = None,
    quadratic: options.Quadratic = True,
) -> None:
    """Say how long a fit will take, and how much memory.

    Reads and checks the data as `fit` would, and times some iterations of the sampler on this machine.

    \b
    Example:
    interplay plan data.csv --response y --drop id
    """
    with data_file(data) as file:
        from interplay.app.plan import plan as planned

        request = options.request(response, drop, impute, expected_mains, quadratic)
        design = request.design(file)
    say(f"{options.size(design)}. Timing some iterations …")
    typer.echo(str(planned(design, request.prior)))
