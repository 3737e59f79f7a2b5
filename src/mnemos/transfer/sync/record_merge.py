"""Removals, entries, notes and templates of another machine, merged here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf, nextafter
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from mnemos.entries.entry_store import removal_key as entry_removal_key
from mnemos.errors import MnemosError
from mnemos.notebook import note_changes
from mnemos.notebook.notebook import KIND as NOTE
from mnemos.notebook.notebook import digest
from mnemos.notebook.notes import Book, join_entries
from mnemos.notebook.notes import removal_key as note_removal_key
from mnemos.storage.base import Writes
from mnemos.storage.entries import KIND as ENTRY
from mnemos.storage.entries import EntryRow
from mnemos.storage.tombstones import Tombstone
from mnemos.structs import convert
from mnemos.templates.template import SessionTemplate
from mnemos.templates.template_store import KIND as TEMPLATE
from mnemos.templates.template_store import removal_key as template_removal_key
from mnemos.transfer.archive.manifest import Moment, split_batches
from mnemos.transfer.archive.record_parts import EntryPart, entry_line, parse_template
from mnemos.transfer.sync.fact_merge import bury_facts
from mnemos.transfer.sync.session_merge import bury_sessions, parse_message_key, revive_sessions
from mnemos.transfer.sync.state import OWN, Record, dump, read_note_times, read_template_time
from mnemos.transfer.sync.tally import Tally

if TYPE_CHECKING:
    from mnemos.memory import Memory

_BATCH: Final = 50
_SHOWN: Final = 60


class RemovedLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: Literal["session", "message", "fact", "note", "entry", "template"]
    key: Annotated[str, Meta(min_length=1, max_length=2_000)]
    at: Moment
    forgotten: bool


class NoteLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(max_length=1_000_000)]
    at: Moment
    place: int


def read_removed(records: Sequence[Record]) -> list[Tombstone]:
    """Check another machine's removals."""
    stones = []
    for record in records:
        line = convert(record, RemovedLine)
        if line.kind == "message":
            parse_message_key(line.key)
        stones.append(Tombstone(line.kind, line.key, line.at, line.forgotten))
    return stones


def merge_removed(memory: Memory, stones: Sequence[Tombstone], tally: Tally) -> None:
    """Apply removals, except to what was changed here since."""
    known = {(one.kind, one.key): one for one in memory.storage.read(lambda tx: tx.tombstones.of_kind(None))}
    new = [one for one in stones if _is_news(one, known.get((one.kind, one.key)))]
    for kinds, bury in (
        (("session", "message"), bury_sessions), (("fact",), bury_facts), ((ENTRY,), _bury_entries),
        ((NOTE,), _bury_notes), ((TEMPLATE,), _bury_templates),
    ):  # fmt: skip
        some = [stone for stone in new if stone.kind in kinds]
        if some:
            bury(memory, some, tally)


def revive(memory: Memory) -> None:
    """Give items that were recreated after a removal a later time, so that they return."""
    revive_sessions(memory)
    entries = _read_stones(memory, ENTRY)
    for row, stone in _find_entries(memory, entries) if entries else ():
        later = nextafter(max(stone.at, row.updated_at), inf)
        memory.storage.write(
            lambda tx: tx.entries.restore(replace(row, created_at=later, updated_at=later))  # noqa: B023
        )
    notes = _read_stones(memory, NOTE)
    for (book, entry), at in read_note_times(memory).items() if notes else ():
        later = at
        while note_removal_key(book, later, entry) in notes:
            later = nextafter(max(later, memory.clock()), inf)
        if later != at:
            _set_times(memory, book, {entry: later}, is_later=True)
    templates = _read_stones(memory, TEMPLATE)
    for template in list(memory.templates.read_all()) if templates else ():
        gone = templates.get(template_removal_key(template))
        if gone is not None and read_template_time(memory, template.name) <= gone.at:
            memory.templates.save(template, at=gone.at + 0.001)


