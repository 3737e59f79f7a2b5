"""Parts of an archive that are plain records: entries, imported keys, notes and templates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from msgspec import Meta

from mnemos.entries.backend import check_key, check_user, check_value, encode_metadata
from mnemos.errors import InvalidInput, MnemosError
from mnemos.inputs import name
from mnemos.notebook.notes import Book, join_entries, parse_entries
from mnemos.storage.base import Writes
from mnemos.storage.entries import EntryRow
from mnemos.storage.imports import KEY_BITS
from mnemos.templates.template import SessionTemplate
from mnemos.templates.tool_calls import clean_example
from mnemos.text.secrets import redact
from mnemos.transfer.archive.archive_reader import parse_row
from mnemos.transfer.archive.manifest import PartComparison, PartReport, batches

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.archive.archive_reader import Archive
    from mnemos.transfer.archive.archive_writer import ArchiveFolder

ENTRIES: Final = "entries"
ENTRIES_FILE: Final = "entries.jsonl"
_ENTRY_BATCH: Final = 50
Moment = Annotated[float, Meta(gt=-1e12, lt=1e12)]
IMPORTS: Final = "imports"
IMPORTS_FILE: Final = "imports.jsonl"
_LEDGER_PAGE: Final = 1_000
_LEDGER_BATCH: Final = 500
NOTEBOOK: Final = "notebook"
_LARGEST_NOTEBOOK: Final = 10_000_000
_SHOWN_NOTE: Final = 60
TEMPLATES: Final = "templates"
TEMPLATES_FILE: Final = "templates.jsonl"
_MOST_NUMBERED: Final = 1_000


class EntryLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    user_id: str
    key: str
    value: str
    metadata: dict[str, Any]
    created_at: Moment
    updated_at: Moment


class EntryPart:
    name = ENTRIES

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._storage = memory.storage
        self._redact = redact if memory.settings.redact else str

    def size(self) -> int:
        return self._storage.read(lambda tx: tx.entries.count())

    def write(self, out: ArchiveFolder) -> None:
        after = 0
        with out.lines(ENTRIES, ENTRIES_FILE) as lines:
            while page := self._storage.read(
                lambda tx: tx.entries.page(after=after, limit=_ENTRY_BATCH)  # noqa: B023
            ):
                for row in page:
                    lines.write(msgspec.to_builtins(_entry_line(row)))
                after = page[-1].id
                out.advance(len(page))
        out.count("entries", lines.rows)

    def check(self, source: Archive) -> dict[str, int]:
        return {ENTRIES_FILE: sum(1 for _ in self._read(source))}

    def import_part(self, source: Archive, brought: PartReport) -> None:
        for some in batches(self._read(source), _ENTRY_BATCH):
            brought_in = self._storage.write(lambda tx: [_restore_entry(tx, row) for row in some])  # noqa: B023
            for done in brought_in:
                setattr(brought, done, getattr(brought, done) + 1)

    def compare(self, source: Archive, compared: PartComparison) -> None:
        for row in self._read(source):
            there = self._storage.read(lambda tx: tx.entries.get(row.user, row.key))  # noqa: B023
            what = f"entry {row.key[:60]!r} of {row.user[:60]!r}"
            if there is None:
                compared.miss(what)
            elif _entry_contents(there) != _entry_contents(row):
                compared.differ(what)
            else:
                compared.same += 1

    def _read(self, source: Archive) -> Iterator[EntryRow]:
        most = self._memory.settings.max_message_bytes
        for place, row in source.rows(ENTRIES_FILE):
            line = parse_row(row, EntryLine, place)
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


def _entry_line(row: EntryRow) -> EntryLine:
    metadata = msgspec.json.decode(row.metadata) if row.metadata else {}
    return EntryLine(row.user, row.key, row.value, metadata, row.created_at, row.updated_at)


def _restore_entry(tx: Writes, row: EntryRow) -> str:
    """What was set later wins; the count of the report that this belongs to."""
    there = tx.entries.get(row.user, row.key)
    if there is not None and there.updated_at >= row.updated_at:
        return "there"
    tx.entries.restore(row)
    return "imported" if there is None else "updated"


def _entry_contents(row: EntryRow) -> tuple[Any, ...]:
    return row.value, row.metadata, row.created_at, row.updated_at


class LedgerLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message of another program, by the hash of what it is called there. No session: it was deleted."""

    key: Annotated[int, Meta(ge=0, lt=1 << KEY_BITS)]
    session_id: str | None


