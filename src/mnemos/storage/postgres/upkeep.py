"""Upkeep on the server: the pending list of the index, erased rows, sizes."""

from __future__ import annotations

import logging
import time
from typing import Any

import psycopg

from mnemos.storage.base import Usage
from mnemos.storage.postgres.connection import Connection, PostgresTransaction, Target
from mnemos.storage.postgres.statements import load
from mnemos.storage.space import NOWHERE

log = logging.getLogger("mnemos.storage")

# Short reads end meanwhile.
_PATIENCE_SECONDS = 2.0
_NAP_SECONDS = 0.01
# Tables that hold texts, or words and vectors made of them.
_WITH_TEXT = (
    "messages", "words", "long_words", "passages", "vectors", "facts", "entries", "entry_words",
    "entry_vocabulary", "entry_signs", "entry_vectors", "audit", "recalls", "session_details", "sessions",
    "files",
)  # fmt: skip


def empty_pending(connection: Connection, target: Target) -> None:
    """Move new words from the list that every search reads into the index proper.

    Only the owner of the tables may; for others the server does it now and then.
    """
    sql: Any = load("engine", target.schema)
    try:
        PostgresTransaction(connection, NOWHERE).value(
            sql.empty_pending, (f'"{target.schema}".words_by_word',)
        )
    except psycopg.errors.InsufficientPrivilege:
        log.debug("only the owner of the tables can empty the pending list")


def vacuum(connection: Connection, target: Target) -> bool:
    """Let the server reuse the place of erased rows; False while others may still see them."""
    sql: Any = load("engine", target.schema)
    tx = PostgresTransaction(connection, NOWHERE)
    now = tx.value(sql.now)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (is_seen := tx.value(sql.older_snapshots, (now,)) > 0) and time.monotonic() < deadline:
        time.sleep(_NAP_SECONDS)
    tables = ", ".join(f'"{target.schema}".{table}' for table in _WITH_TEXT)
    connection.execute(f"VACUUM (INDEX_CLEANUP ON) {tables}".encode())
    return not is_seen


def usage(tx: PostgresTransaction, target: Target) -> Usage:
    """Return the sizes of the tables, all spaces together."""
    sql: Any = load("engine", target.schema)
    parts = dict(tx.rows(sql.sizes, (target.schema,)))
    return Usage(sum(parts.values()), 0, 0, parts, pending=0)


def list_spaces(tx: PostgresTransaction, target: Target) -> list[tuple[str, int, int]]:
    """Return the name of each space with its numbers of sessions and messages.

    Row-level security shows one space at a time, so this goes from one to the next.
    """
    sql: Any = load("schema", target.schema)
    found: list[tuple[str, int, int]] = []
    for number, name in sorted(tx.rows(sql.spaces), key=lambda space: str(space[1])):
        tx.value(sql.set_space, (str(number),))
        ((sessions, messages),) = tx.rows(sql.count_space, (number,))
        found.append((name, sessions, messages))
    tx.value(sql.set_space, (str(tx.space.id),))
    return found
