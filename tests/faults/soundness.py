"""Invariants of a home, whatever happened to the processes that used it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import apsw

import mnemos

Acknowledged = tuple[str, Sequence[int]]
"""The word of a turn, and the ids its messages were given."""

_WRONG_COUNTERS = """
SELECT s.id, s.message_count, s.tool_call_count, count(m.id), sum(json_array_length(m.tool_calls))
FROM sessions AS s
LEFT JOIN messages AS m ON m.session = s.key
WHERE NOT s.doomed
GROUP BY s.key
HAVING s.message_count <> count(m.id)
    OR s.tool_call_count <> coalesce(sum(json_array_length(m.tool_calls)), 0)
"""


def code_of(call: Callable[[], Any]) -> str | None:
    """The code of our error that a call raises; None when it raises none. Any other error passes."""
    try:
        call()
    except mnemos.MnemosError as exc:
        return exc.code
    return None


def complaints(memory: mnemos.Memory, *, repair: bool = False) -> list[str]:
    """Return the doctor's complaints."""
    return [f"{check.name}: {check.detail}" for check in memory.doctor(repair=repair) if not check.ok]


def assert_sound(home: Path, **options: Any) -> None:
    """The file is whole, every counter is right, every message is in the index or on its way."""
    with mnemos.open(home, **options) as memory:
        assert complaints(memory) == []
    connection = apsw.Connection(str(home / "mnemos.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute(_WRONG_COUNTERS).fetchall() == []
    finally:
        connection.close()


def assert_kept(memory: mnemos.Memory, acknowledged: Iterable[Acknowledged], session: str) -> None:
    """Every acknowledged turn is there, under its ids, in order; every turn that is there is whole."""
    messages = memory.sessions.get_messages(session)
    stored = {message["id"]: message["content"] for message in messages}
    for word, ids in acknowledged:
        assert [stored.get(id, "").split()[:2] for id in ids] == [
            ["ask", word],
            ["call", word],
            ["found", word],
        ]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool"] * (len(messages) // 3)
    assert list(stored) == sorted(stored)


def index_all(memory: mnemos.Memory) -> None:
    """Until nothing is pending; the thread in the background may be at it too."""
    for _ in range(1_000_000):
        if memory.storage.catch_up() == 0:
            return
    raise AssertionError("the index does not catch up")
