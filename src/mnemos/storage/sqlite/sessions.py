"""Sessions and messages in SQLite, inside the caller's transaction."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
from msgspec.structs import asdict

from mnemos.errors import NotFound, Refused
from mnemos.storage.base import (
    Documents,
    Filters,
    Glimpse,
    Hit,
    MessageRow,
    NewMessage,
    Order,
    Results,
    SessionRow,
)
from mnemos.storage.queries import Queries
from mnemos.storage.sqlite import index, vectors
from mnemos.storage.sqlite.connection import Space, rows, value
from mnemos.storage.sqlite.fts_queries import Scorer
from mnemos.storage.sqlite.index import Indexable, ids_needed, ids_of, indexable, message_row
from mnemos.storage.sqlite.search import Search
from mnemos.text.query import Query

SQL = Queries(Path(__file__).parent / "sql" / "sessions.sql")

_ARCHIVED = 16
_FILLED = (
    "user_id", "model", "parent", "title", "title_folded", "project", "branch", "next", "key",
)  # fmt: skip
# Keys of sessions remembered between appends.
_KEYS = 1_000


class SqliteSessionReads:
    def __init__(self, connection: apsw.Connection, space: Space, documents: Documents) -> None:
        self._connection = connection
        self._space = space
        self.documents = documents
        self._scorer = Scorer(connection)
        self._tail = index.Tail(space, documents)

    def get(self, session_id: str) -> SessionRow | None:
        found = self._rows(SQL.get, (self._space.id, session_id))
        return _session_row(found[0]) if found else None

    def by_title(self, title: str, limit: int) -> list[SessionRow]:
        asked = (self._space.id, title.casefold(), limit)
        return [_session_row(row) for row in self._rows(SQL.by_title, asked)]

    def by_id_prefix(self, text: str, limit: int) -> list[SessionRow]:
        asked = {"space": self._space.id, "text": text, "limit": limit}
        return [_session_row(row) for row in self._rows(SQL.by_id_prefix, asked)]

    def recent(
        self,
        *,
        source: str | None,
        archived: bool | None,
        limit: int,
        offset: int,
        projects: Sequence[str] | None = None,
        user: str | None = None,
        since: float | None = None,
        until: float | None = None,
    ) -> list[SessionRow]:
        asked = {
            "space": self._space.id,
            "source": source,
            "archived": archived,
            "projects": _json_names(projects),
            "user": user,
            "since": since,
            "until": until,
            "limit": limit,
            "offset": offset,
        }
        return [_session_row(row) for row in self._rows(SQL.recent, asked)]

    def page(
        self, *, source: str | None, after: str, limit: int, projects: Sequence[str] | None = None
    ) -> list[SessionRow]:
        asked = {
            "space": self._space.id,
            "source": source,
            "after": after,
            "projects": _json_names(projects),
            "limit": limit,
        }
        return [_session_row(row) for row in self._rows(SQL.page, asked)]

    def count(
        self,
        *,
        source: str | None,
        archived: bool | None,
        projects: Sequence[str] | None = None,
        user: str | None = None,
        since: float | None = None,
        until: float | None = None,
    ) -> int:
        asked = {
            "space": self._space.id,
            "source": source,
            "archived": archived,
            "projects": _json_names(projects),
            "user": user,
            "since": since,
            "until": until,
        }
        return self._number(SQL.count, asked)

    def projects(self) -> list[str]:
        return [project for (project,) in self._rows(SQL.projects, (self._space.id,))]

    def openings(self, session_ids: Sequence[str], *, characters: int) -> dict[str, list[Glimpse]]:
        asked = {"space": self._space.id, "ids": _json_names(session_ids), "characters": characters}
        found: dict[str, list[Glimpse]] = defaultdict(list)
        for session_id, *columns in self._rows(SQL.openings, asked):
            glimpse = _make_glimpse(*columns)
            if glimpse is not None and glimpse.content:
                found[session_id].append(glimpse)
        return dict(found)

    def neighbours_of_id(self, session_id: str) -> tuple[str | None, str | None]:
        ((before, after),) = self._rows(SQL.neighbours_of_id, {"space": self._space.id, "id": session_id})
        return before, after

    def children(self, session_id: str) -> list[SessionRow]:
        return [_session_row(row) for row in self._rows(SQL.children, (self._space.id, session_id))]

    def ended_before(self, moment: float, source: str | None, *, by_start: bool = False) -> list[str]:
        asked = {"space": self._space.id, "moment": moment, "source": source, "by_start": by_start}
        return [row[0] for row in self._rows(SQL.ended_before, asked)]

    def message_count(self, session_id: str | None) -> int:
        if session_id is None:
            return self._number(SQL.message_count, (self._space.id,))
        return value(self._connection, SQL.message_count_of, (self._space.id, session_id)) or 0

    def messages(self, session_id: str, *, after: int, limit: int, last: bool = False) -> list[MessageRow]:
        asked = (self._space.id, session_id, after, limit)
        if last:
            return [message_row(row) for row in reversed(self._rows(SQL.last_messages, asked))]
        return [message_row(row) for row in self._rows(SQL.messages, asked)]

    def message(self, message_id: int) -> MessageRow | None:
        if not self._space.first <= message_id <= self._space.last:
            return None
        asked = {"id": message_id, "first": self._space.first, "last": self._space.last}
        found = self._rows(SQL.message, asked)
        return message_row(found[0]) if found else None

    def find_call(self, session_id: str, call_id: str) -> MessageRow | None:
        found = self._rows(SQL.find_call, (call_id, self._space.id, session_id))
        return message_row(found[0]) if found else None

    def hits(self, message_ids: Sequence[int], characters: int) -> list[Hit]:
        asked = {
            "ids": _json(message_ids),
            "first": self._space.first,
            "last": self._space.last,
            "characters": characters,
        }
        return [
            Hit(
                message_row(row),
                source=row[13],
                model=row[14],
                session_started=row[15],
                has_parent=row[16] == 1,
                before=_make_glimpse(*row[17:21]),
                after=_make_glimpse(*row[21:25]),
                title=row[25],
                project=row[26],
            )
            for row in self._rows(SQL.hits, asked)
        ]

    def around(self, message_id: int, *, before: int, after: int) -> list[MessageRow]:
        middle = self.message(message_id)
        if middle is None:
            return []
        earlier = self._rows(SQL.before, {"id": message_id, "limit": before})
        later = self._rows(SQL.after, {"id": message_id, "limit": after})
        return [
            *(message_row(row) for row in reversed(earlier)),
            middle,
            *(message_row(row) for row in later),
        ]

    def by_source(self) -> list[tuple[str, int, int]]:
        return self._rows(SQL.by_source, (self._space.id,))

    def search(self, query: Query, filters: Filters, *, order: Order, limit: int, offset: int) -> Results:
        return self.searching().run(query, filters, order=order, limit=limit, offset=offset)

    def searching(self) -> Search:
        """Return a search over the index as the transaction sees it, including pending messages."""
        return Search(self._connection, self._space, self._scorer, self._tail)

    def _rows(self, sql: str, bindings: Any) -> list[tuple[Any, ...]]:
        return rows(self._connection, sql, bindings)

    def _number(self, sql: str, bindings: Any) -> int:
        return int(self._rows(sql, bindings)[0][0])


class SqliteSessionWrites(SqliteSessionReads):
    def __init__(self, connection: apsw.Connection, space: Space, documents: Documents) -> None:
        super().__init__(connection, space, documents)
        # Messages appended by the transaction; the engine resets it.
        self.appended = 0
        # Both are valid only while nobody else writes.
        self._keys: dict[str, int] = {}
        self._next: int | None = None

    def others_wrote(self) -> None:
        """Drop what is cached from earlier transactions."""
        self._keys.clear()
        self._next = None

    def rolled_back(self) -> None:
        """Forget everything cached by a transaction that was rolled back."""
        self.appended = 0
        self.others_wrote()
        self._tail = index.Tail(self._space, self.documents)

    def create(self, session: SessionRow) -> bool:
        key = self._key(
            SQL.create,
            (
                self._space.id,
                session.id,
                session.source,
                session.user_id,
                session.model,
                self._parent(session.parent_session_id),
                session.started_at,
                session.ended_at,
                session.end_reason,
                session.input_tokens,
                session.output_tokens,
                session.title,
                _fold_title(session.title),
                session.archived,
                session.project,
                session.branch,
            ),
        )
        if key is None:
            return False
        if _has_details(session):
            details = (key, session.model_config, session.system_prompt, session.metadata)
            self._connection.execute(SQL.create_details, details)
        return True

    def fill(self, session: SessionRow) -> None:
        key = self._key(SQL.key_of, (self._space.id, session.id))
        if key is None:
            raise NotFound(f"There is no session {session.id!r}.")
        parent = self._parent(session.parent_session_id)
        if parent is not None:
            above = self._number(SQL.is_ancestor, {"key": parent, "ancestor": key})
            if above:
                raise Refused(
                    f"session {session.parent_session_id!r} descends from {session.id!r} and cannot "
                    "be its parent"
                )
        values = asdict(session) | {
            "key": key,
            "parent": parent,
            "title_folded": _fold_title(session.title),
            "next": self._next_id(),
        }
        self._connection.execute(SQL.fill, _pick(values, *_FILLED))
        if _has_details(session):
            details = _pick(values, "key", "model_config", "system_prompt", "metadata")
            self._connection.execute(SQL.fill_details, details)

    def end(self, session_id: str, reason: str, at: float) -> bool:
        return self._key(SQL.end, (at, reason, self._space.id, session_id)) is not None

    def reopen(self, session_id: str) -> bool:
        return self._key(SQL.reopen, (self._space.id, session_id)) is not None

    def set_system_prompt(self, session_id: str, prompt: str | None) -> bool:
        return self._set_detail(SQL.set_system_prompt, session_id, prompt)

    def set_metadata(self, session_id: str, metadata: str | None) -> bool:
        return self._set_detail(SQL.set_metadata, session_id, metadata)

    def add_tokens(self, session_id: str, input_tokens: int, output_tokens: int) -> bool:
        asked = (input_tokens, output_tokens, self._space.id, session_id)
        return self._key(SQL.add_tokens, asked) is not None

    def set_title(self, session_id: str, title: str | None) -> bool:
        asked = (title, _fold_title(title), self._space.id, session_id)
        return self._key(SQL.set_title, asked) is not None

    def set_archived(self, session_id: str, *, archived: bool) -> bool:
        return self._key(SQL.set_archived, (archived, self._space.id, session_id)) is not None

    def set_parent(self, session_id: str, parent_session_id: str) -> bool:
        asked = (self._parent(parent_session_id), self._space.id, session_id)
        return self._key(SQL.set_parent, asked) is not None

    def append(self, session_id: str, messages: Sequence[NewMessage]) -> list[int]:
        key = self._keys.get(session_id) or self._remember(session_id)
        following = self._next_id()
        ids: list[int] = []
        for message in messages:
            ids.append(following)
            following += ids_needed(message.content, message.tool_calls, message.tool_name)
        # The columns of a message are its fields in order, except the last: the number of calls.
        if len(ids) == 1:
            self._connection.execute(SQL.append_one, (messages[0].calls, key, ids[0], key, *messages[0][:-1]))
        else:
            calls = sum([message.calls for message in messages])
            self._connection.execute(SQL.count_appended, (len(ids), calls, key))
            new = [(number, key, *message[:-1]) for number, message in zip(ids, messages, strict=True)]
            self._connection.executemany(SQL.append, new)
        if ids and following - ids[0] > len(ids):
            self._connection.execute(SQL.keep_ids, (following, self._space.id))
        self._next = following
        self.appended += len(ids)
        return ids

    def set_origin(self, message_id: int, origin: str) -> None:
        if self.message(message_id) is None:
            return
        # Its own text, and with it its vectors, stays what it is.
        for row in self._rows(index.SQL.message_of_id, (message_id,)):
            index.remove(self._connection, self._space, indexable(row), self.documents)
        self._connection.execute(SQL.set_origin, (origin, message_id))
        self._connection.execute(SQL.count_removal, (self._space.id,))
        for row in self._rows(index.SQL.message_of_id, (message_id,)):
            index.put_back(self._connection, self._space, indexable(row), self.documents)

    def begin_delete(self, session_id: str) -> bool:
        key = self._key(SQL.key_of, (self._space.id, session_id))
        if key is None:
            return False
        self._connection.execute(SQL.adopt_children, {"key": key})
        self._connection.execute(SQL.doom, (key,))
        self._keys.pop(session_id, None)
        return True

    def forget_message(self, message_id: int, *, tool_calls: str | None, at: float) -> None:
        if self.message(message_id) is None:
            return
        for row in self._rows(index.SQL.message_of_id, (message_id,)):
            self._unindex(indexable(row))
        self._connection.execute(SQL.count_removal, (self._space.id,))
        self._connection.execute(SQL.forget_message, (tool_calls, at, message_id))

    def delete_some(self, count: int) -> bool:
        """Remove some messages of deleted sessions, then the sessions; False if none are left."""
        key = self._key(SQL.doomed, (self._space.id,))
        if key is None:
            return False
        self._keep_ids()
        some = self._rows(index.SQL.messages_of_key, (key, count))
        for row in some:
            self._unindex(indexable(row))
            self._connection.execute(SQL.delete_message, (row[0],))
        if len(some) < count:
            self._connection.execute(SQL.delete_session, (key,))
        return True

    def _set_detail(self, sql: str, session_id: str, detail: str | None) -> bool:
        key = self._key(SQL.key_of, (self._space.id, session_id))
        if key is not None:
            self._connection.execute(sql, (key, detail))
        return key is not None

    def _unindex(self, item: Indexable) -> None:
        """Remove a message from index and vectors, before its text is erased."""
        index.remove(self._connection, self._space, item, self.documents)
        vectors.erase(self._connection, self._space, item.message.id, ids_of(item.message), vectors.MESSAGES)

    def _remember(self, session_id: str) -> int:
        key = self._key(SQL.key_of, (self._space.id, session_id))
        if key is None:
            raise NotFound(f"There is no session {session_id!r}. Begin it first.")
        if len(self._keys) >= _KEYS:
            self._keys.clear()
        self._keys[session_id] = key
        return key

    def _next_id(self) -> int:
        if self._next is None:
            asked = (self._space.id, self._space.first, self._space.last)
            self._next = int(value(self._connection, SQL.next_id, asked))
        return self._next

    def _keep_ids(self) -> None:
        """Before removing messages, reserve their ids and invalidate index steps in progress."""
        self._connection.execute(SQL.keep_ids, (self._next_id(), self._space.id))
        self._connection.execute(SQL.count_removal, (self._space.id,))

    def _parent(self, session_id: str | None) -> int | None:
        if session_id is None:
            return None
        key = self._key(SQL.key_of, (self._space.id, session_id))
        if key is None:
            raise NotFound(f"There is no parent session {session_id!r}. Create it first.")
        return key

    def _key(self, sql: str, bindings: Any) -> int | None:
        key: int | None = value(self._connection, sql, bindings)
        return key


def _session_row(row: tuple[Any, ...]) -> SessionRow:
    columns: list[Any] = [*row[:_ARCHIVED], row[_ARCHIVED] == 1, *row[_ARCHIVED + 1 : _ARCHIVED + 3]]
    return SessionRow(*columns)


def _make_glimpse(role: str | None, encoded: int, forgotten: int, content: str | None) -> Glimpse | None:
    return None if role is None else Glimpse(role, content, encoded == 1, forgotten == 1)


def _fold_title(title: str | None) -> str | None:
    return None if title is None else title.casefold()


def _has_details(session: SessionRow) -> bool:
    return (session.model_config, session.system_prompt, session.metadata) != (None, None, None)


def _json_names(names: Sequence[str] | None) -> str | None:
    return None if names is None else json.dumps(list(names))


def _json(ids: Sequence[int]) -> str:
    return f"[{','.join(map(str, ids))}]"


def _pick(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: values[name] for name in names}
