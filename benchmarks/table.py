"""A table, the same on the screen and on a page."""

from collections.abc import Sequence
from dataclasses import dataclass

import rich.table


@dataclass(frozen=True)
class Table:
    """A title, a sentence or two on what is in it, heads of columns, and rows of text."""

    title: str
    note: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]

    def to_rich(self) -> rich.table.Table:
        """For the screen."""
        table = rich.table.Table(title=self.title, title_style="bold", title_justify="left")
        for index, head in enumerate(self.heads):
            table.add_column(head, justify="left" if index == 0 else "right")
        for row in self.rows:
            table.add_row(*row)
        return table

    def to_markdown(self) -> str:
        """For the page."""
        rule = ["---", *["---:"] * (len(self.heads) - 1)]
        lines = ["| " + " | ".join(cells) + " |" for cells in (self.heads, rule, *self.rows)]
        return f"### {self.title}\n\n{self.note}\n\n" + "\n".join(lines) + "\n"
