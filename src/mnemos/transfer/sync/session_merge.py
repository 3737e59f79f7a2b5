"""Sessions of another machine, merged into those of this one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, filterfalse
from math import inf, nextafter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from mnemos.errors import InvalidInput
from mnemos.projects import find_repository
from mnemos.sessions import session_upkeep, transcript
from mnemos.sessions.records import load_json, new_session
from mnemos.sessions.session_upkeep import message_key
from mnemos.sessions.transcript import IncomingMessage
from mnemos.storage.base import MessageRow, NewMessage, SessionRow, Writes
from mnemos.storage.tombstones import Tombstone, make_key
from mnemos.text.secrets import redact
from mnemos.transfer.sync.message_order import Item, Pair, merge_order
from mnemos.transfer.sync.state import OWN, Record, dump, normalize, read_facts
from mnemos.transfer.sync.tally import Tally

if TYPE_CHECKING:
    from mnemos.memory import Memory

# Messages to change per transaction, to keep it short.
_BATCH = 50
# If these are empty on one machine, they were set on the other one since.
_FILLED = ("title", "metadata", "system_prompt")
_LATEST = ("archived", "ended_at", "end_reason")

Gone = Mapping[tuple[str, float], set[int]]
"""Places of a session's removed messages, by role and time; see ``session_upkeep.message_key``."""


@dataclass(slots=True)
class IncomingSession:
    """Another machine's session, whose first ``skip`` messages are the same as here."""

    header: Record
    skip: int = 0
    messages: list[Record] = field(default_factory=list)


def is_gone(session: SessionRow, stone: Tombstone | None) -> bool:
    """True if a session was forgotten, or deleted after its last change."""
    if stone is None:
        return False
    return session.started_at <= stone.at if stone.forgotten else session.updated_at <= stone.at


def revive_sessions(memory: Memory) -> None:
    """Give sessions that were recreated after a removal a later time.

    A removal is recorded in its own transaction, so what exists in spite of it came later, even if the clock
    of the other machine disagrees.
    """

    def work(tx: Writes, stone: Tombstone) -> None:
        row = tx.sessions.get(stone.key)
        if row is not None and is_gone(row, stone):
            later = nextafter(stone.at, inf)
            started = later if stone.forgotten else row.started_at
            tx.sessions.renew(replace(row, started_at=started, updated_at=max(later, row.updated_at)))

    stones = memory.storage.read(lambda tx: tx.tombstones.of_kind(session_upkeep.SESSION))
    for stone in stones:
        if memory.storage.read(lambda tx: tx.sessions.get(stone.key)) is not None:  # noqa: B023
            memory.storage.write(lambda tx: work(tx, stone))  # noqa: B023


def list_sessions(stones: Sequence[Tombstone]) -> set[str]:
    """Return the sessions that removals refer to."""
    sessions = {stone.key for stone in stones if stone.kind == session_upkeep.SESSION}
    return sessions | list_gone(stones).keys()


def list_gone(stones: Sequence[Tombstone]) -> dict[str, Gone]:
    """Return the removed messages by session."""
    gone: dict[str, Any] = defaultdict(lambda: defaultdict(set))
    for stone in stones:
        if stone.kind == session_upkeep.MESSAGE:
            session_id, role, at, place = load_json(stone.key)
            gone[session_id][role, at].add(place)
    return gone


