"""The state of a memory for a sync: addresses of records, each with a digest.

Two memories with the same digest of an address have the same records there. An address is a part of a kind
(``facts/3f``), or of a session: ``session/0/ID`` is the session itself, ``session/1/ID`` its first messages.
The field ``own`` of a record has values of one machine, such as uses, and is not compared.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from mnemos.facts.fact_writer import removal_key
from mnemos.language.notation import key_of
from mnemos.notebook.notebook import KIND as NOTE
from mnemos.notebook.notebook import digest
from mnemos.notebook.notes import Book
from mnemos.projects import find_repository
from mnemos.sessions import transcript
from mnemos.sessions.records import session_dict
from mnemos.storage.base import MessageRow, Reads, SessionRow
from mnemos.storage.facts import FactRow
from mnemos.storage.tombstones import make_key
from mnemos.transfer.archive import fact_part
from mnemos.transfer.archive.record_parts import entry_line
from mnemos.transfer.archive.session_part import strip_message

if TYPE_CHECKING:
    from mnemos.memory import Memory

Record = dict[str, Any]
CHUNK: Final = 64
"""Number of messages per address."""
OWN: Final = "own"
REMOVED: Final = "removed"
SESSION: Final = "session"
_PAGE: Final = 500
# If both machines have one, each keeps its own.
_NOT_COMPARED: Final = ("source", "project", "branch", "model", "model_config")
_COUNTED: Final = ("message_count", "tool_call_count", "revision")


def dump(value: Any) -> str:
    """Encode a value as canonical JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def normalize(text: str | None) -> str | None:
    """Return a program's JSON in canonical form for comparing; other text unchanged."""
    try:
        return text and dump(json.loads(text))
    except ValueError:
        return text


def digest_records(records: Iterable[Record]) -> str:
    """Return the digest of records in any order."""
    lines = sorted(dump({key: value for key, value in one.items() if key != OWN}) for one in records)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


def session_address(session_id: str, part: int) -> str:
    return f"{SESSION}/{part}/{session_id}"


def split_address(address: str) -> tuple[str, int]:
    """Return the session and the part that an address names."""
    _, part, session_id = address.split("/", 2)
    return session_id, int(part)


def fact_key(fact: FactRow) -> str:
    """Return a fact's key, which is the same on every machine."""
    scope = None if fact.scope is None else key_of(fact.scope)
    told = (fact.mark, fact.key, fact.content, scope, fact.user_id)
    return make_key(*told, fact.recorded_at, fact.actor)


def read_facts(tx: Reads) -> Iterator[FactRow]:
    """Yield all facts by id, without those that were removed."""
    gone = {stone.key for stone in tx.tombstones.of_kind("fact")}
    return (fact for fact in fact_part.read_facts(tx) if not gone or removal_key(fact) not in gone)


