"""The writer of imports: stores readers' items in short transactions.

Each transaction holds whole messages, their keys, and the position in the file. So several imports of the
same files at once, or a kill at any moment, store nothing twice.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from itertools import takewhile
from typing import Any, Final

from msgspec.structs import replace

from mnemos.errors import InvalidInput, TooLarge
from mnemos.projects import find_project
from mnemos.sessions import echoes
from mnemos.sessions.records import new_message, new_session
from mnemos.settings import Settings
from mnemos.storage.base import NewMessage, Reads, SessionRow, Storage, Writes
from mnemos.storage.imports import KEY_BITS, ImportedFile
from mnemos.text.secrets import redact, redact_id
from mnemos.transfer.reader import (
    BEGINNING,
    Conversation,
    ImportedMessage,
    ImportReport,
    Item,
    Mark,
    Skipped,
    Unreadable,
)

# Limits of one transaction, so that an agent's own write is not delayed.
_MESSAGES: Final = 200
_CHARACTERS: Final = 256_000
# Maximum bytes and lines between two commits, so that an import can soon stop at one.
_READ: Final = 4_000_000
_LINES: Final = 5_000
# Text stored between two rounds of indexing, which don't wait for another process that indexes. Each search
# meanwhile indexes the rest for itself; a round after every small file would cost more than it saves.
_INDEX_CHARACTERS, _INDEX_SECONDS = 50_000, 5.0
_CUT: Final = "… [cut]"
_BYTES_PER_CHARACTER: Final = 4


@dataclass(frozen=True, slots=True)
class _Checked:
    """A message to store, without its original fields, which may be much longer."""

    session_id: str
    message: NewMessage
    keys: tuple[int, ...]
    input_tokens: int
    output_tokens: int
    rest: Callable[[int], ImportedMessage | None] | None


@dataclass(slots=True)
class _Outcome:
    created: set[str] = field(default_factory=set)
    continued: set[str] = field(default_factory=set)
    messages: int = 0
    known: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)


Place = Callable[[Mark, bool], ImportedFile]
"""Makes the ledger's note on a file, given a mark and whether it is the end."""


