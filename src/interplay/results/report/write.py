"""From a fit to a page."""

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from interplay._support.files import written_whole
from interplay.results.fit import Fit
from interplay.results.report.content import content


def write_report(fit: Fit, path: str | Path) -> None:
    """Write a report of a fit: one HTML file with all its pictures, which asks no other host for anything.

    The file is the old one or the new one, never a part. It holds summaries and pictures of the data (some
    rows are dots in the surfaces), so it is as confidential as they are.

    Parameters
    ----------
    fit
        The fit.
    path
        The file, usually ending in `.html`.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"{path}: there is no folder {str(path.parent)!r}. Make it, or give another path."
        )
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: expected the name of a file, such as 'report.html'.")
    page = as_page(fit)
    with written_whole(path) as file:
        file.write_text(page, encoding="utf-8")


def as_page(fit: Fit) -> str:
    """The report as text. Everything that comes from the data is escaped."""
    environment = Environment(
        loader=PackageLoader("interplay.results.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(content(fit))
