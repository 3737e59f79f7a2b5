"""Texts that a database keeps where a home on a disk has files: the notebook and the templates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct


class Text(Struct, frozen=True):
    content: str
    version: int
    """Another number with each change."""
    changed_at: float


class Texts(Protocol):
    """Texts by name. A name has the folder in front, as in ``memories/MEMORY.md``."""

    def read(self, name: str) -> Text | None: ...

    def versions(self, folder: str) -> dict[str, int]:
        """The names in a folder, without it, and the version of each."""
        ...

    def put(self, name: str, before: str, after: str, at: float) -> None:
        """Replace a text, inside a transaction that this thread has open with ``Storage.write``.

        Raises Conflict, which undoes the transaction, if the text is not ``before``; none is empty.
        """
        ...

    def change(self, name: str, change: Callable[[str | None], str | None], at: float) -> None:
        """Replace a text by what ``change`` makes of it, as one transaction; None changes nothing."""
        ...

    def remove(self, name: str) -> bool:
        """Delete a text; False if there is none."""
        ...