class SessionMerge:
    """Merges sessions into a memory, in short, repeatable transactions."""

    def __init__(self, memory: Memory, tally: Tally, gone_there: Mapping[str, Gone] | None = None) -> None:
        """``gone_there``: removals that the other machine applied; by default ours."""
        self._memory = memory
        self._storage = memory.storage
        self._tally = tally
        stones = self._storage.read(lambda tx: tx.tombstones.of_kind(session_upkeep.SESSION))
        self._stones = {stone.key: stone for stone in stones}
        self._gone = list_gone(self._storage.read(lambda tx: tx.tombstones.of_kind(session_upkeep.MESSAGE)))
        self._gone_there = self._gone if gone_there is None else gone_there
        self._children: list[tuple[str, str]] = []
        settings = memory.settings
        self._redact = redact if settings.redact else str
        self._rules: dict[str, Any] = {"redact": self._redact, "max_bytes": settings.max_message_bytes}
        self._projects: dict[str | None, str] | None = None
        self._sources: set[int] | None = None
        """The messages that facts were taken from."""

    def merge(self, incoming: IncomingSession) -> None:
        """Merge a session, unless it was deleted here after its last change."""
        own = incoming.header.get(OWN)
        fields = {**(own if isinstance(own, dict) else {}), **incoming.header}
        session = self._place(new_session(fields, started=0.0, **self._rules), fields.get("repository"))
        if is_gone(session, self._stones.get(session.id)):
            return
        now = self._memory.clock()
        messages = [transcript.check_message(one, now=now, **self._rules) for one in incoming.messages]
        here = self._storage.read(lambda tx: tx.sessions.get(session.id))
        users = {session.user_id, session.user_id if here is None else here.user_id} - {None}
        if len(users) > 1:
            self._tally.explain(f"session {session.id} belongs to another user here; it was left unchanged")
            return
        if here is None:
            messages = self._drop_gone(session.id, [], messages)
            _, added = transcript.store_session(self._storage, session, messages, now=now)
            self._tally.add("sessions")
            self._tally.add("messages", added)
        else:
            self._merge_messages(session.id, incoming.skip, messages)
            self._storage.write(lambda tx: self._merge_fields(tx, session))
        self._note_keys(session.id, fields.get("imported"))
        if session.parent_session_id is not None:
            self._children.append((session.id, session.parent_session_id))

    def _place(self, session: SessionRow, repository: object) -> SessionRow:
        """Return a session with its repository's path on this machine, if known."""
        if repository is None or session.project is None:
            return session
        if self._projects is None:
            known = {
                *self._storage.read(lambda tx: tx.sessions.projects()),
                self._memory.settings.project or "",
            }
            self._projects = {find_repository(project): project for project in sorted(known)}
        return replace(session, project=self._projects.get(str(repository), session.project))

    def finish(self) -> None:
        """Attach sessions to parents that arrived later, and index the messages."""
        for session_id, parent in self._children:
            self._storage.write(lambda tx: self._attach(tx, session_id, parent))  # noqa: B023
        self._storage.catch_up()

    def _attach(self, tx: Writes, session_id: str, parent: str) -> None:
        """Set a parent. Of two, the one with more ancestors wins, as it was restored."""
        row, line = tx.sessions.get(session_id), _list_line(tx, parent)
        if row is None or not line or row.parent_session_id == parent:
            return
        if session_id in line:
            self._tally.explain(f"session {session_id}: its parent {parent} descends from it here")
        elif (len(line), parent) > (len(known := _list_line(tx, row.parent_session_id)), "".join(known[:1])):
            tx.sessions.set_parent(session_id, parent)
            self._tally.change("sessions")

    def _merge_fields(self, tx: Writes, there: SessionRow) -> None:
        here = tx.sessions.get(there.id)
        if here is None:
            return
        one, two = sorted((here, there), key=lambda row: (row.updated_at, dump(_fields(row))))
        merged = replace(
            two,
            **{name: getattr(two, name) or getattr(one, name) for name in _FILLED},
            started_at=min(one.started_at, two.started_at),
            input_tokens=max(one.input_tokens, two.input_tokens),
            output_tokens=max(one.output_tokens, two.output_tokens),
        )
        set_below = {"parent_session_id": None, "title": None, "metadata": None, "system_prompt": None}
        tx.sessions.fill(replace(there, **set_below))
        if _fields(merged) != _fields(here):
            tx.sessions.renew(merged)
            if merged.metadata != here.metadata:
                tx.sessions.set_metadata(here.id, merged.metadata)
            if merged.system_prompt != here.system_prompt:
                tx.sessions.set_system_prompt(here.id, merged.system_prompt)
            self._tally.change("sessions")

    def _merge_messages(self, session_id: str, skip: int, messages: Sequence[IncomingMessage]) -> None:
        rows = list(transcript.read_messages(self._storage, session_id))
        skip = min(skip, len(rows))
        here = [self._make_item(row) for row in rows]
        coming = self._drop_gone(session_id, rows[:skip], messages)
        there = [*here[:skip], *(self._make_item(one.message, one.forgotten) for one in coming)]
        pairs = merge_order(here, there, skip)
        incoming = [None] * skip + list(coming)
        self._mark(session_id, rows, incoming, pairs)
        settled = next((place for place, pair in enumerate(pairs) if pair.here != place), len(pairs))
        self._move(session_id, rows, incoming, pairs[settled:])

    def _mark(
        self,
        session_id: str,
        rows: Sequence[MessageRow],
        incoming: Sequence[IncomingMessage | None],
        pairs: Sequence[Pair],
    ) -> None:
        """Forget and retire messages as on the other machine."""
        now = self._memory.clock()
        changes: list[tuple[MessageRow, IncomingMessage | None, bool]] = []
        for pair in pairs:
            row = None if pair.here is None else rows[pair.here]
            other = None if pair.there is None else incoming[pair.there]
            if row is None:
                continue
            is_retired = other is not None and other.retired and not row.retired
            if is_retired or (pair.is_forgotten and not row.forgotten):
                changes.append((row, other, pair.is_forgotten))

        def work(tx: Writes, some: Sequence[tuple[MessageRow, IncomingMessage | None, bool]]) -> None:
            for row, other, is_forgotten in some:
                if is_forgotten and not row.forgotten:
                    session_upkeep.forget_message(tx, row.id, now, self._log)
                    self._tally.remove("messages", forgotten=True)
                if other is not None and other.retired:
                    free = [row.key] if row.key is not None and other.message.key is None else []
                    tx.sessions.retire(session_id, row.id, row.id, free=free)

        for start in range(0, len(changes), _BATCH):
            self._storage.write(lambda tx: work(tx, changes[start : start + _BATCH]))  # noqa: B023

    def _move(
        self,
        session_id: str,
        rows: Sequence[MessageRow],
        incoming: Sequence[IncomingMessage | None],
        pairs: Sequence[Pair],
    ) -> None:
        """Append messages in order. Existing ones are moved, so that none is there twice."""

        def work(tx: Writes, some: Sequence[Pair]) -> int:
            moved = [rows[pair.here].id for pair in some if pair.here is not None]
            # They changed since they were read, by this merge or by somebody else.
            now_here = {row.id: row for number in moved if (row := tx.sessions.message(number)) is not None}
            tx.sessions.remove(moved)
            batch: list[IncomingMessage] = []
            former: list[int | None] = []
            for pair in some:
                number = None if pair.here is None else rows[pair.here].id
                if number is not None and number not in now_here:
                    continue
                other = None if pair.there is None else incoming[pair.there]
                coming = other if number is None else _copy(now_here[number])
                if coming is not None:
                    batch.append(_forget(coming) if pair.is_forgotten else coming)
                    former.append(number)
            ids = transcript.append_batch(tx, session_id, batch, self._memory.clock())
            sources = self._find_sources() if moved else set()
            links = ((old, new) for old, new in zip(former, ids, strict=True) if old in sources)
            tx.facts.move_sources({old: new for old, new in links if old is not None})
            return sum(number is None for number in former)

        for some in _split(pairs, incoming):
            self._tally.add("messages", self._storage.write(lambda tx: work(tx, some)))  # noqa: B023
            self._storage.catch_up(transcript.INDEX_SECONDS)

    def _find_sources(self) -> set[int]:
        if self._sources is None:
            self._sources = self._storage.read(lambda tx: {fact.message_id or 0 for fact in read_facts(tx)})
        return self._sources

    def _drop_gone(
        self, session_id: str, before: Sequence[MessageRow], messages: Sequence[IncomingMessage]
    ) -> list[IncomingMessage]:
        """Leave out messages that were removed here. ``before``: the other's first ones."""
        gone = self._gone.get(session_id)
        if not gone:
            return list(messages)
        there = self._gone_there.get(session_id) or {}
        places: dict[tuple[str, float], Iterator[int]] = {}

        def is_left(row: MessageRow | NewMessage) -> bool:
            key = row.role, row.timestamp
            taken = there.get(key, set())
            free = places.setdefault(key, filterfalse(taken.__contains__, count()))
            return next(free) not in gone.get(key, ())

        for row in before:
            is_left(row)
        return [one for one in messages if is_left(one.message)]

    def _make_item(self, row: MessageRow | NewMessage, forgotten: bool = False) -> Item:  # noqa: FBT001, FBT002
        if forgotten or (isinstance(row, MessageRow) and row.forgotten):
            return Item(row.role, row.timestamp, None)
        content = normalize(row.content) if row.encoded else row.content
        # One of the machines may not redact.
        texts = (None if text is None else redact(text) for text in (content, normalize(row.tool_calls)))
        return Item(row.role, row.timestamp, make_key(*texts, row.tool_name, row.tool_call_id))

    def _note_keys(self, session_id: str, keys: object) -> None:
        """Record imported messages, so that importing the same file adds nothing."""
        if not isinstance(keys, list) or not all(isinstance(key, int) and 0 <= key < 1 << 62 for key in keys):
            return
        for start in range(0, len(keys), 500):
            self._storage.write(lambda tx: tx.imports.note(session_id, keys[start : start + 500]))  # noqa: B023

    def _log(self, tx: Writes, operation: str, ref: str, before: str | None, after: str | None) -> int:
        at, actor = self._memory.clock(), self._memory.settings.current_actor
        return tx.audit.record(at=at, actor=actor, operation=operation, ref=ref, before=before, after=after)


