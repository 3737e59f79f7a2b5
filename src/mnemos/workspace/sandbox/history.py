"""The agent's own history as tables that can be read: ``mnemos_sessions``, ``_messages``, ``_facts``.

They are virtual tables over a second connection of ours, which asks for one space and for nothing else: the
agent's SQL never runs on the file that holds the other spaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import apsw

from mnemos.workspace.frames import Line
from mnemos.workspace.limits import FIRST_ROWS, HISTORY_PARTS, MOST_ROWS, PAGE_CHARACTERS
from mnemos.workspace.sandbox.failures import Failure

if TYPE_CHECKING:
    from mnemos.workspace.sandbox.database import Database

PREFIX = "mnemos_"
NAMES = frozenset(f"{PREFIX}{part}" for part in HISTORY_PARTS)
_IMPOSTOR = f"""
SELECT name
FROM (SELECT name FROM sqlite_schema UNION ALL SELECT name FROM sqlite_temp_schema)
WHERE lower(name) IN ('{"', '".join(sorted(NAMES))}')"""


def check_names(database: Database) -> None:
    """Refuse a call that made a table named like the history, or that read one from a foreign file.

    SQLite takes a table before a virtual table of the same name.
    """
    guard = database.guard
    if not guard.changes_schema and not any(table.lower() in NAMES for table in guard.tables):
        return
    taken = find_impostor(database)
    if taken is not None:
        raise Failure(
            "refused",
            f"{taken} is the name of a table of your history, which another table would hide. Nothing was "
            f"changed. Choose another name. To rename one that exists: ALTER TABLE {taken} RENAME TO …",
        )


def find_impostor(database: Database) -> str | None:
    """Return the name of a table, view or index that is named like the history, if there is one."""
    name = database.value(_IMPOSTOR)
    return None if name is None else str(name)


@dataclass(slots=True)
class History:
    """Whose history it is and where."""

    database: Path | None
    """None: the host has it, and is asked for pages."""
    space: str
    line: Line
    user: str | None = None
    """The user of the current request, who sees nothing of others."""

    def register(self, connection: apsw.Connection) -> None:
        for part in HISTORY_PARTS:
            connection.create_module(
                f"{PREFIX}{part}",
                # Methods that SQLite calls only for created or written tables are missing.
                cast(Any, _Module(self, part)),
                use_bestindex_object=True,
                eponymous_only=True,
                read_only=True,
            )

    def rows(self, part: str) -> Iterator[tuple[Any, ...]]:
        if self.database is None:
            return self._ask_for_rows(part)
        # Imported when an agent looks at its history: most calls do not.
        from mnemos.storage import read_history

        return read_history(self.database, self.space, part, self.user)

    def _ask_for_rows(self, part: str) -> Iterator[tuple[Any, ...]]:
        after, limit = 0, FIRST_ROWS
        while True:
            self.line.send({"history": part, "after": after, "limit": limit})
            answer = self.line.receive()
            if "failed" in answer:
                raise Failure("unavailable", answer["failed"])
            rows = answer["rows"]
            for row in rows:
                yield tuple(row[:-1])
            if len(rows) < limit:
                return
            after = rows[-1][-1]
            characters = sum(len(cell) for row in rows for cell in row if isinstance(cell, str))
            limit = max(1, min(MOST_ROWS, limit * PAGE_CHARACTERS // max(1, characters)))

    def columns(self, part: str) -> Sequence[str]:
        from mnemos.storage import HISTORY_COLUMNS

        return HISTORY_COLUMNS[part]


class _Module:
    def __init__(self, history: History, part: str) -> None:
        self._history = history
        self._part = part

    def Connect(  # noqa: N802 - SQLite's name
        self, connection: apsw.Connection, _module: str, _database: str, _table: str, *_arguments: Any
    ) -> tuple[str, _Table]:
        # Views of the agent's may use it, as it only reads.
        connection.vtab_config(apsw.SQLITE_VTAB_INNOCUOUS)
        columns = self._history.columns(self._part)
        return f"CREATE TABLE x({', '.join(columns)})", _Table(self._history, self._part)


class _Table:
    def __init__(self, history: History, part: str) -> None:
        self._history = history
        self._part = part

    def BestIndexObject(self, index: apsw.IndexInfo) -> bool:  # noqa: N802
        index.estimatedCost = 1_000_000
        index.estimatedRows = 100_000
        return True

    def Open(self) -> _Cursor:  # noqa: N802
        return _Cursor(self._history, self._part)

    def Disconnect(self) -> None:  # noqa: N802
        pass

    Destroy = Disconnect


class _Cursor:
    """One pass over the rows. SQLite asks for what it needs by these names."""

    def __init__(self, history: History, part: str) -> None:
        self._history = history
        self._part = part
        self._rows: Iterator[tuple[Any, ...]] = iter(())
        self._row: tuple[Any, ...] | None = None
        self._number = 0

    def Filter(self, _number: int, _text: str, _arguments: Sequence[Any]) -> None:  # noqa: N802
        self._rows = self._history.rows(self._part)
        self._number = 0
        self.Next()

    def Next(self) -> None:  # noqa: N802
        self._row = next(self._rows, None)
        self._number += 1

    def Eof(self) -> bool:  # noqa: N802
        return self._row is None

    def Column(self, number: int) -> Any:  # noqa: N802
        if self._row is None or number < 0:
            return self._number
        return self._row[number]

    def Rowid(self) -> int:  # noqa: N802
        return self._number

    def Close(self) -> None:  # noqa: N802
        self._rows = iter(())