class LedgerPart:
    name = IMPORTS

    def __init__(self, memory: Memory) -> None:
        self._storage = memory.storage

    def size(self) -> int:
        return 1

    def write(self, out: ArchiveFolder) -> None:
        after: int | None = None
        with out.lines(IMPORTS, IMPORTS_FILE) as lines:
            while page := self._storage.read(
                lambda tx: tx.imports.noted(after=after, limit=_LEDGER_PAGE)  # noqa: B023
            ):
                for key, session in page:
                    lines.write({"key": key, "session_id": session or None})
                after = page[-1][0]
        out.advance(1)
        out.count("imports", lines.rows)

    def check(self, source: Archive) -> dict[str, int]:
        return {IMPORTS_FILE: sum(1 for _ in _read_ledger(source))}

    def import_part(self, source: Archive, brought: PartReport) -> None:
        for some in batches(_read_ledger(source), _LEDGER_BATCH):
            new = self._storage.write(lambda tx: _note_keys(tx, some))  # noqa: B023
            brought.imported += new
            brought.there += len(some) - new

    def compare(self, source: Archive, compared: PartComparison) -> None:
        for some in batches(_read_ledger(source), _LEDGER_BATCH):
            keys = [line.key for line in some]
            known = self._storage.read(lambda tx: tx.imports.owners(keys))  # noqa: B023
            for line in some:
                if line.key in known:
                    compared.same += 1
                else:
                    compared.miss(f"the note that {line.key} was imported")


def _read_ledger(source: Archive) -> Iterator[LedgerLine]:
    for place, row in source.rows(IMPORTS_FILE):
        line = parse_row(row, LedgerLine, place)
        if line.session_id is not None:
            name(f"{place}: session_id", line.session_id)
        yield line


def _note_keys(tx: Writes, some: list[LedgerLine]) -> int:
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


class NotePart:
    name = NOTEBOOK

    def __init__(self, memory: Memory) -> None:
        self._notebook = memory.notebook

    def size(self) -> int:
        return len(Book)

    def write(self, out: ArchiveFolder) -> None:
        for book in Book:
            try:
                entries = self._notebook.entries(book)
            except MnemosError as exc:
                out.left_out.append(f"{book.filename}: {exc}")
                continue
            text = join_entries(entries)
            if text and len(text.encode()) < _LARGEST_NOTEBOOK:
                out.path(_note_file(book)).write_text(f"{text}\n", encoding="utf-8", newline="\n")
                out.note(NOTEBOOK, _note_file(book), len(entries))
            elif text:
                out.left_out.append(f"{book.filename} has {len(text):,} characters; shorten it first")
            out.count("notes", len(entries))
            out.advance(1)

    def check(self, source: Archive) -> dict[str, int]:
        return {
            _note_file(book): len(_read_notes(source, book)) for book in Book if source.has(_note_file(book))
        }

    def import_part(self, source: Archive, brought: PartReport) -> None:
        for book in Book:
            for entry in _read_notes(source, book):
                if entry in self._notebook.entries(book):
                    brought.there += 1
                    continue
                try:
                    # Each for itself: one that does not fit keeps no other out.
                    self._notebook.begin_turn()
                    self._notebook.add(entry, target=book)
                except MnemosError as exc:
                    # What to do about it is said to a model that writes, and names all entries.
                    brought.refuse(f"{book.filename}, {_quote_note(entry)}: {str(exc).partition('. ')[0]}")
                else:
                    brought.imported += 1
        self._notebook.begin_turn()

    def compare(self, source: Archive, compared: PartComparison) -> None:
        for book in Book:
            there = self._notebook.entries(book)
            for entry in _read_notes(source, book):
                if entry in there:
                    compared.same += 1
                else:
                    compared.miss(f"the note {_quote_note(entry)} of {book.filename}")