def bury_sessions(memory: Memory, stones: Sequence[Tombstone], tally: Tally) -> None:
    """Apply another machine's removals of sessions and messages."""
    merge = SessionMerge(memory, tally)
    kept_since = memory.clock() - memory.settings.audit_days * 86400.0
    for stone in stones:
        if stone.kind == session_upkeep.MESSAGE:
            memory.storage.write(lambda tx: _remove_message(tx, stone, tally))  # noqa: B023
            continue
        row = memory.storage.read(lambda tx: tx.sessions.get(stone.key))  # noqa: B023
        if row is None or not is_gone(row, stone):
            memory.storage.write(lambda tx: tx.tombstones.put([stone]))  # noqa: B023
            continue
        if stone.forgotten:
            memory.storage.write(lambda tx: _forget_session(tx, stone, merge._log))  # noqa: B023
        else:
            session_upkeep.delete(memory.storage, stone.key, merge._log, kept_since, at=stone.at)
        tally.remove("sessions", forgotten=stone.forgotten)
    memory.storage.finish_deletes()


def _forget_session(tx: Writes, stone: Tombstone, log: session_upkeep.Log) -> None:
    session_upkeep.forget_session(tx, stone.key, log, stone.at)


def _list_line(tx: Writes, session_id: str | None) -> list[str]:
    """Return a session and its ancestors; empty if it does not exist."""
    line: list[str] = []
    while session_id is not None and (row := tx.sessions.get(session_id)) is not None:
        line.append(session_id)
        session_id = row.parent_session_id
    return line


