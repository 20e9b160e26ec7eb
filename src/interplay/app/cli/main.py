"""The command `interplay`: its commands, and what happens when one of them cannot do what it should."""

from typing import Any

import typer
from typer.core import TyperGroup

from interplay.app.cli.demo import demo
from interplay.app.cli.effects import effects
from interplay.app.cli.fit import fit
from interplay.app.cli.messages import told
from interplay.app.cli.plan import plan
from interplay.app.cli.predict import predict
from interplay.app.cli.report import report
from interplay.app.cli.serve import serve

HELP = """Which variables act on a response together: main effects and interactions, each with its posterior.

Messages go to stderr and results to stdout. DATA is a .csv, .tsv or .parquet file, or - for CSV from stdin.

\b
Examples:
interplay plan data.csv --response y       how long a fit will take
interplay fit data.csv --response y        learn, and save the fit to data.nc
interplay effects data.nc --format csv     what was found
interplay report data.nc -o report.html    the same, to read and to pass on

\b
Exit codes:
0    done
1    the data, a file or a value cannot be used; stderr says what to do
2    the command was not understood
3    fitted and saved, but not to be reported: it has not converged
130  stopped by Ctrl-C; fit has saved the draws so far, if there were any
"""


class Commands(TyperGroup):
    """Commands that say in one line what went wrong."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        with told():
            return super().invoke(ctx)


app = typer.Typer(
    cls=Commands,
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for command in (fit, effects, predict, report, plan, serve, demo):
    app.command()(command)


def _show_version(wanted: bool) -> bool:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"interplay {version('interplay')}")
        raise typer.Exit
    return wanted


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """Options without a command; the help is above."""


def main() -> None:
    """Run the command line."""
    app(prog_name="interplay")
