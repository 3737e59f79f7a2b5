"""All stores of one transaction, made for either engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from mnemos.storage.queries import Queries
from mnemos.storage.space import Space
from mnemos.storage.stores.audit import StoredAudit
from mnemos.storage.stores.entries import StoredEntryReads, StoredEntryWrites
from mnemos.storage.stores.facts import StoredFactReads, StoredFactWrites
from mnemos.storage.stores.ledgers import StoredImports, StoredRecalls, StoredTombstones
from mnemos.storage.stores.passages import StoredPassageReads, StoredPassageWrites
from mnemos.storage.stores.sessions import StoredSessionReads, StoredSessionWrites
from mnemos.storage.stores.vectors import Eraser, Remembered, StoredVectorReads, StoredVectorWrites
from mnemos.storage.transaction import Transaction

PARTS = (
    "sessions", "passages", "vectors", "facts", "entries", "imports", "audit", "recalls", "tombstones",
)  # fmt: skip
"""The files of queries that every engine has."""


class Stores(Struct, frozen=True):
    sessions: StoredSessionReads
    passages: StoredPassageReads
    vectors: StoredVectorReads
    facts: StoredFactReads
    entries: StoredEntryReads
    imports: StoredImports
    audit: StoredAudit
    recalls: StoredRecalls
    tombstones: StoredTombstones


def make_reads(
    tx: Transaction,
    space: Space,
    sql: Mapping[str, Queries],
    sessions: StoredSessionReads,
    remembered: Remembered,
    mark: int,
) -> dict[str, Any]:
    """Make the stores of a reading transaction. ``mark`` identifies a state of the database."""
    return {
        "sessions": sessions,
        "passages": StoredPassageReads(tx, space, sql["passages"], sessions, mark),
        "vectors": StoredVectorReads(tx, space, sql["vectors"], sessions, remembered, mark),
        "facts": StoredFactReads(tx, space, sql["facts"]),
        "entries": StoredEntryReads(tx, space, sql["entries"]),
        "imports": StoredImports(tx, space, sql["imports"]),
        "audit": StoredAudit(tx, space, sql["audit"]),
        "recalls": StoredRecalls(tx, space, sql["recalls"]),
        "tombstones": StoredTombstones(tx, space, sql["tombstones"]),
    }


def make_writes(
    tx: Transaction,
    space: Space,
    sql: Mapping[str, Queries],
    sessions: StoredSessionWrites,
    remembered: Remembered,
    mark: int,
    eraser: Eraser,
) -> dict[str, Any]:
    passages = StoredPassageWrites(tx, space, sql["passages"], sessions, mark, eraser)
    return make_reads(tx, space, sql, sessions, remembered, mark) | {
        "passages": passages,
        "vectors": StoredVectorWrites(tx, space, sql["vectors"], sessions, remembered, mark),
        "facts": StoredFactWrites(tx, space, sql["facts"]),
        "entries": StoredEntryWrites(tx, space, sql["entries"], passages),
    }
