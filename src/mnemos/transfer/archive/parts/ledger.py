"""Which messages came from files of other programs: after a restore, reading those files again adds nothing.

How far each file was read is not carried: on another machine it may be another file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from mnemos.inputs import name
from mnemos.storage.base import Writes
from mnemos.storage.imports import KEY_BITS
from mnemos.transfer.archive.batches import batches
from mnemos.transfer.archive.lines import shaped
from mnemos.transfer.archive.model import Brought, Compared

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.archive.reading import Source
    from mnemos.transfer.archive.writing import Out

NAME: Final = "imports"
FILE: Final = "imports.jsonl"
_PAGE: Final = 1_000
_BATCH: Final = 500


class LedgerLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message of another program, by the hash of what it is called there. No session: it was deleted."""

    key: Annotated[int, Meta(ge=0, lt=1 << KEY_BITS)]
    session_id: str | None


class LedgerPart:
    name = NAME

    def __init__(self, memory: Memory) -> None:
        self._storage = memory.storage

    def size(self) -> int:
        return 1

    def write(self, out: Out) -> None:
        after: int | None = None
        with out.lines(NAME, FILE) as lines:
            while page := self._storage.read(
                lambda tx: tx.imports.noted(after=after, limit=_PAGE)  # noqa: B023
            ):
                for key, session in page:
                    lines.write({"key": key, "session_id": session or None})
                after = page[-1][0]
        out.advance(1)
        out.count("imports", lines.rows)

    def check(self, source: Source) -> dict[str, int]:
        return {FILE: sum(1 for _ in _read(source))}

    def bring_in(self, source: Source, brought: Brought) -> None:
        for some in batches(_read(source), _BATCH):
            new = self._storage.write(lambda tx: _note(tx, some))  # noqa: B023
            brought.imported += new
            brought.there += len(some) - new

    def compare(self, source: Source, compared: Compared) -> None:
        for some in batches(_read(source), _BATCH):
            keys = [line.key for line in some]
            known = self._storage.read(lambda tx: tx.imports.owners(keys))  # noqa: B023
            for line in some:
                if line.key in known:
                    compared.same += 1
                else:
                    compared.miss(f"the note that {line.key} was imported")


def _read(source: Source) -> Iterator[LedgerLine]:
    for place, row in source.rows(FILE):
        line = shaped(row, LedgerLine, place)
        if line.session_id is not None:
            name(f"{place}: session_id", line.session_id)
        yield line


def _note(tx: Writes, some: list[LedgerLine]) -> int:
    """Remember what is not known yet; how many."""
    known = tx.imports.owners([line.key for line in some])
    by_session: dict[str | None, list[int]] = {}
    for line in some:
        if line.key not in known:
            by_session.setdefault(line.session_id, []).append(line.key)
    for session_id, keys in by_session.items():
        if session_id is not None and tx.sessions.get(session_id) is not None:
            tx.imports.note(session_id, keys)
        else:
            tx.imports.note_deleted(keys)
    return sum(map(len, by_session.values()))
