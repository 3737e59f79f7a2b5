"""The full-text index, which follows new messages outside the append path.

Appended messages are pending: their ids are above the space's ``indexed`` mark. A *step* prepares the rows
of the next few messages outside any transaction and writes them in a short one, provided that the mark has
not moved and nothing was removed in the meantime. Any process may do a step; the loser of a race discards its
work. A search does not wait. It puts pending messages into a temporary index of its own connection (the
*tail*) and queries both.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import apsw
from msgspec import Struct

from mnemos.storage.base import Documents
from mnemos.storage.queries import Queries
from mnemos.storage.space import Space
from mnemos.storage.sqlite.connection import rows, value
from mnemos.storage.terms import Indexable, IndexRow, ids_of, index_rows, indexable, week_of

SQL = Queries(Path(__file__).parent / "sql" / "index.sql")

# One step: small enough that its transaction stays in the low tens of milliseconds.
STEP_ROWS = 400
STEP_CHARACTERS = 150_000

_PAGE = 200
# The indexing thread yields to others after this many messages.
_TURN = 16


class State(Struct, frozen=True):
    """The progress of a space's index."""

    next_message: int
    indexed: int
    removals: int
    has_doomed: bool = False
    """True if a deleted session still has rows."""

    @property
    def pending(self) -> int:
        return self.next_message - 1 - self.indexed


class Step(Struct, frozen=True):
    """Index rows ready to be written, and the state they were prepared for."""

    state: State
    rows: list[IndexRow]
    weeks: set[int]
    mark: int


def state_of(connection: apsw.Connection, space: Space) -> State:
    found = rows(connection, SQL.state, (space.id, space.first, space.last))
    return State(*found[0]) if found else State(space.first, space.first - 1, 0)


def prepare(connection: apsw.Connection, space: Space, documents: Documents) -> Step | None:
    """Prepare the next step for the space; None if nothing is pending."""
    state = state_of(connection, space)
    if not state.pending:
        return None
    prepared: list[IndexRow] = []
    weeks: set[int] = set()
    mark = state.indexed
    characters = 0
    for item in pending(connection, space, state):
        # Lets an appending thread run now instead of at the interpreter's next switch, 5 ms later.
        if item.message.id % _TURN == 0:
            time.sleep(0)
        weeks.add(week_of(item.message.timestamp))
        for row in index_rows(item, documents, after=mark):
            prepared.append(row)
            mark = row[0]
            characters += len(row[1]) + len(row[2]) + len(row[3])
            if characters > STEP_CHARACTERS:
                break
        else:
            mark = max(mark, item.message.id + ids_of(item.message) - 1)
        if characters > STEP_CHARACTERS or len(prepared) >= STEP_ROWS:
            break
    else:
        mark = state.next_message - 1
    return Step(state, prepared, weeks, mark)


def write(connection: apsw.Connection, space: Space, step: Step) -> bool:
    """Write a prepared step inside the caller's transaction; False if it is out of date."""
    if not _still_fits(state_of(connection, space), step.state):
        return False
    connection.executemany(SQL.add, reversed(step.rows))
    connection.executemany(SQL.add_week, [(space.id, week) for week in sorted(step.weeks)])
    connection.execute(SQL.mark_indexed, (step.mark, space.id))
    return True


def _still_fits(now: State, then: State) -> bool:
    return now.indexed == then.indexed and now.removals == then.removals


def pending(connection: apsw.Connection, space: Space, state: State) -> Iterator[Indexable]:
    """Yield the messages that are not completely indexed, in order."""
    start = state.indexed + 1
    owner = value(connection, SQL.owner, (space.first, start))
    position = owner if owner is not None else start
    while True:
        page = rows(connection, SQL.pending, (position, state.next_message - 1, _PAGE))
        for row in page:
            item = indexable(row)
            if item.message.id + ids_of(item.message) > start:
                yield item
        if len(page) < _PAGE:
            return
        position = page[-1][0] + 1


def remove(connection: apsw.Connection, space: Space, item: Indexable, documents: Documents) -> None:
    """Remove a message from the index, inside the caller's transaction, before its text changes."""
    indexed = state_of(connection, space).indexed
    there = [row for row in index_rows(item, documents) if row[0] <= indexed]
    connection.executemany(SQL.remove, reversed(there))


def put_back(connection: apsw.Connection, space: Space, item: Indexable, documents: Documents) -> None:
    """Add a message to the index again after ``remove``, unless it is pending anyway."""
    indexed = state_of(connection, space).indexed
    there = [row for row in index_rows(item, documents) if row[0] <= indexed]
    connection.executemany(SQL.add, reversed(there))


class Tail:
    """The temporary index of pending messages, on one reading connection."""

    def __init__(self, space: Space, documents: Documents) -> None:
        self._space = space
        self._documents = documents
        self._exists = False
        self._from = State(0, 0, 0)
        self._upto = 0

    def refresh(self, connection: apsw.Connection) -> State:
        """Update the tail to the view of the current transaction, if anything is pending."""
        state = state_of(connection, self._space)
        if not state.pending:
            return state
        if not self._exists or not _still_fits(state, self._from):
            self._recreate(connection, state)
        if self._upto < state.next_message - 1:
            since = State(state.next_message, self._upto, state.removals)
            for item in pending(connection, self._space, since):
                connection.executemany(SQL.add_to_tail, index_rows(item, self._documents, after=self._upto))
            self._upto = state.next_message - 1
        return state

    def _recreate(self, connection: apsw.Connection, state: State) -> None:
        # This includes a table that an earlier object made on this connection.
        connection.execute(SQL.drop_tail)
        connection.execute(SQL.create_tail)
        self._exists = True
        self._from = state
        self._upto = state.indexed
