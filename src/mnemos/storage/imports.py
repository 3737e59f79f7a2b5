"""What importers need from an engine, and the rows they read from other programs' databases.

The position up to which a file was read is stored in the same transaction as the messages from it, so
nothing is stored twice or left out, however an import ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from msgspec import Struct

KEY_BITS: Final = 62
"""Bits of a key, a whole number: the hash of what a program calls its message."""


class ImportedFile(Struct, frozen=True):
    """A file of another program as it was when it was last read.

    ``position`` bytes and ``line`` lines of it are stored. ``digest`` tells whether these are still the same;
    ``state`` is what its reader wants to know when it goes on, as JSON.
    """

    kind: str
    path: str
    size: int
    changed_ns: int
    position: int
    line: int
    digest: str
    state: str | None


@dataclass(frozen=True, slots=True)
class HermesFact:
    """A row of hermes-memory 0.3. Its ``archived`` facts are live ones that it no longer finds."""

    id: str
    type: str
    target: str
    content: str
    scope: str | None
    status: str
    superseded_by: str | None
    created_at: float
    updated_at: float
    scope_status: str | None


@dataclass(frozen=True, slots=True)
class HermesSession:
    """A session in the ``state.db`` of Hermes Agent, and its messages in the order they were written.

    Columns by name, as they are stored: which there are depends on the version.
    """

    columns: Mapping[str, Any]
    messages: Sequence[Mapping[str, Any]]


class ImportReads(Protocol):
    def file(self, kind: str, path: str) -> ImportedFile | None: ...

    def files(self, kind: str | None) -> list[ImportedFile]:
        """Those of a kind, or all; in any order."""
        ...

    def owners(self, keys: Sequence[int]) -> dict[int, str]:
        """The sessions in which these keys were stored; empty for one that is deleted. Unknown keys not."""
        ...

    def keys_of(self, session_ids: Sequence[str]) -> list[int]:
        """Every key of these sessions."""
        ...

    def noted(self, *, after: int | None, limit: int) -> list[tuple[int, str]]:
        """Keys with their sessions, in an order of the engine's own: for going through all in short reads.

        ``after``: the last key of the page before; None for the first page.
        """
        ...


class ImportWrites(ImportReads, Protocol):
    def note_file(self, file: ImportedFile) -> None:
        """Remember how far a file was read, in place of what was known of it."""
        ...

    def drop_files(self) -> None:
        """Forget how far any file was read: the next import reads all of them from their beginning."""
        ...

    def note(self, session_id: str, keys: Sequence[int]) -> None:
        """Remember keys of a session; a key that is known stays with the session it has.

        An unknown session raises NotFound.
        """
        ...

    def note_deleted(self, keys: Sequence[int]) -> None:
        """Remember keys as those of a session that is deleted."""
        ...

    def drop(self, keys: Sequence[int]) -> None:
        """Forget keys; unknown ones change nothing."""
        ...
