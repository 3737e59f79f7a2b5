"""The one writer of imports: what a reader tells, stored in short transactions.

Each transaction holds whole messages, the keys by which they are known, and how far the file was read: all of
it or nothing. Several imports of the same files at once, or a kill at any moment, store nothing twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any, Final

from msgspec.structs import replace

from mnemos.errors import InvalidInput, TooLarge
from mnemos.storage.base import NewMessage, Reads, SessionRow, Storage, Writes
from mnemos.storage.imports import KEY_BITS, ImportedFile
from mnemos.transfer.reader import BEGINNING, Conversation, Item, Left, Mark, Report, Said, Unread

# What one transaction holds: small enough that an agent's own write does not notice.
_MESSAGES: Final = 200
_CHARACTERS: Final = 256_000
# Of a file, however little of it is a message: whoever has to stop soon is asked as often.
_READ: Final = 4_000_000
# Indexed after so much was stored, so that searches stay quick meanwhile; not after every transaction,
# because many words at once cost less.
_INDEX_CHARACTERS: Final = 2_000_000
_INDEX_SECONDS: Final = 0.5
_CUT: Final = "… [cut]"


@dataclass(frozen=True, slots=True)
class Border:
    """How what a reader tells becomes what is stored: checked, and without secrets."""

    session: Callable[[Mapping[str, Any]], SessionRow]
    message: Callable[[Mapping[str, Any]], NewMessage]
    longest: int
    """Characters that a message may certainly have."""


@dataclass(frozen=True, slots=True)
class _Kept:
    said: Said
    message: NewMessage
    keys: tuple[int, ...]


@dataclass(slots=True)
class _Outcome:
    created: set[str] = field(default_factory=set)
    continued: set[str] = field(default_factory=set)
    messages: int = 0
    known: int = 0
    left: dict[str, int] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def leave(self, what: str, count: int) -> None:
        self.left[what] = self.left.get(what, 0) + count


Place = Callable[[Mark, bool], ImportedFile]
"""What is to be noted of the file when all before a mark is stored, and whether that is all there is."""


class ImportWriter:
    """Stores what one import brings. ``created``: the sessions that are new."""

    def __init__(
        self,
        storage: Storage,
        kind: str,
        border: Border,
        report: Report,
        *,
        since: float | None = None,
        indexes: bool = True,
    ) -> None:
        """``since``: conversations that ended before are left out, where they come whole between marks."""
        self._storage = storage
        self._kind = kind
        self._border = border
        self._report = report
        self._since = since
        self._indexes = indexes
        self.created: set[str] = set()
        self._continued: set[str] = set()
        self._path = ""
        self._batch: list[_Kept] = []
        self._size = 0
        self._unindexed = 0
        self._conversations: dict[str, Conversation] = {}
        self._told_anew: set[str] = set()
        self._rehearsed: set[int] = set()

    def store(self, path: str, items: Iterable[Item], place: Place | None) -> Iterator[Mark]:
        """Store what a file tells; each mark whose messages are stored is passed on.

        ``place`` None: that the file was read is not remembered.
        """
        self._path = path
        try:
            yield from self._store(items, place)
        except (InvalidInput, OSError):
            # The file breaks off here; what stands before it counts.
            self._commit(None)
            raise
        finally:
            self._batch, self._size = [], 0
            self._told_anew.clear()
            self._conversations.clear()

    def _store(self, items: Iterable[Item], place: Place | None) -> Iterator[Mark]:
        last = BEGINNING
        noted: int | None = None
        for item in items:
            if isinstance(item, Said):
                self._take(item)
            elif isinstance(item, Mark):
                noted = item.position if noted is None else noted
                if self._is_full or item.position - noted >= _READ:
                    self._commit(None if place is None else place(item, False))  # noqa: FBT003
                    noted = item.position
                    yield item
                last = item
            elif isinstance(item, Conversation):
                self._conversations[item.id] = item
                self._told_anew.add(item.id)
            elif isinstance(item, Unread):
                self._report.miss(self._path, item.line, item.why)
            elif isinstance(item, Left):
                self._report.leave(item.what, item.count)
        self._commit(None if place is None else place(last, True))  # noqa: FBT003
        yield last

    def index(self) -> None:
        """Let everything be found by searches, so that none has to do it."""
        if self._indexes and not self._report.dry_run:
            self._storage.catch_up()

    # --- inside -----------------------------------------------------------------------------

    @property
    def _is_full(self) -> bool:
        return len(self._batch) >= _MESSAGES or self._size >= _CHARACTERS

    def _take(self, said: Said) -> None:
        try:
            message = self._checked(said.fields)
        except InvalidInput as exc:
            self._report.miss(self._path, 0, f"message {said.key}: {exc}")
            return
        self._batch.append(_Kept(said, message, tuple(map(self._key, (said.key, *said.also)))))
        self._size += len(message.content or "") + len(message.tool_calls or "")

    def _checked(self, fields: Mapping[str, Any]) -> NewMessage:
        try:
            return self._border.message(fields)
        except TooLarge:
            content = fields.get("content")
            if not isinstance(content, str) or len(content) <= self._border.longest:
                raise
            self._report.leave("ends of very long messages")
            return self._border.message({**fields, "content": content[: self._border.longest] + _CUT})

    def _key(self, name: str) -> int:
        digest = blake2b(f"{self._kind}\0{name}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") >> 64 - KEY_BITS

    def _commit(self, file: ImportedFile | None) -> None:
        batch = self._recent(self._batch)
        if self._report.dry_run:
            self._count(self._storage.read(lambda tx: self._rehearse(tx, batch)))
        elif batch or self._told_anew or file is not None:
            self._count(self._storage.write(lambda tx: self._write(tx, batch, file)))
        self._unindexed += self._size
        self._batch, self._size = [], 0
        self._told_anew.clear()
        if self._unindexed >= _INDEX_CHARACTERS and self._indexes and not self._report.dry_run:
            self._unindexed = 0
            self._storage.catch_up(_INDEX_SECONDS)

    def _recent(self, batch: list[_Kept]) -> list[_Kept]:
        if self._since is None:
            return batch
        last: dict[str, float] = {}
        for one in batch:
            session_id = one.said.session_id
            last[session_id] = max(one.message.timestamp, last.get(session_id, one.message.timestamp))
        old = {session_id for session_id, at in last.items() if at < self._since}
        if old:
            self._report.leave("older conversations", len(old))
        return [one for one in batch if one.said.session_id not in old]

    def _write(self, tx: Writes, batch: Sequence[_Kept], file: ImportedFile | None) -> _Outcome:
        outcome = _Outcome()
        for session_id, kept in _by_session(batch).items():
            new, parent = self._news(tx, session_id, kept, outcome)
            try:
                if new:
                    self._append(tx, session_id, new, parent, outcome)
            except InvalidInput as exc:
                # Before anything of it was written; the others still count.
                outcome.refused.append(f"session {session_id!r:.100}: {exc}")
        for session_id in self._told_anew - outcome.created - outcome.continued:
            try:
                self._fill(tx, session_id)
            except InvalidInput as exc:
                outcome.refused.append(f"session {session_id!r:.100}: {exc}")
        if file is not None:
            tx.imports.note_file(file)
        return outcome

    def _append(
        self, tx: Writes, session_id: str, new: Sequence[_Kept], parent: str | None, outcome: _Outcome
    ) -> None:
        session = self._session(tx, session_id, new[0].message.timestamp, parent)
        if tx.sessions.create(session):
            outcome.created.add(session_id)
        else:
            outcome.continued.add(session_id)
            tx.sessions.fill(session)
        tx.sessions.append(session_id, [one.message for one in new])
        read = sum(one.said.input_tokens for one in new)
        written = sum(one.said.output_tokens for one in new)
        if read or written:
            tx.sessions.add_tokens(session_id, read, written)
        keys = [key for one in new for key in one.keys]
        tx.imports.note(session_id, [self._session_key(session_id), *keys])
        outcome.messages += len(new)

    def _fill(self, tx: Writes, session_id: str) -> None:
        """What is told of a session that has no new messages, such as its title."""
        known = tx.sessions.get(session_id)
        if known is not None and tx.imports.owners([self._session_key(session_id)]):
            tx.sessions.fill(self._session(tx, session_id, known.started_at, None))

    def _news(
        self, tx: Reads, session_id: str, kept: Sequence[_Kept], outcome: _Outcome
    ) -> tuple[list[_Kept], str | None]:
        """What is not stored yet, and the session that has what is."""
        own = self._session_key(session_id)
        owners = tx.imports.owners([own, *(key for one in kept for key in one.keys)])
        is_there = tx.sessions.get(session_id) is not None
        if is_there and own not in owners:
            outcome.leave("messages of sessions that were recorded here another way", len(kept))
            return [], None
        if not is_there and own in owners:
            outcome.leave("messages of sessions that were deleted here", len(kept))
            return [], None
        new: list[_Kept] = []
        seen: set[int] = set()
        parent = None
        for one in kept:
            known = one.keys[0] in owners or one.keys[0] in seen
            if not known:
                new.append(one)
            elif owners.get(one.keys[0], session_id) != session_id:
                # A conversation that begins with a copy of another goes on from there.
                parent = owners[one.keys[0]] or parent
            seen.update(one.keys)
        outcome.known += len(kept) - len(new)
        return new, parent

    def _rehearse(self, tx: Reads, batch: Sequence[_Kept]) -> _Outcome:
        outcome = _Outcome()
        for session_id, kept in _by_session(batch).items():
            new, _ = self._news(tx, session_id, kept, outcome)
            fresh = [one for one in new if one.keys[0] not in self._rehearsed]
            self._rehearsed.update(key for one in fresh for key in one.keys)
            outcome.known += len(new) - len(fresh)
            outcome.messages += len(fresh)
            if fresh and (session_id in self.created or tx.sessions.get(session_id) is None):
                outcome.created.add(session_id)
            elif fresh:
                outcome.continued.add(session_id)
        return outcome

    def _session(self, tx: Writes, session_id: str, at: float, parent: str | None) -> SessionRow:
        told = self._conversations.get(session_id, Conversation(session_id, self._kind))
        parent = told.parent_id or parent
        fields = asdict(told)
        fields["parent_session_id"] = fields.pop("parent_id")
        fields["started_at"] = at if told.started_at is None else told.started_at
        row = self._border.session(fields)
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
        for what, count in outcome.left.items():
            self._report.leave(what, count)
        for why in outcome.refused:
            self._report.miss(self._path, 0, why)


def state_of(file: ImportedFile) -> Any:
    """What a reader left to know when it goes on."""
    return None if file.state is None else json.loads(file.state)


def _by_session(batch: Sequence[_Kept]) -> dict[str, list[_Kept]]:
    found: dict[str, list[_Kept]] = {}
    for one in batch:
        found.setdefault(one.said.session_id, []).append(one)
    return found
