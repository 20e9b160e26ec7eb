"""Pages of the documentation from the example scripts: text, code, and what the code printed and drew."""

import ast
import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).parent
PAGES = SCRIPTS.parent / "docs" / "examples"

NAMES = ("diabetes", "penguins", "search", "auto_mpg")
"""The examples, in the order of the documentation."""

MARK = re.compile(r"^# %%(.*)\n", re.MULTILINE)
"""The line between two cells, in jupytext's percent format."""


@dataclass(frozen=True)
class Cell:
    """A piece of a script.

    Parameters
    ----------
    text
        Markdown, or code.
    is_code
        Which of the two.
    line
        Where it begins in the script.
    """

    text: str
    is_code: bool
    line: int


def cells(name: str) -> list[Cell]:
    """The cells of a script; the first is its docstring, with the first line as the heading."""
    source = (SCRIPTS / f"{name}.py").read_text()
    docstring = ast.get_docstring(ast.parse(source)) or ""
    heading, _, rest = docstring.partition("\n")
    return [Cell(f"# {heading.rstrip('.')}\n{rest}".strip(), False, 1), *_marked(source)]


def _marked(source: str) -> Iterator[Cell]:
    marks = list(MARK.finditer(source))
    ends = [mark.start() for mark in marks[1:]] + [len(source)]
    for mark, end in zip(marks, ends, strict=True):
        body = source[mark.end() : end].strip("\n")
        is_code = "[markdown]" not in mark[1]
        text = body if is_code else re.sub(r"^# ?", "", body, flags=re.MULTILINE)
        yield Cell(text, is_code, source.count("\n", 0, mark.end()) + 1)


def shown(cell: Cell) -> str:
    """A cell as it stands on the page."""
    return f"```python\n{cell.text}\n```" if cell.is_code else cell.text


def write(name: str) -> Path:
    """Run a script, and write its page and its figures."""
    PAGES.mkdir(exist_ok=True)
    parts: list[str] = []
    namespace: dict[str, object] = {"__name__": "example"}
    for cell in cells(name):
        parts.append(shown(cell))
        if cell.is_code:
            printed = io.StringIO()
            with redirect_stdout(printed):
                exec(compile("\n" * (cell.line - 1) + cell.text, f"{name}.py", "exec"), namespace)
            if printed.getvalue():
                parts.append(f"```text\n{printed.getvalue().rstrip()}\n```")
            parts.extend(_figures(name, len(parts)))
    link = f"*The page is what `examples/{name}.py` printed; `python -m examples {name}` makes it anew.*"
    page = PAGES / f"{name}.md"
    page.write_text("\n\n".join([*parts, link]) + "\n")
    return page


def _figures(name: str, number: int) -> Iterator[str]:
    """Save the figures that a cell has drawn."""
    from matplotlib import pyplot

    for figure in pyplot.get_fignums():
        file = PAGES / f"{name}-{number}-{figure}.png"
        pyplot.figure(figure).savefig(file, dpi=110, bbox_inches="tight")
        pyplot.close(figure)
        yield f"![Figure drawn by the code above]({file.name})"