def _is_news(stone: Tombstone, known: Tombstone | None) -> bool:
    return known is None or known.at < stone.at or known.forgotten < stone.forgotten


def _is_gone(changed_at: float, stone: Tombstone | None) -> bool:
    return stone is not None and (stone.forgotten or changed_at <= stone.at)


def _read_stones(memory: Memory, kind: str) -> dict[str, Tombstone]:
    return {one.key: one for one in memory.storage.read(lambda tx: tx.tombstones.of_kind(kind))}


def _put(memory: Memory, stones: Sequence[Tombstone]) -> None:
    for some in split_batches(stones, 500):
        memory.storage.write(lambda tx: tx.tombstones.put(some))  # noqa: B023


def _find_entries(memory: Memory, stones: Mapping[str, Tombstone]) -> Iterator[tuple[EntryRow, Tombstone]]:
    """Yield the entries that were removed there and not changed since."""
    after = 0
    while page := memory.storage.read(lambda tx: tx.entries.page(after=after, limit=500)):  # noqa: B023
        after = page[-1].id
        for row in page:
            stone = stones.get(entry_removal_key(row))
            if stone is not None and _is_gone(row.updated_at, stone):
                yield row, stone


def _bury_entries(memory: Memory, stones: Sequence[Tombstone], tally: Tally) -> None:
    for row, stone in _find_entries(memory, {stone.key: stone for stone in stones}):
        memory.storage.write(lambda tx: _bury_entry(tx, row, stone))  # noqa: B023
        tally.remove("entries", forgotten=stone.forgotten)
    _put(memory, stones)


def _bury_entry(tx: Writes, row: EntryRow, stone: Tombstone) -> None:
    tx.entries.delete(row.user, row.key)
    tx.tombstones.put([stone])


def merge_entries(memory: Memory, records: Sequence[Record], tally: Tally) -> None:
    """Merge entries. The last change of a key counts."""
    part = EntryPart(memory)
    stones, now = _read_stones(memory, ENTRY), memory.clock()
    rows = [part.parse(record) for record in records]

    def work(tx: Writes, some: Sequence[EntryRow]) -> None:
        for row in some:
            here = tx.entries.get(row.user, row.key)
            if here is None or is_expired(here):
                # An expired entry may exist until it is cleaned up.
                tx.entries.restore(row)
                tally.add("entries")
            elif (here.updated_at, _content(here)) < (row.updated_at, _content(row)):
                tx.entries.restore(row)
                tally.change("entries")

    def is_expired(row: EntryRow) -> bool:
        return row.expires_at is not None and row.expires_at <= now

    live = [
        row
        for row in rows
        if not is_expired(row) and not _is_gone(row.updated_at, stones.get(entry_removal_key(row)))
    ]
    for some in split_batches(live, _BATCH):
        memory.storage.write(lambda tx: work(tx, some))  # noqa: B023


def _content(row: EntryRow) -> str:
    return dump(entry_line(row))


def _bury_notes(memory: Memory, stones: Sequence[Tombstone], tally: Tally) -> None:
    gone = {stone.key for stone in stones}
    for (book, entry), at in read_note_times(memory).items():
        if note_removal_key(book, at, entry) in gone:
            memory.notebook.shrink(book, entry, None)
            tally.remove("notes")
    for book in map(Book, memory.settings.notebook_files):
        if book in gone:
            memory.storage.write(lambda tx: _erase_log(memory, tx, book))  # noqa: B023
            tally.is_scrubbed = False
    _put(memory, stones)


def _erase_log(memory: Memory, tx: Writes, book: Book) -> None:
    """Erase a file's earlier versions from the log, as if its note was forgotten here."""
    tx.audit.scrub(note_changes.ref(book))
    tx.audit.record(
        at=memory.clock(),
        actor=memory.settings.current_actor,
        operation=note_changes.FORGET,
        ref=note_changes.ref(book),
        # The next version starts from what is left.
        after=join_entries(memory.notebook.entries(book)),
    )


