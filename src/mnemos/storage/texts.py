"""The storage port of texts that a server keeps instead of files: the notebook and the templates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct


class Text(Struct, frozen=True):
    content: str
    version: int
    """A number that changes with each write."""
    changed_at: float


class Texts(Protocol):
    """Texts by name. A name begins with its folder, as in ``memories/MEMORY.md``."""

    def read(self, name: str) -> Text | None: ...

    def versions(self, folder: str) -> dict[str, int]:
        """The names in a folder, without its prefix, and their versions."""
        ...

    def put(self, name: str, before: str, after: str, at: float) -> None:
        """Replace a text inside this thread's current ``Storage.write`` transaction.

        Raises Conflict, which undoes the transaction, if the text is not ``before``. A missing text is empty.
        """
        ...

    def change(self, name: str, change: Callable[[str | None], str | None], at: float) -> None:
        """Replace a text with the result of ``change`` in one transaction. None changes nothing."""
        ...

    def remove(self, name: str) -> bool:
        """Delete a text. False if there is none."""
        ...