def _note_file(book: Book) -> str:
    return f"notebook/{book.filename}"


def _read_notes(source: Archive, book: Book) -> list[str]:
    if not source.has(_note_file(book)):
        return []
    data = source.path(_note_file(book)).read_bytes()
    if len(data) > _LARGEST_NOTEBOOK:
        raise InvalidInput(f"{_note_file(book)} has {len(data):,} bytes; no notebook is as large")
    try:
        return parse_entries(data.decode("utf-8"))
    except UnicodeDecodeError as exc:
        raise InvalidInput(
            f"{_note_file(book)} is not UTF-8 text ({exc.reason} at byte {exc.start})"
        ) from exc


def _quote_note(entry: str) -> str:
    return repr(entry if len(entry) <= _SHOWN_NOTE else entry[: _SHOWN_NOTE - 1] + "…")


class TemplatePart:
    name = TEMPLATES

    def __init__(self, memory: Memory) -> None:
        self._templates = memory.templates

    def size(self) -> int:
        return 1

    def write(self, out: ArchiveFolder) -> None:
        with out.lines(TEMPLATES, TEMPLATES_FILE) as lines:
            for template in sorted(self._templates.read_all(), key=lambda template: template.name):
                lines.write(template.to_dict())
        out.left_out += [
            f"template {problem.name}: {problem.reason}" for problem in self._templates.problems()
        ]
        out.count("templates", lines.rows)
        out.advance(1)

    def check(self, source: Archive) -> dict[str, int]:
        return {TEMPLATES_FILE: sum(1 for _ in _read_templates(source))}

    def import_part(self, source: Archive, brought: PartReport) -> None:
        for template in _read_templates(source):
            self._bring(template, brought)

    def _bring(self, template: SessionTemplate, brought: PartReport) -> None:
        there = {one.name.casefold(): one for one in self._templates.read_all()}
        for free in _number_names(template.name):
            known = there.get(free.casefold())
            if known is not None and _template_contents(known) == _template_contents(template):
                brought.there += 1
                return
            if known is None:
                self._save(template, free, brought)
                return
        brought.refuse(f"template {template.name}: there are too many of that name")

    def _save(self, template: SessionTemplate, name: str, brought: PartReport) -> None:
        try:
            self._templates.save(replace(template, name=name))
        except MnemosError as exc:
            brought.refuse(f"template {template.name}: {exc}")
            return
        brought.imported += 1
        if name != template.name:
            brought.tell(f"template {template.name} is {name} here: another one has its name")

    def compare(self, source: Archive, compared: PartComparison) -> None:
        there = [_template_contents(template) for template in self._templates.read_all()]
        names = {template.name.casefold() for template in self._templates.read_all()}
        for template in _read_templates(source):
            if _template_contents(template) in there:
                compared.same += 1
            elif template.name.casefold() in names:
                compared.differ(f"template {template.name}")
            else:
                compared.miss(f"template {template.name}")


def _read_templates(source: Archive) -> Iterator[SessionTemplate]:
    for place, row in source.rows(TEMPLATES_FILE):
        try:
            template = SessionTemplate.from_dict(row)
            template.examples = [clean_example(example) for example in template.examples]
        except InvalidInput as exc:
            raise type(exc)(f"{place}: {exc}") from exc
        yield template


def _number_names(name: str) -> Iterator[str]:
    yield name
    for number in range(2, _MOST_NUMBERED):
        yield f"{name}-{number}"


def _template_contents(template: SessionTemplate) -> dict[str, Any]:
    """What a template says; its name and how often it was used are no part of it."""
    return {**template.to_dict(), "name": "", "usage_count": 0}
