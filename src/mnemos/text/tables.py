"""Lists that show themselves as a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape
from typing import ClassVar, TypeVar

Item = TypeVar("Item")


class Table(list[Item], ABC):
    """A list that prints one line per item and renders as an HTML table in notebooks.

    It equals a plain list of the same items.
    """

    columns: ClassVar[Sequence[str]]

    @abstractmethod
    def cells(self, item: Item) -> Sequence[object]:
        """Return the values of an item, one per column."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(column)}</th>" for column in self.columns)
        rows = "".join(f"<tr>{''.join(map(_cell, self.cells(item)))}</tr>" for item in self)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(value: object) -> str:
    return f"<td>{escape('' if value is None else str(value))}</td>"
