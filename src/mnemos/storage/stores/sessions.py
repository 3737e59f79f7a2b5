"""Sessions and messages inside the caller's transaction.

Engines add appending, indexing and searching of messages.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict

from mnemos.errors import NotFound, Refused
from mnemos.storage.base import (
    Filters,
    Glimpse,
    Hit,
    MessageRow,
    NewMessage,
    Order,
    Results,
    SessionFilters,
    SessionRow,
)
from mnemos.storage.queries import Queries
from mnemos.storage.search import WordIndex
from mnemos.storage.sessions import AppendedMessage, CreatedSession
from mnemos.storage.space import Space
from mnemos.storage.stores.vectors import MESSAGES, Eraser
from mnemos.storage.terms import Indexable, ids_of, indexable, message_row
from mnemos.storage.transaction import Store, Transaction, write_ids, write_names
from mnemos.text.query import Query

_ARCHIVED = 16
_FILLED = ("user_id", "model", "parent", "title", "title_folded", "project", "branch", "next", "key")
_RENEWED = (
    "started_at", "ended_at", "end_reason", "input_tokens", "output_tokens", "title", "title_folded",
    "archived", "updated_at", "key",
)  # fmt: skip
_KEYS = 1_000  # of sessions, remembered between appends


class StoredSessionReads(Store):
    def __init__(self, tx: Transaction, space: Space, sql: Queries, index: WordIndex) -> None:
        super().__init__(tx, space, sql)
        self.index = index

    def get(self, session_id: str) -> SessionRow | None:
        found = self._tx.rows(self._sql.get, (self._space.id, session_id))
        return _session_row(found[0]) if found else None

    def by_title(self, title: str, limit: int) -> list[SessionRow]:
        asked = (self._space.id, title.casefold(), limit)
        return [_session_row(row) for row in self._tx.rows(self._sql.by_title, asked)]

    def by_id_prefix(self, text: str, limit: int) -> list[SessionRow]:
        asked = {"space": self._space.id, "text": text, "limit": limit}
        return [_session_row(row) for row in self._tx.rows(self._sql.by_id_prefix, asked)]

    def recent(
        self, filters: SessionFilters, *, limit: int, offset: int, by_update: bool = False
    ) -> list[SessionRow]:
        asked = self._bind(filters) | {"limit": limit, "offset": offset, "by_update": by_update}
        return [_session_row(row) for row in self._tx.rows(self._sql.recent, asked)]

    def page(
        self, *, source: str | None, after: str, limit: int, projects: Sequence[str] | None = None
    ) -> list[SessionRow]:
        asked = {"space": self._space.id, "source": source, "after": after, "limit": limit}
        asked["projects"] = write_names(projects)
        return [_session_row(row) for row in self._tx.rows(self._sql.page, asked)]

    def count(self, filters: SessionFilters) -> int:
        return self._number(self._sql.count, self._bind(filters))

    def by_title_part(self, text: str, limit: int) -> list[str]:
        asked = (self._space.id, text.casefold(), limit)
        return [session_id for (session_id,) in self._tx.rows(self._sql.by_title_part, asked)]

    def projects(self) -> list[str]:
        return [project for (project,) in self._tx.rows(self._sql.projects, (self._space.id,))]

    def openings(self, session_ids: Sequence[str], *, characters: int) -> dict[str, list[Glimpse]]:
        asked = {"space": self._space.id, "ids": write_names(session_ids), "characters": characters}
        found: dict[str, list[Glimpse]] = defaultdict(list)
        for session_id, *columns in self._tx.rows(self._sql.openings, asked):
            glimpse = _make_glimpse(*columns)
            if glimpse is not None and glimpse.content:
                found[session_id].append(glimpse)
        return dict(found)

    def neighbours_of_id(self, session_id: str) -> tuple[str | None, str | None]:
        ((before, after),) = self._tx.rows(
            self._sql.neighbours_of_id, {"space": self._space.id, "id": session_id}
        )
        return before, after

    def children(self, session_id: str) -> list[SessionRow]:
        return [_session_row(row) for row in self._tx.rows(self._sql.children, (self._space.id, session_id))]

    def last_seen(self) -> dict[str, float]:
        rows = self._tx.rows(self._sql.last_seen, (self._space.id,))
        return {source: at for source, at in rows if at is not None}

    def ended_before(self, moment: float, source: str | None, *, by_start: bool = False) -> list[str]:
        asked = {"space": self._space.id, "moment": moment, "source": source, "by_start": by_start}
        return [row[0] for row in self._tx.rows(self._sql.ended_before, asked)]

    def message_count(self, session_id: str | None) -> int:
        if session_id is None:
            return self._number(self._sql.message_count, (self._space.id,))
        return self._tx.value(self._sql.message_count_of, (self._space.id, session_id)) or 0

    def messages(
        self,
        session_id: str,
        *,
        after: int,
        limit: int,
        last: bool = False,
        working: bool = False,
        since: float | None = None,
    ) -> list[MessageRow]:
        asked = {"space": self._space.id, "id": session_id, "after": after, "limit": limit}
        asked |= {"working": working, "since": since}
        if last:
            return [message_row(row) for row in reversed(self._tx.rows(self._sql.last_messages, asked))]
        return [message_row(row) for row in self._tx.rows(self._sql.messages, asked)]

    def message(self, message_id: int) -> MessageRow | None:
        if not self._space.first <= message_id <= self._space.last:
            return None
        asked = {"id": message_id, "first": self._space.first, "last": self._space.last}
        found = self._tx.rows(self._sql.message, asked)
        return message_row(found[0]) if found else None

    def message_at(self, session_id: str, position: int) -> int | None:
        found: int | None = self._tx.value(self._sql.message_at, (self._space.id, session_id, position))
        return found

    def position(self, session_id: str, message_id: int) -> int:
        return self._number(self._sql.position, (self._space.id, session_id, message_id))

    def outline(self, session_id: str) -> list[tuple[int, str, int, float]]:
        return self._tx.rows(self._sql.outline, (self._space.id, session_id))

    def find_call(self, session_id: str, call_id: str) -> MessageRow | None:
        found = self._tx.rows(self._sql.find_call, (call_id, self._space.id, session_id))
        return message_row(found[0]) if found else None

    def hits(self, message_ids: Sequence[int], characters: int) -> list[Hit]:
        asked = {"ids": write_ids(message_ids), "characters": characters}
        asked |= {"first": self._space.first, "last": self._space.last}
        return [
            Hit(
                message_row(row),
                source=row[15],
                model=row[16],
                session_started=row[17],
                has_parent=row[18] == 1,
                before=_make_glimpse(*row[19:23]),
                after=_make_glimpse(*row[23:27]),
                title=row[27],
                project=row[28],
            )
            for row in self._tx.rows(self._sql.hits, asked)
        ]

    def around(self, message_id: int, *, before: int, after: int) -> list[MessageRow]:
        middle = self.message(message_id)
        if middle is None:
            return []
        earlier = self._tx.rows(self._sql.before, {"id": message_id, "limit": before})
        later = self._tx.rows(self._sql.after, {"id": message_id, "limit": after})
        return [
            *(message_row(row) for row in reversed(earlier)),
            middle,
            *(message_row(row) for row in later),
        ]

    def newest_ids(self) -> tuple[int, int]:
        # A database opened for reading may not have the space.
        found = self._tx.rows(self._sql.next_id, (self._space.id, self._space.first, self._space.last))
        return found[0][0] - 1 if found else 0, self._number(self._sql.newest_session, ())

    def first_since(self, at: float) -> tuple[int | None, int | None]:
        asked = {"space": self._space.id, "first": self._space.first, "last": self._space.last, "at": at}
        ((message, session),) = self._tx.rows(self._sql.first_since, asked)
        return message, session

    def messages_after(self, after: int, limit: int, characters: int) -> list[AppendedMessage]:
        asked = {"after": after, "characters": characters, "limit": limit}
        asked |= {"first": self._space.first, "last": self._space.last}
        return [
            AppendedMessage(number, session_id, at, Glimpse(role, content, encoded == 1, forgotten == 1))
            for number, session_id, at, role, encoded, forgotten, content in self._tx.rows(
                self._sql.messages_after, asked
            )
        ]

    def sessions_after(self, after: int, limit: int) -> list[CreatedSession]:
        asked = {"space": self._space.id, "after": after, "limit": limit}
        return [CreatedSession(*row) for row in self._tx.rows(self._sql.sessions_after, asked)]

    def by_source(self) -> list[tuple[str, int, int]]:
        return self._tx.rows(self._sql.by_source, (self._space.id,))

    def growth(self, since: float | None = None) -> list[tuple[str, str, int, int]]:
        return self._tx.rows(self._sql.growth, {"space": self._space.id, "since": since})

    def search(self, query: Query, filters: Filters, *, order: Order, limit: int, offset: int) -> Results:
        return self.index.searching().run(query, filters, order=order, limit=limit, offset=offset)

    def has_doomed(self) -> bool:
        """True if some deleted session still has rows."""
        return bool(self._tx.rows(self._sql.doomed, (self._space.id,)))

    def next_id(self) -> int:
        """Return the id of the next message."""
        return self._number(self._sql.next_id, (self._space.id, self._space.first, self._space.last))

    def _bind(self, filters: SessionFilters) -> dict[str, Any]:
        lists = {"projects": write_names(filters.projects), "ids": write_names(filters.ids)}
        return asdict(filters) | {"space": self._space.id, **lists}

    def _number(self, sql: str, bindings: Any) -> int:
        return int(self._tx.rows(sql, bindings)[0][0])


class StoredSessionWrites(StoredSessionReads, ABC):
    def __init__(self, tx: Transaction, space: Space, sql: Queries, index: WordIndex, eraser: Eraser) -> None:
        super().__init__(tx, space, sql, index)
        self._eraser = eraser
        # The number of messages appended by the transaction. The engine resets it.
        self.appended = 0
        # Both are only valid while no other process writes.
        self._keys: dict[str, int] = {}
        self._next: int | None = None

    def others_wrote(self) -> None:
        """Drop what is cached from earlier transactions."""
        self._keys.clear()
        self._next = None

    def create(self, session: SessionRow) -> bool:
        key = self._key(
            self._sql.create,
            (
                self._space.id, session.id, session.source, session.user_id, session.model,
                self._parent(session.parent_session_id), session.started_at, session.ended_at,
                session.end_reason, session.input_tokens, session.output_tokens, session.title,
                _fold_title(session.title), session.archived, session.project, session.branch,
                session.updated_at,
            ),
        )  # fmt: skip
        if key is None:
            return False
        if _has_details(session):
            details = (key, session.model_config, session.system_prompt, session.metadata)
            self._tx.change(self._sql.create_details, details)
        return True

    def fill(self, session: SessionRow) -> None:
        key = self._find(session.id)
        parent = self._parent(session.parent_session_id)
        if parent is not None:
            above = self._number(self._sql.is_ancestor, {"key": parent, "ancestor": key})
            if above:
                raise Refused(
                    f"session {session.parent_session_id!r} descends from {session.id!r} and cannot "
                    "be its parent"
                )
        folded, following = _fold_title(session.title), self.next_id()
        made = {"key": key, "parent": parent, "title_folded": folded, "next": following}
        values = asdict(session) | made
        self._tx.change(self._sql.fill, _pick(values, *_FILLED))
        if _has_details(session):
            details = _pick(values, "key", "model_config", "system_prompt", "metadata")
            self._tx.change(self._sql.fill_details, details)

    def end(self, session_id: str, reason: str, at: float) -> bool:
        return self._key(self._sql.end, (at, reason, self._space.id, session_id)) is not None

    def reopen(self, session_id: str) -> bool:
        return self._key(self._sql.reopen, (self._space.id, session_id)) is not None

    def set_system_prompt(self, session_id: str, prompt: str | None) -> bool:
        return self._set_detail(self._sql.set_system_prompt, session_id, prompt)

    def set_metadata(self, session_id: str, metadata: str | None) -> bool:
        return self._set_detail(self._sql.set_metadata, session_id, metadata)

    def add_tokens(self, session_id: str, input_tokens: int, output_tokens: int) -> bool:
        asked = (input_tokens, output_tokens, self._space.id, session_id)
        return self._key(self._sql.add_tokens, asked) is not None

    def set_title(self, session_id: str, title: str | None) -> bool:
        asked = (title, _fold_title(title), self._space.id, session_id)
        return self._key(self._sql.set_title, asked) is not None

    def set_archived(self, session_id: str, *, archived: bool) -> bool:
        return self._key(self._sql.set_archived, (archived, self._space.id, session_id)) is not None

    def set_parent(self, session_id: str, parent_session_id: str) -> bool:
        asked = (self._parent(parent_session_id), self._space.id, session_id)
        return self._key(self._sql.set_parent, asked) is not None

    def hold(self, session_id: str) -> int | None:
        revision: int | None = self._tx.value(self._sql.hold, (self._space.id, session_id))
        return revision

    def revise(self, session_id: str, at: float) -> bool:
        return self._key(self._sql.revise, (at, self._space.id, session_id)) is not None

    def append(self, session_id: str, messages: Sequence[NewMessage], at: float) -> list[int]:
        key = self._keys.get(session_id) or self._remember(session_id)
        host_keys = [message.key for message in messages if message.key is not None]
        if not host_keys:
            return self._append(key, messages, at)
        known: dict[str, int] = dict(self._tx.rows(self._sql.find_keys, (key, write_names(host_keys))))
        new: dict[str | int, NewMessage] = {}
        for place, message in enumerate(messages):
            if message.key not in known:
                new.setdefault(place if message.key is None else message.key, message)
        ids = known | dict(zip(new, self._append(key, list(new.values()), at), strict=True))
        return [ids[place if message.key is None else message.key] for place, message in enumerate(messages)]

    @abstractmethod
    def _append(self, key: int, messages: Sequence[NewMessage], at: float) -> list[int]:
        """Store messages with new host keys in the session with this key, and count the write."""

    def retire(self, session_id: str, first: int, last: int, *, free: Sequence[str] = ()) -> None:
        asked = {"space": self._space.id, "id": session_id, "first": first, "last": last}
        self._tx.change(self._sql.retire, asked)
        if free:
            self._tx.change(self._sql.free_keys, (self._space.id, session_id, write_names(free)))

    def pop(self, session_id: str) -> MessageRow | None:
        newest = self.messages(session_id, after=0, limit=1, last=True, working=True)
        self.remove([message.id for message in newest])
        return newest[0] if newest else None

    def remove(self, message_ids: Sequence[int]) -> None:
        known = [number for number in message_ids if self.message(number) is not None]
        if known:
            self._keep_ids()
        for number in known:
            for row in self._tx.rows(self._sql.message_of_id, (number,)):
                self._erase(indexable(row))
            self._tx.change(self._sql.count_popped, (number,))
            self._tx.change(self._sql.delete_message, (number,))

    def renew(self, session: SessionRow) -> None:
        values = asdict(session) | {"key": self._find(session.id), "title_folded": _fold_title(session.title)}
        self._tx.change(self._sql.renew, _pick(values, *_RENEWED))

    def set_origin(self, message_id: int, origin: str) -> None:
        if self.message(message_id) is None:
            return
        # Its own text doesn't change, and so neither do its vectors.
        for row in self._tx.rows(self._sql.message_of_id, (message_id,)):
            self.index.remove(indexable(row))
        self._tx.change(self._sql.set_origin, (origin, message_id))
        self._tx.change(self._sql.count_removal, (self._space.id,))
        for row in self._tx.rows(self._sql.message_of_id, (message_id,)):
            self.index.add(indexable(row))

    def begin_delete(self, session_id: str) -> bool:
        key = self._key(self._sql.key_of, (self._space.id, session_id))
        if key is None:
            return False
        self._tx.change(self._sql.adopt_children, {"key": key})
        self._tx.change(self._sql.doom, (key,))
        self._keys.pop(session_id, None)
        return True

    def forget_message(self, message_id: int, *, tool_calls: str | None, at: float) -> None:
        if self.message(message_id) is None:
            return
        for row in self._tx.rows(self._sql.message_of_id, (message_id,)):
            self._erase(indexable(row))
        self._tx.change(self._sql.count_removal, (self._space.id,))
        self._tx.change(self._sql.forget_message, (tool_calls, at, message_id))

    def delete_some(self, count: int) -> bool:
        """Remove some messages of deleted sessions, then the sessions. False if none are left."""
        key = self._key(self._sql.doomed, (self._space.id,))
        if key is None:
            return False
        self._keep_ids()
        some = self._tx.rows(self._sql.messages_of_key, (key, count))
        for row in some:
            self._erase(indexable(row))
            self._tx.change(self._sql.delete_message, (row[0],))
        if len(some) < count:
            self._tx.change(self._sql.delete_session, (key,))
        return True

    def _set_detail(self, sql: str, session_id: str, detail: str | None) -> bool:
        key = self._key(self._sql.key_of, (self._space.id, session_id))
        if key is not None:
            self._tx.change(sql, (key, detail))
        return key is not None

    def _erase(self, item: Indexable) -> None:
        """Remove a message from the index and vectors before its text is erased."""
        self.index.remove(item)
        self._eraser.erase(item.message.id, ids_of(item.message), MESSAGES)

    def _remember(self, session_id: str) -> int:
        key = self._find(session_id)
        if len(self._keys) >= _KEYS:
            self._keys.clear()
        self._keys[session_id] = key
        return key

    def _find(self, session_id: str) -> int:
        key = self._key(self._sql.key_of, (self._space.id, session_id))
        if key is None:
            raise NotFound(f"There is no session {session_id!r}. Create it first.")
        return key

    def next_id(self) -> int:
        if self._next is None:
            self._next = super().next_id()
        return self._next

    def _keep_ids(self) -> None:
        """Before removing messages, reserve their ids and invalidate index steps in progress."""
        self._tx.change(self._sql.keep_ids, (self.next_id(), self._space.id))
        self._tx.change(self._sql.count_removal, (self._space.id,))

    def _parent(self, session_id: str | None) -> int | None:
        if session_id is None:
            return None
        key = self._key(self._sql.key_of, (self._space.id, session_id))
        if key is None:
            raise NotFound(f"There is no parent session {session_id!r}. Create it first.")
        return key

    def _key(self, sql: str, bindings: Any) -> int | None:
        key: int | None = self._tx.value(sql, bindings)
        return key


def _session_row(row: tuple[Any, ...]) -> SessionRow:
    columns: list[Any] = [*row[:_ARCHIVED], row[_ARCHIVED] == 1, *row[_ARCHIVED + 1 : _ARCHIVED + 5]]
    return SessionRow(*columns)


def _make_glimpse(role: str | None, encoded: int, forgotten: int, content: str | None) -> Glimpse | None:
    return None if role is None else Glimpse(role, content, encoded == 1, forgotten == 1)


def _fold_title(title: str | None) -> str | None:
    return None if title is None else title.casefold()


def _has_details(session: SessionRow) -> bool:
    return (session.model_config, session.system_prompt, session.metadata) != (None, None, None)


def _pick(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: values[name] for name in names}