class State:
    """The digests and records of a memory. Sessions are reread on request."""

    def __init__(self, memory: Memory, *, sessions: bool = True) -> None:
        """``sessions``: False leaves out the sessions' digests."""
        self._memory = memory
        self._storage = memory.storage
        self.records: dict[str, list[Record]] = {}
        self.digests: dict[str, str] = {}
        memory.notebook.log_manual_edits()
        memory.notebook.sync()
        self.renew_small()
        if sessions:
            for row in transcript.read_sessions(self._storage):
                self._add_session(row)

    def renew_small(self) -> None:
        """Reread everything except the sessions."""
        for address in self.records:
            self.digests.pop(address)
        kinds = self._removals, self._scopes, self._facts, self._entries, self._notes, self._templates
        found: dict[str, list[Record]] = defaultdict(list)
        for read in kinds:
            for address, record in read():
                found[address].append(record)
        self.records = dict(found)
        self.digests |= {address: digest_records(records) for address, records in found.items()}

    def renew_sessions(self, session_ids: Iterable[str]) -> None:
        """Reread these sessions."""
        wanted = set(session_ids)
        self.digests = {
            address: known
            for address, known in self.digests.items()
            if not address.startswith(f"{SESSION}/") or split_address(address)[0] not in wanted
        }
        for session_id in wanted:
            row = self._storage.read(lambda tx: tx.sessions.get(session_id))  # noqa: B023
            if row is not None:
                self._add_session(row)

    def read(self, address: str) -> list[Record]:
        """Return the records of an address; empty if there is no such address."""
        if not address.startswith(f"{SESSION}/"):
            return self.records.get(address, [])
        session_id, part = split_address(address)
        if part == 0:
            row = self._storage.read(lambda tx: tx.sessions.get(session_id))
            return [] if row is None else [self._header(row)]
        first = self._storage.read(lambda tx: tx.sessions.message_at(session_id, (part - 1) * CHUNK))
        if first is None:
            return []
        rows = self._storage.read(lambda tx: tx.sessions.messages(session_id, after=first - 1, limit=CHUNK))
        return [_message(row) for row in rows]

    def _header(self, row: SessionRow) -> Record:
        keys = self._storage.read(lambda tx: tx.imports.keys_of([row.id]))
        header = _make_header(row)
        own = {name: value for name, value in session_dict(row).items() if name in _NOT_COMPARED}
        repository = None if row.project is None else find_repository(row.project)
        return header | {OWN: own | {"imported": keys, "repository": repository}}

    def _add_session(self, row: SessionRow) -> None:
        self.digests[session_address(row.id, 0)] = digest_records([_make_header(row)])
        rows = transcript.read_messages(self._storage, row.id)
        part = 0
        while some := list(islice(rows, CHUNK)):
            part += 1
            self.digests[session_address(row.id, part)] = _digest_messages(some)

    def _removals(self) -> Iterator[tuple[str, Record]]:
        for stone in self._storage.read(lambda tx: tx.tombstones.of_kind(None)):
            record = {"kind": stone.kind, "key": stone.key, "at": stone.at, "forgotten": stone.forgotten}
            yield f"{REMOVED}/{make_key(stone.kind, stone.key)[0]}", record

    def _scopes(self) -> Iterator[tuple[str, Record]]:
        for scope in self._storage.read(lambda tx: tx.facts.newest_scopes(fact_part.ALL)):
            times = {"opened_at": scope.opened_at, "touched_at": scope.touched_at}
            yield "scopes", {"label": scope.label, **times, "closed_at": scope.closed_at}

    def _facts(self) -> Iterator[tuple[str, Record]]:
        self._memory.facts.flush()
        facts, messages = self._storage.read(_read_facts)
        keys = {fact.id: fact_key(fact) for fact in facts}
        for fact in facts:
            record = {
                "type": fact.mark, "target": fact.target, "content": fact.content, "scope": fact.scope,
                "state": fact.state, "recorded_at": fact.recorded_at, "ended_at": fact.ended_at,
                "valid_from": fact.valid_from, "valid_to": fact.valid_to, "session_id": fact.session_id,
                "actor": fact.actor, "stated_by": fact.stated_by, "user_id": fact.user_id,
                "by": keys.get(fact.superseded_by or 0),
            }  # fmt: skip
            said = messages.get(fact.message_id or 0)
            own = {"hot": fact.hot, "uses": fact.uses, "used_at": fact.used_at, "message": said}
            yield f"facts/{keys[fact.id][:2]}", record | {OWN: own}

    def _entries(self) -> Iterator[tuple[str, Record]]:
        after, now = 0, self._memory.clock()
        while page := self._storage.read(lambda tx: tx.entries.page(after=after, limit=_PAGE)):  # noqa: B023
            for row in page:
                if row.expires_at is None or row.expires_at > now:
                    yield f"entries/{make_key(row.user, row.key)[:2]}", entry_line(row)
            after = page[-1].id

    def _notes(self) -> Iterator[tuple[str, Record]]:
        times = read_note_times(self._memory)
        for name in self._memory.settings.notebook_files:
            book = Book(name)
            known = [one for one in self._memory.notebook.entries(book) if (book, one) in times]
            for place, entry in enumerate(dict.fromkeys(known)):
                yield f"notes/{book}", {"text": entry, "at": times[book, entry], "place": place}

    def _templates(self) -> Iterator[tuple[str, Record]]:
        for template in self._memory.templates.read_all():
            record = template.to_dict()
            own = {"usage_count": record.pop("usage_count")}
            at = read_template_time(self._memory, template.name)
            yield f"templates/{make_key(template.name)[0]}", record | {"changed_at": at, OWN: own}


def read_note_times(memory: Memory) -> dict[tuple[Book, str], float]:
    """Return when each note came, according to recall. Unknown notes are left out."""
    found = memory.storage.read(lambda tx: {one.ref: one.at for one in tx.passages.of_kind(NOTE)})
    return {
        (book, entry): found[ref]
        for book in map(Book, memory.settings.notebook_files)
        for entry in memory.notebook.entries(book)
        if (ref := f"{book}:{digest(entry)}") in found
    }


def read_template_time(memory: Memory, name: str) -> float:
    """Return a template's time of change, in the milliseconds that are always kept."""
    return round(memory.templates.files.changed_at(name), 3)


def _read_facts(tx: Reads) -> tuple[list[FactRow], dict[int, Record]]:
    """Return all facts, and the messages they came from by session, role and time."""
    facts, messages = list(read_facts(tx)), {}
    for number in {fact.message_id for fact in facts if fact.message_id is not None}:
        row = tx.sessions.message(number)
        if row is not None:
            messages[number] = {"session_id": row.session_id, "role": row.role, "at": row.timestamp}
    return facts, messages


def _make_header(row: SessionRow) -> Record:
    fields = session_dict(row)
    return {name: value for name, value in fields.items() if name not in (*_NOT_COMPARED, *_COUNTED)}


def _message(row: MessageRow) -> Record:
    record = strip_message(row)
    # Left out, because each machine marks what repeats its own memory.
    record.pop("origin", None)
    return record


def _digest_messages(rows: Iterable[MessageRow]) -> str:
    """Return the digest of messages in order."""
    hashed = hashlib.sha256()
    for row in rows:
        content = normalize(row.content) if row.encoded else row.content
        text = (content, row.encoded, normalize(row.tool_calls), normalize(row.metadata))
        marks = (row.tool_name, row.tool_call_id, row.token_count, row.forgotten, row.key, row.retired)
        hashed.update(dump([row.role, row.timestamp, *text, *marks]).encode())
    return hashed.hexdigest()[:32]
