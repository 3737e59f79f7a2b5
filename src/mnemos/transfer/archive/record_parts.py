"""Archive parts of simple records: entries, imported keys, notes, templates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from msgspec import Meta

from mnemos.entries.backend import check_key, encode_fields, encode_metadata, encode_value
from mnemos.entries.entry_namespaces import check_namespace
from mnemos.errors import InvalidInput, MnemosError
from mnemos.inputs import optional_name
from mnemos.language.threats.guard import ADVICE
from mnemos.notebook.notes import Book, join_entries, parse_entries
from mnemos.storage.base import Writes
from mnemos.storage.entries import EntryRow, split_labels
from mnemos.storage.imports import KEY_BITS
from mnemos.structs import convert
from mnemos.templates.template import MAX_NAME, SessionTemplate
from mnemos.templates.tool_calls import clean_example
from mnemos.text.secrets import redact, redact_id
from mnemos.transfer.archive.manifest import (
    Moment,
    PartComparison,
    PartReport,
    exhaust,
    number_names,
    split_batches,
)

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.archive.archive_reader import Archive
    from mnemos.transfer.archive.archive_writer import ArchiveFolder

ENTRIES: Final = "entries"
ENTRIES_FILE: Final = "entries.jsonl"
_ENTRY_BATCH: Final = 50
IMPORTS: Final = "imports"
IMPORTS_FILE: Final = "imports.jsonl"
_LEDGER_PAGE: Final = 1_000
_LEDGER_BATCH: Final = 500
NOTEBOOK: Final = "notebook"
_MAX_NOTEBOOK_BYTES: Final = 10_000_000
_SHOWN_NOTE: Final = 60
TEMPLATES: Final = "templates"
TEMPLATES_FILE: Final = "templates.jsonl"


class EntryLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    user_id: str
    key: str
    value: Any
    metadata: dict[str, Any]
    created_at: Moment
    updated_at: Moment
    namespace: list[str] | None = None
    fields: list[str] | None = None
    expires_at: Moment | None = None


class EntryPart:
    """Every user's entries that are kept in this memory."""

    name = ENTRIES

    def __init__(self, memory: Memory) -> None:
        self._storage = memory.storage
        self._most = memory.settings.max_message_bytes
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
                    lines.write(entry_line(row))
                after = page[-1].id
                out.advance(len(page))
        out.count("entries", lines.rows)

    def check(self, archive: Archive) -> None:
        exhaust(self._read(archive))

    def import_part(self, archive: Archive, report: PartReport) -> None:
        for some in split_batches(self._read(archive), _ENTRY_BATCH):
            for done in self._storage.write(lambda tx: [_restore_entry(tx, row) for row in some]):  # noqa: B023
                setattr(report, done, getattr(report, done) + 1)

    def compare(self, archive: Archive, compared: PartComparison) -> None:
        for row in self._read(archive):
            there = self._storage.read(lambda tx: tx.entries.get(row.user, row.key))  # noqa: B023
            is_same = there is not None and msgspec.structs.replace(there, id=0, version=0) == row
            compared.add(f"entry {row.key[:60]!r} of {row.user[:60]!r}", is_same if there else None)

    def _read(self, archive: Archive) -> Iterator[EntryRow]:
        return archive.read(ENTRIES_FILE, self.parse)

    def parse(self, row: dict[str, Any]) -> EntryRow:
        """Check a line and return the entry, with secrets redacted."""
        line = convert(row, EntryLine)
        metadata = encode_metadata(line.metadata)
        labels = [redact_id(label, self._redact) for label in line.namespace or [line.user_id]]
        value, encoded = encode_value(line.key, line.value, self._most, self._redact)
        return EntryRow(
            id=0,
            user=check_namespace(labels if line.namespace else labels[0]),
            key=redact_id(check_key(line.key), self._redact),
            value=value,
            metadata=None if metadata is None else self._redact(metadata),
            created_at=line.created_at,
            updated_at=line.updated_at,
            version=0,
            encoded=encoded,
            fields=encode_fields(line.fields),
            expires_at=line.expires_at,
        )


def entry_line(row: EntryRow) -> dict[str, Any]:
    """Return an entry as a line, without unset optional fields."""
    labels = split_labels(row.user)
    line = {
        "user_id": labels[0],
        "key": row.key,
        "value": json.loads(row.value) if row.encoded else row.value,
        "metadata": json.loads(row.metadata) if row.metadata else {},
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }
    if len(labels) > 1 or labels[0] != row.user:
        line["namespace"] = list(labels)
    if row.fields is not None:
        line["fields"] = json.loads(row.fields)
    if row.expires_at is not None:
        line["expires_at"] = row.expires_at
    return line


def _restore_entry(tx: Writes, row: EntryRow) -> str:
    """Store an entry unless a later one exists; return the report field to count."""
    there = tx.entries.get(row.user, row.key)
    if there is not None and there.updated_at >= row.updated_at:
        return "there"
    tx.entries.restore(row)
    return "imported" if there is None else "updated"


class LedgerLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An imported message, by the hash of its key. Without a session it was deleted."""

    key: Annotated[int, Meta(ge=0, lt=1 << KEY_BITS)]
    session_id: str | None


class LedgerPart:
    """Keys of imported messages, so that importing their files again adds nothing.

    The positions in the files are not carried: on another machine they may be other files.
    """

    name = IMPORTS

    def __init__(self, memory: Memory) -> None:
        self._storage = memory.storage
        self._redact = redact if memory.settings.redact else str

    def size(self) -> int:
        return 1

    def write(self, out: ArchiveFolder) -> None:
        after: int | None = None
        with out.lines(IMPORTS, IMPORTS_FILE) as lines:
            while page := self._storage.read(
                lambda tx: tx.imports.key_page(after=after, limit=_LEDGER_PAGE)  # noqa: B023
            ):
                for key, session in page:
                    lines.write({"key": key, "session_id": session or None})
                after = page[-1][0]
        out.advance(1)
        out.count("imports", lines.rows)

    def check(self, archive: Archive) -> None:
        exhaust(archive.read(IMPORTS_FILE, self._parse_key))

    def import_part(self, archive: Archive, report: PartReport) -> None:
        for some in split_batches(archive.read(IMPORTS_FILE, self._parse_key), _LEDGER_BATCH):
            new = self._storage.write(lambda tx: _note_keys(tx, some))  # noqa: B023
            report.imported += new
            report.there += len(some) - new

    def compare(self, archive: Archive, compared: PartComparison) -> None:
        for some in split_batches(archive.read(IMPORTS_FILE, self._parse_key), _LEDGER_BATCH):
            keys = [line.key for line in some]
            known = self._storage.read(lambda tx: tx.imports.owners(keys))  # noqa: B023
            for key in keys:
                compared.add(f"the imported key {key}", key in known or None)

    def _parse_key(self, row: dict[str, Any]) -> LedgerLine:
        line = convert(row, LedgerLine)
        session = optional_name("session_id", line.session_id)
        return LedgerLine(line.key, session and redact_id(session, self._redact))


def _note_keys(tx: Writes, some: list[LedgerLine]) -> int:
    """Record the keys that are not known yet, and return how many."""
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
    """The files of the notebook."""

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
            if text and len(text.encode()) < _MAX_NOTEBOOK_BYTES:
                out.path(_book_path(book)).write_text(f"{text}\n", encoding="utf-8", newline="\n")
                out.note(NOTEBOOK, _book_path(book), len(entries))
            elif text:
                out.left_out.append(f"{book.filename} has {len(text):,} characters; shorten it first")
            out.count("notes", len(entries))
            out.advance(1)

    def check(self, archive: Archive) -> None:
        exhaust(_read_notes(archive))

    def import_part(self, archive: Archive, report: PartReport) -> None:
        for book, entry in _read_notes(archive):
            if entry in self._notebook.entries(book):
                report.there += 1
                continue
            try:
                # One turn per note, so that one that does not fit doesn't keep others out.
                self._notebook.begin_turn()
                self._notebook.add(entry, target=book, allow=archive.allow)
            except MnemosError as exc:
                # The rest of the error is advice for a model, with a list of all entries.
                reason = f"{book.filename}, {_quote_note(entry)}: {str(exc).partition('. ')[0]}"
                report.refuse(reason, is_marked=exc.advice == ADVICE)
            else:
                report.imported += 1
        self._notebook.begin_turn()

    def compare(self, archive: Archive, compared: PartComparison) -> None:
        for book, entry in _read_notes(archive):
            is_there = entry in self._notebook.entries(book)
            compared.add(f"the note {_quote_note(entry)} of {book.filename}", is_there or None)


def _book_path(book: Book) -> str:
    return f"notebook/{book.filename}"


def _read_notes(archive: Archive) -> Iterator[tuple[Book, str]]:
    for book in Book:
        path = _book_path(book)
        if not archive.has(path):
            continue
        data = archive.path(path).read_bytes()
        if len(data) > _MAX_NOTEBOOK_BYTES:
            raise InvalidInput(f"{path} has {len(data):,} bytes. The limit is {_MAX_NOTEBOOK_BYTES:,}.")
        try:
            entries = parse_entries(data.decode("utf-8"))
        except UnicodeDecodeError as exc:
            raise InvalidInput(f"{path} is not UTF-8 text ({exc.reason} at byte {exc.start})") from exc
        archive.check_rows(path, len(entries))
        yield from ((book, entry) for entry in entries)


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

    def check(self, archive: Archive) -> None:
        exhaust(archive.read(TEMPLATES_FILE, parse_template))

    def import_part(self, archive: Archive, report: PartReport) -> None:
        for template in archive.read(TEMPLATES_FILE, parse_template):
            try:
                self._import_template(template, report, allow=archive.allow)
            except MnemosError as exc:
                report.refuse(f"template {template.name}: {exc}", is_marked=exc.advice == ADVICE)

    def _import_template(self, template: SessionTemplate, report: PartReport, *, allow: bool) -> None:
        there = {one.name.casefold(): one for one in self._templates.read_all()}
        for name in number_names(template.name, MAX_NAME):
            known = there.get(name.casefold())
            if known is None:
                self._templates.save(replace(template, name=name), allow=allow)
                report.imported += 1
                if name != template.name:
                    report.explain(f"template {template.name} was renamed {name}: another one has its name")
                return
            if _template_contents(known) == _template_contents(template):
                report.there += 1
                return
        report.refuse(f"template {template.name}: too many templates have that name")

    def compare(self, archive: Archive, compared: PartComparison) -> None:
        there = self._templates.read_all()
        contents = [_template_contents(template) for template in there]
        names = {template.name.casefold() for template in there}
        for template in archive.read(TEMPLATES_FILE, parse_template):
            is_same = _template_contents(template) in contents
            is_there = is_same or template.name.casefold() in names
            compared.add(f"template {template.name}", is_same if is_there else None)


def parse_template(row: dict[str, Any]) -> SessionTemplate:
    """Check a template and clean its examples."""
    template = SessionTemplate.from_dict(row)
    template.examples = [clean_example(example) for example in template.examples]
    return template


def _template_contents(template: SessionTemplate) -> dict[str, Any]:
    """Return the fields to compare: all except name and uses."""
    return {**template.to_dict(), "name": "", "usage_count": 0}
