"""The storage port of importers, and the rows they read from other programs' databases.

The position up to which a file was read is stored in the same transaction as its messages, so an interrupted
import neither repeats nor skips any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from msgspec import Struct

KEY_BITS: Final = 62
"""The bits of a key, an unsigned hash of a program's id for a message."""


class ImportedFile(Struct, frozen=True):
    """The state of another program's file when it was last read.

    ``position`` bytes and ``line`` lines have been imported. ``digest`` shows if these are unchanged, and if
    all of them were understood. The reader continues from ``state`` (JSON).
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
    """A row of hermes-memory 0.3. Its ``archived`` facts are live, but hidden from its searches."""

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

    Columns are the stored values by name. The set of columns depends on the version.
    """

    columns: Mapping[str, Any]
    messages: Sequence[Mapping[str, Any]]


class ImportReads(Protocol):
    def file(self, kind: str, path: str) -> ImportedFile | None: ...

    def files(self, kind: str | None) -> list[ImportedFile]:
        """The files of one kind, or all files, in any order."""
        ...

    def owners(self, keys: Sequence[int]) -> dict[int, str]:
        """Map known keys to their session, or to \"\" if it was deleted."""
        ...

    def keys_of(self, session_ids: Sequence[str]) -> list[int]:
        """All keys of these sessions."""
        ...

    def key_page(self, *, after: int | None, limit: int) -> list[tuple[int, str]]:
        """Keys with their sessions, in the engine's order, to go through all in short reads.

        ``after`` is the last key of the previous page; None starts from the beginning.
        """
        ...


class ImportWrites(ImportReads, Protocol):
    def note_file(self, file: ImportedFile) -> None:
        """Record how far a file was read, replacing the earlier record."""
        ...

    def drop_files(self) -> None:
        """Forget how far files were read, so that the next import reads them from the start."""
        ...

    def note(self, session_id: str, keys: Sequence[int]) -> None:
        """Record keys of a session. A known key keeps its session.

        An unknown session raises NotFound.
        """
        ...

    def note_deleted(self, keys: Sequence[int]) -> None:
        """Record keys as belonging to a deleted session."""
        ...

    def drop(self, keys: Sequence[int]) -> None:
        """Forget keys; unknown keys are ignored."""
        ...
