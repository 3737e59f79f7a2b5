"""Sessions and messages in SQLite: appended now, indexed later."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mnemos.storage.base import NewMessage
from mnemos.storage.queries import Queries
from mnemos.storage.space import Space
from mnemos.storage.sqlite.connection import SqliteTransaction
from mnemos.storage.sqlite.word_index import FtsIndex
from mnemos.storage.stores.sessions import StoredSessionWrites
from mnemos.storage.stores.vectors import Eraser
from mnemos.storage.terms import ids_needed

SQL = Queries(Path(__file__).parent / "sql" / "sessions.sql")


class SqliteSessionWrites(StoredSessionWrites):
    def __init__(self, tx: SqliteTransaction, space: Space, index: FtsIndex, eraser: Eraser) -> None:
        super().__init__(tx, space, SQL, index, eraser)
        self._connection = tx.connection
        self._fts = index

    def rolled_back(self) -> None:
        """Forget everything cached by a transaction that was rolled back."""
        self.appended = 0
        self.others_wrote()
        self._fts.forget_tail()

    def _append(self, key: int, messages: Sequence[NewMessage], at: float) -> list[int]:
        following = self.next_id()
        ids: list[int] = []
        for message in messages:
            ids.append(following)
            following += ids_needed(message.content, message.tool_calls, message.tool_name)
        # The columns of a message are its fields in order, except the last: the number of calls.
        if len(ids) == 1:
            counted = (messages[0].calls, at, key)
            self._connection.execute(SQL.append_one, (*counted, ids[0], key, *messages[0][:-1]))
        elif ids:
            calls = sum([message.calls for message in messages])
            self._connection.execute(SQL.count_appended, (len(ids), calls, at, key))
            new = [(number, key, *message[:-1]) for number, message in zip(ids, messages, strict=True)]
            self._connection.executemany(SQL.append, new)
        if ids and following - ids[0] > len(ids):
            self._connection.execute(SQL.keep_ids, (following, self._space.id))
        self._next = following
        self.appended += len(ids)
        return ids
