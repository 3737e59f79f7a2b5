"""Tables for a terminal: the title first, as wide as possible, and the id last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

Cell = Text | str
_GAP = 2
_NARROWEST = 10
# The largest share of the screen for a column between the first and the last.
_SHARE = 0.2


def print_table(
    console: Console,
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    right: Sequence[str] = (),
    overflow: Literal["ellipsis", "fold"] = "ellipsis",
) -> None:
    """Print one row per line, without columns that are empty.

    If space is short, the first column is cut, or wrapped with ``fold``. The last one, the id, is shown
    whole, and the others are only cut when they are very wide.
    """
    texts = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]
    kept = [place for place in range(len(columns)) if any(row[place].plain for row in texts)]
    widths = {place: max(len(columns[place]), *(row[place].cell_len for row in texts)) for place in kept}
    for place in kept[1:-1]:
        widths[place] = min(widths[place], max(len(columns[place]), int(_SHARE * console.width)))
    room = console.width - sum(widths[place] + _GAP for place in kept[1:])
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
    for place in kept:
        first = place == kept[0]
        table.add_column(
            columns[place],
            justify="right" if columns[place] in right else "left",
            no_wrap=not (first and overflow == "fold"),
            overflow=overflow if first else "ellipsis",
            width=min(widths[place], max(room, _NARROWEST)) if first else widths[place],
        )
    for row in texts:
        table.add_row(*(row[place] for place in kept))
    console.print(table)


def print_heading(console: Console, title: Text, rest: Text) -> None:
    """Print a title and what follows it on one line, cutting the title if needed."""
    title = title.copy()
    title.truncate(max(console.width - rest.cell_len - _GAP, _NARROWEST), overflow="ellipsis")
    console.print(Text("  ").join([title, rest]) if title.plain else rest)
