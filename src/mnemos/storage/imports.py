"""The storage port of importers, and the rows they read from other programs' databases.

The position up to which a file was read is stored in the same transaction as the messages from it, so
nothing is stored twice or left out, however an import ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from msgspec import Struct

KEY_BITS: Final = 62
"""Size of a key, an unsigned hash of the id that a program gives a message."""


class ImportedFile(Struct, frozen=True):
    """Another program's file as it was when last read.

    ``position`` bytes and ``line`` lines of it have been imported. ``digest`` shows whether these are
    unchanged, and whether all was understood; ``state`` (JSON) is what the reader needs to continue.
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
    """A row of hermes-memory 0.3, whose ``archived`` facts are live but no longer found by it."""

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
    """A session in the ``state.db`` of Hermes Agent, with its messages in order.

    Columns are stored values by name; the set of columns depends on the version.
    """

    columns: Mapping[str, Any]
    messages: Sequence[Mapping[str, Any]]


class ImportReads(Protocol):
    def file(self, kind: str, path: str) -> ImportedFile | None: ...

    def files(self, kind: str | None) -> list[ImportedFile]:
        """The files of one kind, or all, in any order."""
        ...

    def owners(self, keys: Sequence[int]) -> dict[int, str]:
        """Map known keys to the session that holds them; \"\" if that session was deleted."""
        ...

    def keys_of(self, session_ids: Sequence[str]) -> list[int]:
        """All keys of these sessions."""
        ...

    def key_page(self, *, after: int | None, limit: int) -> list[tuple[int, str]]:
        """Keys with their sessions, in an order chosen by the engine, to go through all in short reads.

        ``after`` is the last key of the previous page, or None for the first page.
        """
        ...


class ImportWrites(ImportReads, Protocol):
    def note_file(self, file: ImportedFile) -> None:
        """Record how far a file was read, replacing what was known of it."""
        ...

    def drop_files(self) -> None:
        """Forget how far files were read, so the next import reads them from the start."""
        ...

    def note(self, session_id: str, keys: Sequence[int]) -> None:
        """Record keys of a session. A known key stays with its session.

        An unknown session raises NotFound.
        """
        ...

    def note_deleted(self, keys: Sequence[int]) -> None:
        """Record keys as belonging to a deleted session."""
        ...

    def drop(self, keys: Sequence[int]) -> None:
        """Forget keys; unknown keys are ignored."""
        ...
