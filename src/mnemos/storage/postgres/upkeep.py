"""Upkeep on the server: the pending list of the index, erased rows, sizes."""

from __future__ import annotations

import logging
import time
from itertools import islice
from typing import Any

import psycopg

from mnemos.storage.base import Documents, Usage
from mnemos.storage.postgres.connection import Connection, PostgresTransaction, Target
from mnemos.storage.postgres.statements import load
from mnemos.storage.postgres.word_index import PostgresIndex
from mnemos.storage.stores.passages import make_passage
from mnemos.storage.terms import ids_of
from mnemos.text.words import RULE_VERSION

log = logging.getLogger("mnemos.storage")

# Long enough for short reads to end.
_PATIENCE_SECONDS = 2.0
_NAP_SECONDS = 0.01
_RENEWED_AT_ONCE = 100
# Tables that hold texts, or words and vectors made of them.
_WITH_TEXT = (
    "messages", "words", "long_words", "passages", "vectors", "facts", "entries", "entry_words",
    "entry_vocabulary", "entry_signs", "entry_vectors", "audit", "recalls", "session_details", "sessions",
    "files",
)  # fmt: skip


def empty_pending(connection: Connection, target: Target) -> None:
    """Move new words from the list that every search reads into the index proper."""
    sql: Any = load("engine", target.schema)
    PostgresTransaction(connection).value(sql.empty_pending)


def vacuum(connection: Connection, target: Target) -> bool:
    """Let the server reuse the space of erased rows.

    False while others may still see them, or if the role may not: it needs MAINTAIN, or to own the tables.
    """
    sql: Any = load("engine", target.schema)
    tx = PostgresTransaction(connection)
    now = tx.value(sql.now)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (is_seen := tx.value(sql.older_snapshots, (now,)) > 0) and time.monotonic() < deadline:
        time.sleep(_NAP_SECONDS)
    tables = ", ".join(f'"{target.schema}".{table}' for table in _WITH_TEXT)
    # A table that the role may not clean up is skipped with a warning.
    warnings: list[str] = []

    def note(notice: psycopg.errors.Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            warnings.append(notice.message_primary or "")

    connection.add_notice_handler(note)
    try:
        connection.execute(f"VACUUM (INDEX_CLEANUP ON) {tables}".encode())
    finally:
        connection.remove_notice_handler(note)
    if warnings:
        log.debug("VACUUM: %s", warnings[0])
    return not is_seen and not warnings


def reindex(connection: Connection, target: Target) -> None:
    """Rebuild word indexes while they are in use, because they keep a forgotten word as a key."""
    connection.execute(f'REINDEX TABLE CONCURRENTLY "{target.schema}".words'.encode())


def has_old_words(tx: PostgresTransaction, target: Target) -> bool:
    """True if another version of the rule made words of this space."""
    sql: Any = load("words", target.schema)
    rule = tx.value(sql.rule)
    return rule is not None and rule < RULE_VERSION


def renew_words(tx: PostgresTransaction, documents: Documents, schema: str) -> bool:
    """Remake some words that another version of the rule made. False if none are left.

    The old words are used until a space is done.
    """
    sql: Any = load("words", schema)
    ((rule, through),) = tx.rows(sql.rule)
    if rule >= RULE_VERSION:
        return False
    index = PostgresIndex(tx, tx.space, documents, schema)
    start = tx.space.first - 1 if through is None else through
    items = list(islice(index.indexables(start, tx.space.last), _RENEWED_AT_ONCE))
    for item in items:
        index.remove(item)
        if not item.message.forgotten:
            index.add(item)
    if items:
        last = items[-1].message
        tx.change(sql.set_through, (last.id + ids_of(last) - 1,))
        return True
    passages: Any = load("passages", schema)
    for passage in map(make_passage, tx.rows(passages.every)):
        index.remove_passage(passage)
        index.add_passage(passage)
    tx.change(sql.set_rule, (RULE_VERSION,))
    return False


def usage(tx: PostgresTransaction, target: Target) -> Usage:
    """Return the total sizes of the tables in all spaces."""
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
        tx.change(sql.set_space, (str(number),))
        ((sessions, messages),) = tx.rows(sql.count_space, (number,))
        found.append((name, sessions, messages))
    tx.change(sql.set_space, (str(tx.space.id),))
    return found