def _remove_message(tx: Writes, stone: Tombstone, tally: Tally) -> None:
    session_id, role, at, place = load_json(stone.key)
    row = session_upkeep.find_places(tx, session_id, role, at).get(place)
    tx.tombstones.put([stone])
    if row is not None:
        tx.sessions.remove([row.id])
        tally.remove("messages")


def parse_message_key(key: str) -> None:
    """Raise InvalidInput unless a key is a message's."""
    found = load_json(key) if key.startswith("[") else None
    match found:
        case [str(), str(), int() | float(), int()] if key == message_key(*found):
            return
    raise InvalidInput(f"{key[:100]!r} is not the key of a message")


def _split(pairs: Sequence[Pair], incoming: Sequence[IncomingMessage | None]) -> Iterator[Sequence[Pair]]:
    """Split into batches for short transactions."""
    batch: list[Pair] = []
    size = 0
    for pair in pairs:
        batch.append(pair)
        other = None if pair.there is None else incoming[pair.there]
        texts = () if other is None else (other.message.content, other.message.tool_calls)
        size += sum(len(text or "") for text in texts)
        if len(batch) >= _BATCH or size > 100_000:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _fields(row: SessionRow) -> list[Any]:
    numbers = (row.started_at, row.input_tokens, row.output_tokens, row.updated_at)
    return [*(getattr(row, name) for name in (*_FILLED, *_LATEST)), *numbers]


def _copy(row: MessageRow) -> IncomingMessage:
    calls = load_json(row.tool_calls)
    count = len(calls) if isinstance(calls, list) else int(calls is not None)
    message = NewMessage(
        row.role, row.timestamp, row.tool_name, row.tool_call_id, row.token_count, row.encoded, row.metadata,
        row.tool_calls, row.content, row.origin, row.key, count,
    )  # fmt: skip
    return IncomingMessage(message, row.forgotten, row.retired)


def _forget(coming: IncomingMessage) -> IncomingMessage:
    message = coming.message._replace(content=None, encoded=False, metadata=None)
    return IncomingMessage(message, forgotten=True, retired=coming.retired)
