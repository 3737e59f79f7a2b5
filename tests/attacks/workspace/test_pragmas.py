"""Every pragma of SQLite's, in every way to write it: those not on the list neither tell nor do anything."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import apsw
import pytest

from .conftest import Strike
from .prey import BOUNCED, REFUSED, Case, Prey

with closing(apsw.Connection(":memory:")) as _raw:
    KNOWN = sorted({name for (name,) in _raw.execute("SELECT name FROM pragma_pragma_list")})
# Of other builds of SQLite and of its forks: a pragma that nobody knows is ignored by SQLite, not refused.
OTHERS = [
    "activate_extensions",
    "key",
    "rekey",
    "lock_proxy_file",
    "vdbe_trace",
    "temp_store_directory",
    "no_such",
]

# These only tell something, about what the argument names, if it names anything.
TELL = {
    *("collation_list", "compile_options", "data_version", "foreign_key_check", "foreign_key_list"),
    *("freelist_count", "function_list", "index_info", "index_list", "index_xinfo", "integrity_check"),
    *("page_count", "quick_check", "table_info", "table_list", "table_xinfo"),
}
# These can be read here, and not set.
READ_ONLY = {
    *("encoding", "foreign_keys", "journal_mode", "max_page_count", "page_size", "recursive_triggers"),
    *("schema_version", "trusted_schema"),
}
# These may be set: numbers that are the agent's own, and statistics.
SET = {"user_version", "application_id", "optimize"}
ARGUMENTS = [
    "1",
    "0",
    "-1",
    "ON",
    "OFF",
    "'x'",
    "main",
    "DELETE",
    "'../outside/new'",
    "9223372036854775807",
    "canary",
]
SETTINGS = """SELECT * FROM pragma_foreign_keys, pragma_recursive_triggers, pragma_trusted_schema,
    pragma_journal_mode, pragma_max_page_count, pragma_page_size, pragma_encoding"""


def ways(pragma: str) -> list[str]:
    written = [
        f"PRAGMA {pragma}",
        f"PRAGMA main.{pragma}",
        f'PRAGMA "main"."{pragma.upper()}"',
        f"PRAGMA temp.{pragma}",
    ]
    for argument in ARGUMENTS:
        written += [f"PRAGMA {pragma} = {argument}", f"PRAGMA main.{pragma}({argument})"]
    return written


def ways_as_table(pragma: str) -> list[str]:
    table = f"pragma_{pragma}"
    return [
        f"SELECT * FROM {table}",
        f"SELECT * FROM {table}('canary')",
        f"SELECT * FROM {table}(1)",
        f"SELECT * FROM {table}(0, 'main')",
        f"SELECT * FROM {table} WHERE arg = 'OFF' AND schema = 'main'",
        f"SELECT * FROM canary, {table}(canary.id)",
        f"CREATE VIEW v AS SELECT * FROM {table}; SELECT * FROM v",
        f"CREATE VIEW v AS SELECT * FROM {table}('1'); SELECT * FROM v",
        f"CREATE TRIGGER tr AFTER INSERT ON canary BEGIN SELECT * FROM {table}; END; INSERT INTO "
        "canary VALUES(99, '', NULL)",
    ]


@pytest.mark.parametrize("pragma", [*KNOWN, *OTHERS])
def test_a_pragma_does_what_the_list_says_and_nothing_else(
    prey: Prey, pragma: str, tried: Callable[[int], None]
) -> None:
    before = prey.query(SETTINGS).rows
    for sql in ways(pragma):
        outcome = prey.attack(sql)
        is_setting = "=" in sql or "(" in sql
        if pragma in TELL | SET or (pragma in READ_ONLY and not is_setting):
            assert outcome.code in BOUNCED | {None}, (sql, outcome)
        else:
            assert outcome.code in REFUSED, (sql, outcome)
    as_table = ways_as_table(pragma)
    for sql in as_table:
        # Nothing of what these make is kept.
        outcome = prey.attack(f"{sql}; ROLLBACK")
        if pragma not in TELL | SET | READ_ONLY:
            assert outcome.code in BOUNCED, (sql, outcome)
        assert outcome.code in BOUNCED | {None}, (sql, outcome)
    assert prey.query(SETTINGS).rows == before
    tried(len(ways(pragma)) + len(as_table))


HIDDEN = [
    Case("in comments", "/**/PRAGMA/**/journal_mode/**/=/**/DELETE", REFUSED),
    Case("after a semicolon", "SELECT 1;;PRAGMA synchronous=OFF", REFUSED),
    Case("with a schema that is not there", "PRAGMA other.journal_mode = DELETE", BOUNCED),
    Case("in quotes", "PRAGMA 'journal_mode' = 'off'", BOUNCED),
    Case("in brackets", "PRAGMA [journal_mode] = off", BOUNCED),
    Case("explained", "EXPLAIN PRAGMA journal_mode = DELETE", BOUNCED),
    Case("foreign keys within a call", "PRAGMA foreign_keys = OFF; DELETE FROM canary", REFUSED),
    Case("deferred foreign keys", "PRAGMA defer_foreign_keys = ON", REFUSED),
    Case("constraints ignored", "PRAGMA ignore_check_constraints = ON", REFUSED),
    Case(
        "query_only taken off",
        "PRAGMA query_only = OFF; DELETE FROM canary",
        REFUSED,
        given={"read_only": True},
    ),
    Case("memory limit raised", "PRAGMA hard_heap_limit = 0", REFUSED),
    Case("soft memory limit", "PRAGMA soft_heap_limit = 1", REFUSED),
    Case("size limit raised", "PRAGMA max_page_count = 1073741823", REFUSED),
    Case("memory map", "PRAGMA mmap_size = 1099511627776", REFUSED),
    Case("threads", "PRAGMA threads = 8", REFUSED),
    Case("temporary files", "PRAGMA temp_store = FILE", REFUSED),
    Case("folder of temporary files", "PRAGMA temp_store_directory = '../outside'", REFUSED),
    Case("folder of data", "PRAGMA data_store_directory = '../outside'", REFUSED),
    Case("locking mode", "PRAGMA locking_mode = EXCLUSIVE; SELECT * FROM canary", REFUSED),
    Case("journal in memory", "PRAGMA journal_mode = MEMORY", REFUSED),
    Case("checkpoint", "PRAGMA wal_checkpoint(TRUNCATE)", REFUSED),
    Case("no checkpoint", "PRAGMA wal_autocheckpoint = 0", REFUSED),
    Case("busy forever", "PRAGMA busy_timeout = 2147483647", REFUSED),
    Case("key", "PRAGMA key = 'secret'", REFUSED),
    Case("schema version", "PRAGMA schema_version = 99", REFUSED),
    Case("shrink", "PRAGMA incremental_vacuum(1000)", REFUSED),
    Case("statistics of everything", "PRAGMA optimize(0x10002)", frozenset({None})),
    Case("statistics without end", "PRAGMA analysis_limit = 0", REFUSED),
    Case(
        "an argument that is SQL", "PRAGMA table_info('canary''); DROP TABLE canary; --')", frozenset({None})
    ),
    Case("an argument of a megabyte", lambda: f"PRAGMA table_info('{'x' * 1_000_000}')", frozenset({None})),
    Case("integrity_check of nobody", "PRAGMA integrity_check(nobody)", BOUNCED | {None}),
]


@pytest.mark.parametrize("case", HIDDEN, ids=lambda case: case.name)
def test_no_way_of_writing_it_gets_a_pragma_through(strike: Strike, case: Case) -> None:
    strike(case)