class ImportWriter:
    """Stores one import's items. ``created`` are its new sessions."""

    def __init__(
        self,
        storage: Storage,
        settings: Settings,
        now: float,
        kind: str,
        report: ImportReport,
        *,
        since: float | None = None,
        indexes: bool = True,
    ) -> None:
        """``since`` skips older conversations of readers that yield them whole."""
        self._storage = storage
        self._kind = kind
        self._now = now
        self._most = settings.max_message_bytes
        self._redact = redact if settings.redact else str
        self._report = report
        self._since = since
        self._indexes = indexes
        self.created: set[str] = set()
        self._continued: set[str] = set()
        self._path = ""
        self._batch: list[_Checked] = []
        self._size = 0
        self._unindexed = 0
        self._conversations: dict[str, Conversation] = {}
        self._ids: dict[str, str] = {}
        self._changed: set[str] = set()
        self._rehearsed: set[int] = set()

    def store(self, path: str, items: Iterable[Item], place: Place | None) -> Iterator[Mark]:
        """Store a file's items, and yield each mark whose messages are stored.

        Without ``place``, the ledger doesn't note that the file was read.
        """
        self._path = path
        try:
            yield from self._store(items, place)
        except (InvalidInput, OSError):
            # The file is broken from here on, but earlier items count.
            self._commit(None)
            raise
        finally:
            self._batch, self._size = [], 0
            self._changed.clear()
            self._conversations.clear()
            self._ids.clear()

    def _store(self, items: Iterable[Item], place: Place | None) -> Iterator[Mark]:
        last = BEGINNING
        noted: Mark | None = None
        for item in items:
            if isinstance(item, ImportedMessage):
                self._take(self._hide_secret(item))
            elif isinstance(item, Mark):
                noted = noted or item
                is_far = item.position - noted.position >= _READ or item.line - noted.line >= _LINES
                if self._is_full or is_far:
                    self._commit(None if place is None else place(item, False))  # noqa: FBT003
                    noted = item
                    yield item
                last = item
            elif isinstance(item, Conversation):
                session_id = self._ids.get(item.id) or redact_id(item.id, self._redact)
                self._ids[item.id] = session_id
                about = dataclasses.replace(item, id=session_id)
                # Some readers repeat the conversation before each message.
                if self._conversations.get(session_id) != about:
                    self._conversations[session_id] = about
                    self._changed.add(session_id)
            elif isinstance(item, Unreadable):
                self._report.add_problem(self._path, item.line, item.why)
            elif isinstance(item, Skipped):
                self._report.skip(item.what, item.count)
        self._commit(None if place is None else place(last, True))  # noqa: FBT003
        yield last

    def index(self) -> None:
        """Index everything, so that no search has to."""
        if self._indexes and not self._report.dry_run:
            self._storage.catch_up()

    @property
    def _is_full(self) -> bool:
        return len(self._batch) >= _MESSAGES or self._size >= _CHARACTERS

    def _hide_secret(self, item: ImportedMessage) -> ImportedMessage:
        """Return a message whose session id contains no secret."""
        session_id = self._ids.get(item.session_id) or redact_id(item.session_id, self._redact)
        same = session_id == item.session_id
        return item if same else dataclasses.replace(item, session_id=session_id)

    def _take(self, item: ImportedMessage) -> None:
        checked = self._check_item(item)
        if checked is not None:
            self._batch.append(checked)
            self._size += len(checked.message.content or "") + len(checked.message.tool_calls or "")

    def _check_item(self, item: ImportedMessage) -> _Checked | None:
        try:
            message = self._check(item.fields)
        except InvalidInput as exc:
            self._report.add_problem(self._path, 0, f"message {item.key}: {exc}")
            return None
        keys = tuple(map(self._key, (item.key, *item.also)))
        tokens = item.input_tokens, item.output_tokens
        return _Checked(item.session_id, message, keys, *tokens, item.rest)

    def _check(self, fields: Mapping[str, Any]) -> NewMessage:
        content, longest = fields.get("content"), self._most // _BYTES_PER_CHARACTER // 2
        try:
            if isinstance(content, str) and len(content) > self._most:
                raise TooLarge("it has more characters than a message may have bytes")
            return new_message(
                fields, now=self._now, redact=self._redact, max_bytes=self._most, any_role=True
            )
        except TooLarge:
            if not isinstance(content, str) or len(content) <= longest:
                raise
            self._report.skip("ends of very long messages")
            return self._check({**fields, "content": content[: longest - len(_CUT)] + _CUT})

    def _key(self, name: str) -> int:
        digest = blake2b(f"{self._kind}\0{name}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") >> 64 - KEY_BITS

    def _commit(self, file: ImportedFile | None) -> None:
        batch = self._drop_old(self._batch)
        if self._report.dry_run:
            self._count(self._storage.read(lambda tx: self._rehearse(tx, batch)))
        elif batch or self._changed or file is not None:
            self._count(self._storage.write(lambda tx: self._write(tx, batch, file)))
        self._unindexed += self._size
        self._batch, self._size = [], 0
        self._changed.clear()
        if self._unindexed >= _INDEX_CHARACTERS and self._indexes and not self._report.dry_run:
            self._unindexed = 0
            self._storage.catch_up(_INDEX_SECONDS)

    def _drop_old(self, batch: list[_Checked]) -> list[_Checked]:
        if self._since is None:
            return batch
        last: dict[str, float] = {}
        for one in batch:
            session_id = one.session_id
            last[session_id] = max(one.message.timestamp, last.get(session_id, one.message.timestamp))
        old = {session_id for session_id, at in last.items() if at < self._since}
        if old:
            self._report.skip("older conversations", len(old))
        return [one for one in batch if one.session_id not in old]

    def _write(self, tx: Writes, batch: Sequence[_Checked], file: ImportedFile | None) -> _Outcome:
        outcome = _Outcome()
        said = _group_by_session(batch)
        # Keep their order, because parents come first.
        announced = [session_id for session_id in self._conversations if session_id in self._changed]
        for session_id in dict.fromkeys([*announced, *said]):
            kept = said.get(session_id)
            new, parent = self._select_new(tx, session_id, kept, outcome) if kept else ([], None)
            try:
                if new:
                    self._append(tx, session_id, new, parent, outcome)
                elif session_id in self._changed:
                    self._fill(tx, session_id, outcome)
            except InvalidInput as exc:
                # Nothing of this session was written, and the others still count.
                outcome.refused.append(f"session {session_id!r:.100}: {exc}")
        if file is not None:
            tx.imports.note_file(file)
        return outcome

    def _append(
        self, tx: Writes, session_id: str, new: Sequence[_Checked], parent: str | None, outcome: _Outcome
    ) -> None:
        session = self._make_session(tx, session_id, new[0].message.timestamp, parent)
        if tx.sessions.create(session):
            outcome.created.add(session_id)
        else:
            outcome.continued.add(session_id)
            tx.sessions.fill(session)
        messages = [one.message for one in new]
        echoes.append(tx, session_id, messages, max(message.timestamp for message in messages))
        read = sum(one.input_tokens for one in new)
        written = sum(one.output_tokens for one in new)
        if read or written:
            tx.sessions.add_tokens(session_id, read, written)
        keys = [key for one in new for key in one.keys]
        tx.imports.note(session_id, [self._session_key(session_id), *keys])
        outcome.messages += len(new)

    def _fill(self, tx: Writes, session_id: str, outcome: _Outcome) -> None:
        """Update a session without new messages, such as its title, or store an empty one."""
        known = tx.sessions.get(session_id)
        if known is not None and tx.imports.owners([self._session_key(session_id)]):
            tx.sessions.fill(self._make_session(tx, session_id, known.started_at, None))
        elif self._is_new_and_empty(tx, session_id):
            tx.sessions.create(self._make_session(tx, session_id, self._now, None))
            tx.imports.note(session_id, [self._session_key(session_id)])
            outcome.created.add(session_id)

    def _is_new_and_empty(self, tx: Reads, session_id: str) -> bool:
        """True if an empty session should be stored and never was."""
        about = self._conversations[session_id]
        is_old = self._since is not None and (about.started_at is None or about.started_at < self._since)
        if not about.may_be_empty or is_old or any(one.session_id == session_id for one in self._batch):
            return False
        owners = tx.imports.owners([self._session_key(session_id)])
        return not owners and tx.sessions.get(session_id) is None

    def _select_new(
        self, tx: Reads, session_id: str, kept: Sequence[_Checked], outcome: _Outcome
    ) -> tuple[list[_Checked], str | None]:
        """Return the messages that are not stored yet, and the session with the others."""
        own = self._session_key(session_id)
        owners = tx.imports.owners([own, *(key for one in kept for key in one.keys)])
        is_there = tx.sessions.get(session_id) is not None
        if is_there and own not in owners:
            outcome.skipped["messages of sessions that were recorded here another way"] += len(kept)
            return [], None
        if not is_there and own in owners:
            outcome.skipped["messages of sessions that were deleted here"] += len(kept)
            return [], None
        new: list[_Checked] = []
        seen: set[int] = set()
        parent = None
        for one in kept:
            known = sum(1 for _ in takewhile(lambda key: key in owners or key in seen, one.keys))
            left = one if not known else self._read_rest(one, known)
            if left is not None:
                new.append(left)
            if known and owners.get(one.keys[0], session_id) != session_id:
                # A conversation that begins with a copy of another one continues it.
                parent = owners[one.keys[0]] or parent
            seen.update(one.keys)
        outcome.known += len(kept) - len(new)
        return new, parent

    def _read_rest(self, one: _Checked, known: int) -> _Checked | None:
        """Return a message without its stored first lines; None if nothing is left."""
        item = None if one.rest is None or known == len(one.keys) else one.rest(known)
        return None if item is None else self._check_item(self._hide_secret(item))

    def _rehearse(self, tx: Reads, batch: Sequence[_Checked]) -> _Outcome:
        outcome = _Outcome()
        for session_id, kept in _group_by_session(batch).items():
            new, _ = self._select_new(tx, session_id, kept, outcome)
            fresh = [one for one in new if one.keys[0] not in self._rehearsed]
            self._rehearsed.update(key for one in fresh for key in one.keys)
            outcome.known += len(new) - len(fresh)
            outcome.messages += len(fresh)
            if fresh and (session_id in self.created or tx.sessions.get(session_id) is None):
                outcome.created.add(session_id)
            elif fresh:
                outcome.continued.add(session_id)
        empty = (session_id for session_id in self._changed if self._is_new_and_empty(tx, session_id))
        outcome.created.update(empty)
        return outcome

    def _make_session(self, tx: Writes, session_id: str, at: float, parent: str | None) -> SessionRow:
        conversation = self._conversations.get(session_id, Conversation(session_id, self._kind))
        parent = redact_id(conversation.parent_id, self._redact) if conversation.parent_id else parent
        fields = asdict(conversation)
        fields["parent_session_id"] = fields.pop("parent_id")
        about = conversation.metadata or {}
        fields |= {"project": find_project(about.get("cwd")), "branch": about.get("git_branch")}
        fields["started_at"] = at if conversation.started_at is None else conversation.started_at
        row = new_session(fields, started=self._now, redact=self._redact, max_bytes=self._most)
        is_known = parent is not None and parent != session_id and tx.sessions.get(parent) is not None
        return replace(row, parent_session_id=parent if is_known else None)

    def _session_key(self, session_id: str) -> int:
        return self._key(f"session\0{session_id}")

    def _count(self, outcome: _Outcome) -> None:
        self.created |= outcome.created
        self._continued |= outcome.continued - self.created
        self._report.sessions = len(self.created)
        self._report.continued = len(self._continued)
        self._report.messages += outcome.messages
        self._report.known += outcome.known
        for what, count in outcome.skipped.items():
            self._report.skip(what, count)
        for why in outcome.refused:
            self._report.add_problem(self._path, 0, why)


def _group_by_session(batch: Sequence[_Checked]) -> dict[str, list[_Checked]]:
    found: dict[str, list[_Checked]] = {}
    for one in batch:
        found.setdefault(one.session_id, []).append(one)
    return found