def merge_notes(memory: Memory, book: Book, records: Sequence[Record], tally: Tally) -> None:
    """Merge a file's notes in the order they came, as far as there is room."""
    stones, notebook = _read_stones(memory, NOTE), memory.notebook
    lines = [convert(record, NoteLine) for record in records]
    there = {one.text: one.at for one in lines if note_removal_key(book, one.at, one.text) not in stones}
    here = {entry: at for (file, entry), at in read_note_times(memory).items() if file is book}
    order = [one.text for one in sorted(lines, key=lambda one: one.place) if one.text in there]
    if notebook.entries(book) != order:
        for entry in sorted(there.keys() - here.keys(), key=lambda entry: (there[entry], digest(entry))):
            _add_note(memory, book, entry, tally)
        entries = notebook.entries(book)
        times = there | {entry: min(at, there.get(entry, at)) for entry, at in here.items()}
        # Notes unknown to recall come first.
        merged = sorted(entries, key=lambda entry: (times.get(entry, -inf), digest(entry)))
        if merged != entries:
            notebook.exchange(book, entries, merged)
    _set_times(memory, book, there)


def _add_note(memory: Memory, book: Book, entry: str, tally: Tally) -> None:
    try:
        # One turn per note, so that one that does not fit doesn't keep others out.
        memory.notebook.begin_turn()
        memory.notebook.add(entry, target=book)
    except MnemosError as exc:
        shown = entry if len(entry) <= _SHOWN else entry[: _SHOWN - 1] + "…"
        tally.explain(f"the note {shown!r} was not taken: {str(exc).partition('. ')[0]}")
    else:
        tally.add("notes")
    memory.notebook.begin_turn()


def _set_times(memory: Memory, book: Book, times: Mapping[str, float], *, is_later: bool = False) -> None:
    """Record when notes first came, so that both machines name removals alike.

    ``is_later``: also replace an earlier time.
    """

    def work(tx: Writes) -> None:
        for entry, at in times.items():
            ref = f"{book}:{digest(entry)}"
            known = tx.passages.find(NOTE, ref)
            if known is not None and (at < known.at or (is_later and at != known.at)):
                tx.passages.put(NOTE, ref, text=known.text, at=at, also=book)

    memory.storage.write(work)


def _bury_templates(memory: Memory, stones: Sequence[Tombstone], tally: Tally) -> None:
    wanted = {stone.key: stone for stone in stones}
    for template in list(memory.templates.read_all()):
        stone = wanted.get(template_removal_key(template))
        if stone is not None and _is_gone(read_template_time(memory, template.name), stone):
            memory.templates.files.remove(template.name)
            tally.remove("templates")
    _put(memory, stones)


def merge_templates(memory: Memory, records: Sequence[Record], tally: Tally) -> None:
    """Merge templates. The last change of a name counts."""
    stones = _read_stones(memory, TEMPLATE)
    for record in records:
        fields = dict(record)
        own, at = fields.pop(OWN, {}), convert(fields.pop("changed_at", None), Moment)
        uses = own.get("usage_count", 0) if isinstance(own, dict) else 0
        template = parse_template(fields | {"usage_count": uses})
        if not _is_gone(at, stones.get(template_removal_key(template))):
            try:
                _merge_template(memory, template, at, tally)
            except MnemosError as exc:
                tally.explain(f"the template {template.name} was not taken: {str(exc).partition('. ')[0]}")


def _merge_template(memory: Memory, template: SessionTemplate, at: float, tally: Tally) -> None:
    known = {one.name: one for one in memory.templates.read_all()}.get(template.name)
    if known is not None:
        mine = read_template_time(memory, known.name), _text(known)
        if mine >= (at, _text(template)):
            return
    memory.templates.save(template, at=at)
    tally.add("templates") if known is None else tally.change("templates")


def _text(template: SessionTemplate) -> str:
    return dump(template.to_dict() | {"usage_count": 0})
