"""Sessions and messages in PostgreSQL: stored, counted and indexed in one statement."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from mnemos.storage.base import MessageRow, NewMessage
from mnemos.storage.postgres.word_index import PostgresIndex, Rendered, to_json
from mnemos.storage.queries import Queries
from mnemos.storage.space import Space
from mnemos.storage.stores.sessions import StoredSessionReads, StoredSessionWrites
from mnemos.storage.stores.vectors import Eraser
from mnemos.storage.terms import Indexable, ids_needed
from mnemos.storage.transaction import Transaction

# Later sessions are outside the calendar.
_LAST_YEAR = 9999


class PostgresSessionReads(StoredSessionReads):
    def growth(self, since: float | None = None) -> list[tuple[str, str, int, int]]:
        return _count_days(super().growth(since))


class PostgresSessionWrites(PostgresSessionReads, StoredSessionWrites):
    def __init__(
        self, tx: Transaction, space: Space, sql: Queries, index: PostgresIndex, eraser: Eraser
    ) -> None:
        super().__init__(tx, space, sql, index, eraser)
        self._words = index
        self._target: tuple[str, str, str | None, str | None] = ("", "", None, None)

    def _remember(self, session_id: str) -> int:
        """Look up an append's session, with everything needed to store, in one round trip.

        The key is not kept: within a transaction, a session may get another user or project.
        """
        found = self._tx.rows(self._sql.append_to, (session_id,))
        if not found:
            # Raises NotFound.
            return self._find(session_id)
        ((key, source, user, project, self._next),) = found
        self._target = session_id, source, user, project
        return int(key)

    def _append(self, key: int, messages: Sequence[NewMessage], at: float) -> list[int]:
        if not messages:
            return []
        session_id, source, user, project = self._target
        following = self.next_id()
        ids: list[int] = []
        rendered = Rendered([], [])
        for message in messages:
            ids.append(following)
            row = _make_row(following, session_id, message)
            words = self._words.render(Indexable(row, key, source, user, project))
            rendered.words += words.words
            rendered.stretches += words.stretches
            following += ids_needed(message.content, message.tool_calls, message.tool_name)
        stored = [{"id": number} | message._asdict() for number, message in zip(ids, messages, strict=True)]
        asked: dict[str, Any] = {
            "key": key,
            "count": len(ids),
            "calls": sum(message.calls for message in messages),
            "at": at,
            "messages": to_json(stored),
            "words": to_json(rendered.words),
            "token": self._words.tx.token,
        }
        self._tx.change(self._sql.append, asked)
        self._words.tx.token = None
        self._words.store_stretches(rendered)
        if following - ids[0] > len(ids):
            self._tx.change(self._sql.keep_ids, (following, self._space.id))
        self._next = following
        self.appended += len(ids)
        return ids


def _make_row(number: int, session_id: str, message: NewMessage) -> MessageRow:
    return MessageRow(
        number, session_id, message.role, message.content, message.encoded, message.tool_name,
        message.tool_calls, message.tool_call_id, message.token_count, message.timestamp, message.metadata,
        forgotten=False, origin=message.origin, key=message.key,
    )  # fmt: skip


def _count_days(quarters: Sequence[tuple[Any, str, int, int]]) -> list[tuple[str, str, int, int]]:
    """Sum quarters of an hour by the days of this machine's calendar."""
    days: dict[tuple[str, str], tuple[int, int]] = {}
    for start, source, sessions, messages in quarters:
        try:
            date = time.localtime(start)
        except (OverflowError, ValueError, OSError):
            continue
        if date.tm_year > _LAST_YEAR:
            continue
        day = time.strftime("%Y-%m-%d", date)
        before = days.get((day, source), (0, 0))
        days[day, source] = before[0] + sessions, before[1] + messages
    return [(day, source, *counts) for (day, source), counts in sorted(days.items())]
