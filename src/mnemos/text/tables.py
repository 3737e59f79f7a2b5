"""Lists that show themselves as a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import ClassVar, Final, TypeVar

Item = TypeVar("Item")

# Not html.escape: its module loads a table of entities that most processes never need.
_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


class Table(list[Item], ABC):
    """A list that renders as an HTML table in notebooks.

    It equals a plain list of the same items.
    """

    columns: ClassVar[Sequence[str]]

    @abstractmethod
    def cells(self, item: Item) -> Sequence[object]:
        """Return the values of an item, one per column."""

    def _repr_html_(self) -> str:
        return render_table(self.columns, map(self.cells, self))


def render_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Render an HTML table; whatever the cells hold is escaped."""
    head = "".join(f"<th>{column.translate(_ESCAPES)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"<td>{text.translate(_ESCAPES)}</td>"


def format_time(moment: float) -> str:
    """Format Unix seconds as a local date and time to the minute; outside of the calendar, as seconds."""
    try:
        return datetime.fromtimestamp(moment).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return f"{moment:g} s"
