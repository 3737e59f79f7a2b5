"""A real database, opened as the worker opens it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import apsw

from mnemos.workspace.limits import Quota
from mnemos.workspace.sandbox.card import schema_card
from mnemos.workspace.sandbox.card.table_rows import CARD, ONE_TABLE, Bounds
from mnemos.workspace.sandbox.database import Clockwork, Database, Place

# Machines differ: what a test says of an ordinary table must not depend on the time that reading takes.
_SECONDS = {"seconds": 600, "table_seconds": 600}
PATIENT = replace(CARD, **_SECONDS)
PATIENT_WITH_ONE = replace(ONE_TABLE, **_SECONDS)


@dataclass
class Opened:
    database: Database
    clock: Clockwork

    def run(self, sql: str, values: Any = ()) -> list[Any]:
        with self.database.agents(read_only=False) as connection:
            return connection.execute(sql, values).fetchall()

    def many(self, sql: str, rows: Sequence[Any]) -> None:
        with self.transaction() as connection:
            connection.executemany(sql, rows)

    @contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        with self.database.agents(read_only=False) as connection, self.database.own():
            connection.execute("BEGIN")
            yield connection
        self.database.value("COMMIT")

    def card(self, *, bounds: Bounds | None = None, **asked: Any) -> dict[str, Any]:
        bounds = bounds or (PATIENT_WITH_ONE if asked.get("table") else PATIENT)
        return schema_card.build(self.database, self.clock, bounds=bounds, **asked)

    def text(self, **asked: Any) -> str:
        text: str = self.card(**asked)["text"]
        return text

    def table(self, name: str, **asked: Any) -> dict[str, Any]:
        """Return the card's data of one of its tables."""
        return next(table for table in self.card(**asked)["tables"] if table["name"] == name)

    def column(self, table: str, name: str, **asked: Any) -> dict[str, Any]:
        return next(one for one in self.table(table, **asked)["columns"] if one["name"] == name)


def opened(path: Path) -> Opened:
    clock = Clockwork()
    clock.wind(600)
    return Opened(Database(Place(path, Quota(database_bytes=200_000_000)), clock), clock)
