"""A small database as the worker opens one, and what SQLite says of a statement there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import apsw

from mnemos.workspace.functions import catalog
from mnemos.workspace.sandbox.hints import Known, hint

TABLES = """
CREATE TABLE prices (item TEXT, eur REAL, day TEXT);
CREATE TABLE news (item TEXT PRIMARY KEY, eur REAL NOT NULL);
CREATE TABLE spans (a TEXT, b TEXT);
CREATE INDEX prices_day ON prices (day);
CREATE VIEW cheap AS SELECT item FROM prices WHERE eur < 2;
INSERT INTO prices
VALUES ('apple', 1.5, '2024-03-05'), ('pear', 2.5, '2024-03-20'), ('apple', 2.0, '2024-04-01');
INSERT INTO news VALUES ('apple', 3.0), ('plum', 1.0);
INSERT INTO spans VALUES ('2024-01-01 10:00:00', '2024-01-03 11:30:00');
"""
KNOWN = Known(
    tables={
        "prices": ["item", "eur", "day"],
        "news": ["item", "eur"],
        "spans": ["a", "b"],
        "cheap": ["item"],
    },
    functions=[function.name for function in catalog.FUNCTIONS],
    signatures={function.name: function.signature for function in catalog.FUNCTIONS},
)


def opened() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    for option in (apsw.SQLITE_DBCONFIG_DQS_DML, apsw.SQLITE_DBCONFIG_DQS_DDL):
        connection.config(option, 0)
    catalog.register(connection)
    connection.execute(TABLES)
    return connection


@dataclass(frozen=True, slots=True)
class Refusal:
    message: str
    offset: int


def refusal(sql: str) -> Refusal:
    """What SQLite says; a statement that works is a mistake of the test."""
    try:
        opened().execute(sql).fetchall()
    except apsw.Error as exc:
        return Refusal(str(exc), getattr(exc, "error_offset", -1))
    raise AssertionError(f"SQLite takes this: {sql}")


def hinted(sql: str, known: Known = KNOWN) -> str:
    """The hint for a statement that fails, or an empty text."""
    said = refusal(sql)
    return hint(sql, said.message, said.offset, known) or ""


def offered(text: str) -> str | None:
    """The statement that a hint offers."""
    _, found, statement = text.partition("\nTry: ")
    return statement if found else None


def rows(sql: str, probe: str | None = None) -> list[Any]:
    """What a statement gives in a new database, or what a probe gives after it."""
    connection = opened()
    result = connection.execute(sql).fetchall()
    return connection.execute(probe).fetchall() if probe else result
