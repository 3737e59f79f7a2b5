"""What is known about users: the entries that are kept in this memory, of every user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from msgspec import Meta

from mnemos.entries.backend import check_key, check_user, check_value, encode_metadata
from mnemos.errors import InvalidInput
from mnemos.storage.base import Writes
from mnemos.storage.entries import EntryRow
from mnemos.text.secrets import redact
from mnemos.transfer.archive.batches import batches
from mnemos.transfer.archive.lines import shaped
from mnemos.transfer.archive.model import Brought, Compared

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.archive.reading import Source
    from mnemos.transfer.archive.writing import Out

NAME: Final = "entries"
FILE: Final = "entries.jsonl"
_BATCH: Final = 50

Moment = Annotated[float, Meta(gt=-1e12, lt=1e12)]


class EntryLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    user_id: str
    key: str
    value: str
    metadata: dict[str, Any]
    created_at: Moment
    updated_at: Moment


class EntryPart:
    name = NAME

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._storage = memory.storage
        self._redact = redact if memory.settings.redact else str

    def size(self) -> int:
        return self._storage.read(lambda tx: tx.entries.count())

    def write(self, out: Out) -> None:
        after = 0
        with out.lines(NAME, FILE) as lines:
            while page := self._storage.read(
                lambda tx: tx.entries.page(after=after, limit=_BATCH)  # noqa: B023
            ):
                for row in page:
                    lines.write(msgspec.to_builtins(_line(row)))
                after = page[-1].id
                out.advance(len(page))
        out.count("entries", lines.rows)

    def check(self, source: Source) -> dict[str, int]:
        return {FILE: sum(1 for _ in self._read(source))}

    def bring_in(self, source: Source, brought: Brought) -> None:
        for some in batches(self._read(source), _BATCH):
            brought_in = self._storage.write(lambda tx: [_restore(tx, row) for row in some])  # noqa: B023
            for done in brought_in:
                setattr(brought, done, getattr(brought, done) + 1)

    def compare(self, source: Source, compared: Compared) -> None:
        for row in self._read(source):
            there = self._storage.read(lambda tx: tx.entries.get(row.user, row.key))  # noqa: B023
            what = f"entry {row.key[:60]!r} of {row.user[:60]!r}"
            if there is None:
                compared.miss(what)
            elif _contents(there) != _contents(row):
                compared.differ(what)
            else:
                compared.same += 1

    def _read(self, source: Source) -> Iterator[EntryRow]:
        most = self._memory.settings.max_message_bytes
        for place, row in source.rows(FILE):
            line = shaped(row, EntryLine, place)
            try:
                about = encode_metadata(line.metadata)
                yield EntryRow(
                    id=0,
                    user=check_user(line.user_id),
                    key=check_key(line.key),
                    value=self._redact(check_value(line.value, most)),
                    metadata=None if about is None else self._redact(about),
                    created_at=line.created_at,
                    updated_at=line.updated_at,
                    version=0,
                )
            except InvalidInput as exc:
                raise type(exc)(f"{place}: {exc}") from exc


def _line(row: EntryRow) -> EntryLine:
    metadata = msgspec.json.decode(row.metadata) if row.metadata else {}
    return EntryLine(row.user, row.key, row.value, metadata, row.created_at, row.updated_at)


def _restore(tx: Writes, row: EntryRow) -> str:
    """What was set later wins; the count of the report that this belongs to."""
    there = tx.entries.get(row.user, row.key)
    if there is not None and there.updated_at >= row.updated_at:
        return "there"
    tx.entries.restore(row)
    return "imported" if there is None else "updated"


def _contents(row: EntryRow) -> tuple[Any, ...]:
    return row.value, row.metadata, row.created_at, row.updated_at
