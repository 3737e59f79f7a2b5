"""Sessions in other programs' SQLite databases. Only changed ones are reread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from mnemos.errors import Busy, InvalidInput, NotFound, StorageError, Unavailable
from mnemos.inputs import can_be_name
from mnemos.sessions.transcript import sort_parents_first
from mnemos.storage import AgentDatabase, agent_database
from mnemos.transfer.foreign_files import decode_json, find_database
from mnemos.transfer.reader import Item, Mark, Reader, SourceFile, Unreadable

Row = Mapping[str, Any]
ReadSession = Callable[[AgentDatabase, Row], Iterator[Item]]
"""Yields a session's items; ValueError if it is not understood."""

# A database has no position: the state of the mark says what was read.
_POSITION: Final = 0


def make_reader(kind: str, title: str, name: str, read_session: ReadSession) -> Reader:
    """Return the reader of a program with a database of that name."""
    return Reader(
        kind,
        title,
        find_database(name),
        lambda source, mark: read_changed(source, mark, kind, read_session),
        holds_many=True,
    )


def read_changed(
    source: SourceFile, mark: Mark, program: str, read_session: ReadSession, *, overlap: float = 0
) -> Iterator[Item]:
    """Yield sessions that changed since a mark, parents first, and a mark after each.

    ``overlap``: how far behind the newest ``changed`` a session may still change without a new one. All are
    read again if there are more old ones than before, because then another database replaced this one. Busy
    if the program keeps it locked.
    """
    try:
        with agent_database(source.path, program) as database:
            rows = {row["id"]: row for row in database.sessions()}
            is_changed = _compare(mark.state, rows, overlap)
            parents = {key: row.get("parent_id") for key, row in rows.items()}
            ids = sort_parents_first(parents, allow_cycles=True)
            for number, key in enumerate([key for key in ids if is_changed(rows[key])], 1):
                yield from _read_one(database, rows[key], number, read_session)
                # Keep the state of the beginning, because later sessions are not read yet.
                yield Mark(_POSITION, number, mark.state)
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{source.path} has text that is not UTF-8: {exc}") from exc
    except Busy:
        # This is not a fault of the file, so the import should be repeated.
        raise
    except (NotFound, StorageError, Unavailable) as exc:
        # Leave out the advice, which is about our own databases.
        raise InvalidInput(str(exc).partition(". ")[0]) from exc
    newest = max((row["changed"] for row in rows.values()), default=0)
    yield Mark(_POSITION, 0, {"newest": newest, "count": len(rows)})


def _compare(state: Any, rows: Mapping[str, Row], overlap: float) -> Callable[[Row], bool]:
    if not isinstance(state, dict):
        return lambda _: True
    newest = state["newest"]
    old = sum(row["changed"] <= newest for row in rows.values())
    if old > state["count"]:
        return lambda _: True
    return lambda row: bool(row["changed"] >= newest - overlap)


def _read_one(database: AgentDatabase, row: Row, number: int, read_session: ReadSession) -> Iterator[Item]:
    if not isinstance(row["id"], str) or not can_be_name("id", row["id"]):
        yield Unreadable(number, f"session {row['id']!r:.100} has an invalid id")
        return
    try:
        yield from read_session(database, row)
    except ValueError as exc:
        yield Unreadable(number, f"session {row['id']}: {exc}")


def decode_column(value: Any) -> Mapping[str, Any]:
    """Return a column's JSON object; empty if it has none. ValueError if it isn't JSON."""
    found = decode_json(value) if isinstance(value, str | bytes) and value else {}
    return found if isinstance(found, dict) else {}
