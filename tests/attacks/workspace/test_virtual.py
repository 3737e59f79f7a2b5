"""Full-text and R-tree tables, which keep their contents in tables of their own: shadow tables."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .conftest import Strike
from .prey import BOUNCED, DONE, SQL_ERROR, TIMED_OUT, Case, Prey

MAKE = (
    "CREATE VIRTUAL TABLE notes USING fts5(title, body); INSERT INTO notes VALUES('first', 'hello world'); "
    "CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1); INSERT INTO boxes VALUES(1, 0, 1)"
)
SHADOWS = [
    *("notes_data", "notes_idx", "notes_content", "notes_docsize", "notes_config"),
    *("boxes_node", "boxes_rowid", "boxes_parent"),
]


@pytest.mark.parametrize("shadow", SHADOWS)
def test_a_shadow_table_is_not_written(prey: Prey, shadow: str, tried: Callable[[int], None]) -> None:
    prey.query(MAKE)
    ways = [
        f"INSERT INTO {shadow} DEFAULT VALUES",
        f"INSERT INTO {shadow}(rowid) VALUES(1000)",
        f"DELETE FROM {shadow}",
        f"UPDATE {shadow} SET rowid = rowid + 1",
        f"REPLACE INTO {shadow} SELECT * FROM {shadow}",
        f"DROP TABLE {shadow}",
        f"ALTER TABLE {shadow} RENAME TO mine",
        f"ALTER TABLE {shadow} ADD COLUMN mine",
        f"ALTER TABLE {shadow} RENAME COLUMN rowid TO mine",
        f"ALTER TABLE {shadow} DROP COLUMN c0",
        f"CREATE TRIGGER tr AFTER INSERT ON {shadow} BEGIN DELETE FROM canary; END",
        f"CREATE TEMP TRIGGER tr AFTER INSERT ON {shadow} BEGIN DELETE FROM canary; END",
        f"CREATE TRIGGER tr AFTER INSERT ON canary BEGIN DELETE FROM {shadow}; END; INSERT INTO canary "
        "VALUES(99, '', NULL)",
        f"CREATE TABLE mine(a); ALTER TABLE mine RENAME TO {shadow}",
        f"CREATE TABLE {shadow}(a)",
        f"WITH d AS (SELECT 1) DELETE FROM {shadow}",
        f"INSERT INTO {shadow} SELECT * FROM {shadow} ON CONFLICT DO NOTHING",
    ]
    for sql in ways:
        outcome = prey.attack(sql)
        assert outcome.code in BOUNCED, (sql, outcome)
    assert prey.query("SELECT title FROM notes WHERE notes MATCH 'hello'").rows == [["first"]]
    assert prey.query("SELECT id FROM boxes").rows == [[1]]
    tried(len(ways))


COMMANDS = [
    "rank",
    "pgsz",
    "automerge",
    "crisismerge",
    "usermerge",
    "hashsize",
    "deletemerge",
    "secure-delete",
]
COMMANDS += [
    "insttoken",
    "version",
    "merge",
    "no such command",
    "rebuild",
    "optimize",
    "integrity-check",
    "flush",
]
VALUES = [
    "NULL",
    "0",
    "1",
    "-1",
    "1e300",
    "'x'",
    "9223372036854775807",
    "x'00ff'",
    "'bm25(1, load_extension(2))'",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_a_full_text_index_leaves_it_working(
    prey: Prey, command: str, tried: Callable[[int], None]
) -> None:
    prey.query(MAKE)
    for value in VALUES:
        outcome = prey.attack(f"INSERT INTO notes(notes, rank) VALUES('{command}', {value})")
        assert outcome.code in SQL_ERROR | DONE, (value, outcome)
    prey.query("INSERT INTO notes VALUES('second', 'hello there')")
    found = prey.query("SELECT title FROM notes WHERE notes MATCH 'hello' ORDER BY rowid").rows
    assert [row[0] for row in found] == ["first", "second"]
    tried(len(VALUES))


CONTENTS = [
    *(
        "sqlite_schema",
        "sqlite_master",
        "dbstat",
        "sqlite_dbpage",
        "sqlite_stmt",
        "pragma_module_list",
        "pragma_database_list",
    ),
    *(
        "notes",
        "outer",
        'a" ; DROP TABLE canary; --',
        "canary; DROP TABLE canary",
        "no such table",
        "mnemos_messages",
    ),
    *("notes_data", "canary' ,content_rowid='id", "bytecode", "json_each", "sqlite_temp_schema"),
]


@pytest.mark.parametrize("content", CONTENTS)
def test_external_contents_open_no_back_door(prey: Prey, content: str, tried: Callable[[int], None]) -> None:
    """An index may name any table as its contents, and reads it with statements of its own."""
    prey.query(MAKE)
    quoted = content.replace("'", "''")
    prey.attack(f"CREATE VIRTUAL TABLE outer USING fts5(name, content='{quoted}')")
    ways = [
        "SELECT * FROM outer",
        "SELECT name, rank FROM outer WHERE outer MATCH 'x'",
        "INSERT INTO outer(outer) VALUES('rebuild')",
        "INSERT INTO outer(outer) VALUES('integrity-check')",
        "INSERT INTO outer(outer, rank) VALUES('integrity-check', 1)",
        "INSERT INTO outer(rowid, name) VALUES(1, 'x')",
        "SELECT highlight(outer, 0, '<', '>'), snippet(outer, 0, '<', '>', '', 5) FROM outer WHERE "
        "outer MATCH 'x'",
        "INSERT INTO outer(outer, rowid, name) VALUES('delete', 1, 'y')",
        "UPDATE outer SET name = 'z'",
        "DELETE FROM outer",
        "DROP TABLE IF EXISTS outer",
    ]
    for sql in ways:
        outcome = prey.attack(sql, timeout=5)
        assert outcome.code in BOUNCED | DONE | {"corrupt"}, (sql, outcome)
        if sql == "SELECT * FROM outer" and content in (
            "dbstat",
            "sqlite_dbpage",
            "sqlite_stmt",
            "pragma_module_list",
        ):
            assert outcome.code in BOUNCED
    assert prey.query("SELECT title FROM notes WHERE notes MATCH 'hello'").rows == [["first"]]
    tried(len(ways))


SHAPES = [
    Case("of itself", "CREATE VIRTUAL TABLE a USING fts5(x, content='a'); SELECT * FROM a", BOUNCED),
    Case(
        "of each other",
        "CREATE VIRTUAL TABLE a USING fts5(x, content='b'); CREATE VIRTUAL TABLE b USING fts5(x, "
        "content='a'); "
        "INSERT INTO a(rowid, x) VALUES(1, 'y'); SELECT * FROM a WHERE a MATCH 'y'",
        BOUNCED,
    ),
    Case(
        "of a view of itself",
        "CREATE VIEW v AS SELECT rowid, x FROM a; CREATE VIRTUAL TABLE a USING fts5(x, content='v'); "
        "SELECT * FROM a",
        BOUNCED,
    ),
    Case(
        "three thousand columns",
        lambda: f"CREATE VIRTUAL TABLE a USING fts5({', '.join(f'c{n}' for n in range(3_000))})",
        BOUNCED,
    ),
    Case(
        "two hundred dimensions",
        lambda: f"CREATE VIRTUAL TABLE a USING rtree({', '.join(f'c{n}' for n in range(401))})",
        BOUNCED,
    ),
    Case("no columns", "CREATE VIRTUAL TABLE a USING fts5()", BOUNCED | DONE),
    Case("a column called rank", "CREATE VIRTUAL TABLE a USING fts5(rank, rowid)", BOUNCED),
    Case("the same column twice", "CREATE VIRTUAL TABLE a USING fts5(x, x)", BOUNCED | DONE),
    Case(
        "a thousand prefixes",
        lambda: f"CREATE VIRTUAL TABLE a USING fts5(x, prefix='{' '.join(map(str, range(1, 1000)))}')",
        BOUNCED,
    ),
    Case("a prefix of minus one", "CREATE VIRTUAL TABLE a USING fts5(x, prefix='-1')", BOUNCED),
    Case("an unknown tokenizer", "CREATE VIRTUAL TABLE a USING fts5(x, tokenize='evil')", BOUNCED),
    Case("a tokenizer from a file", "CREATE VIRTUAL TABLE a USING fts5(x, tokenize='/tmp/evil.so')", BOUNCED),
    Case(
        "a tokenizer of a tokenizer",
        lambda: f"CREATE VIRTUAL TABLE a USING fts5(x, tokenize='{'porter ' * 400}')",
        BOUNCED | DONE,
    ),
    Case(
        "two million bytes of arguments",
        lambda: f"CREATE VIRTUAL TABLE a USING fts5(x, tokenize='{'unicode61 ' * 200_000}')",
        BOUNCED,
    ),
    Case(
        "a million characters of a token",
        lambda: (
            'CREATE VIRTUAL TABLE a USING fts5(x, tokenize="unicode61 tokenchars '
            f"'{'x' * 1_000_000}'\"); INSERT INTO a VALUES('y')"
        ),
        BOUNCED | DONE,
    ),
    Case(
        "a document of one long word",
        "CREATE VIRTUAL TABLE a USING fts5(x); INSERT INTO a VALUES(printf('%.*c', 3000000, 'y'))",
        BOUNCED | DONE,
    ),
    Case(
        "a document of many words",
        "CREATE VIRTUAL TABLE a USING fts5(x); INSERT INTO a VALUES(replace(printf('%.*c', 900000, "
        "'y'), 'y', 'y '))",
        BOUNCED | DONE,
    ),
    Case(
        "a table in the place of a shadow",
        "CREATE TABLE a_data(x); CREATE VIRTUAL TABLE a USING fts5(x)",
        BOUNCED,
    ),
    Case(
        "a rename onto a shadow",
        "CREATE VIRTUAL TABLE a USING fts5(x); CREATE TABLE b_data(x); ALTER TABLE a RENAME TO b",
        BOUNCED,
    ),
    Case(
        "a vocabulary of nothing",
        "CREATE VIRTUAL TABLE v USING fts5vocab(canary, row); SELECT * FROM v",
        BOUNCED,
    ),
    Case(
        "a vocabulary of the schema",
        "CREATE VIRTUAL TABLE v USING fts5vocab(sqlite_schema, row); SELECT * FROM v",
        BOUNCED,
    ),
    Case(
        "a vocabulary of another file",
        "CREATE VIRTUAL TABLE temp.v USING fts5vocab('other', 'notes', 'row'); SELECT * FROM v",
        BOUNCED,
    ),
    Case(
        "a hundred thousand brackets",
        lambda: f"SELECT * FROM notes WHERE notes MATCH '{'(' * 100_000}a'",
        BOUNCED,
        before=MAKE,
    ),
    Case(
        "nested NEAR",
        lambda: f"SELECT * FROM notes WHERE notes MATCH '{'NEAR(' * 10_000}a'",
        BOUNCED,
        before=MAKE,
    ),
    Case(
        "nested columns",
        lambda: f"SELECT * FROM notes WHERE notes MATCH '{'{title} : ' * 10_000}a'",
        BOUNCED | DONE,
        before=MAKE,
    ),
    Case(
        "three hundred thousand words of a query",
        lambda: f"SELECT * FROM notes WHERE notes MATCH '{'a AND ' * 300_000}a'",
        TIMED_OUT | BOUNCED,
        before=MAKE,
        given={"timeout": 0.3},
    ),
    Case(
        "NUL in a query",
        "SELECT * FROM notes WHERE notes MATCH 'a' || char(0) || 'b'",
        BOUNCED | DONE,
        before=MAKE,
    ),
    Case(
        "not UTF-8 in a query",
        "SELECT * FROM notes WHERE notes MATCH CAST(x'ff22' AS TEXT)",
        BOUNCED | DONE,
        before=MAKE,
    ),
    Case(
        "not UTF-8 in a document",
        "INSERT INTO notes VALUES(CAST(x'ff00c3' AS TEXT), x'ff'); SELECT * FROM notes",
        BOUNCED | DONE,
        before=MAKE,
    ),
    Case("a geometry that is a number", "SELECT * FROM boxes WHERE x0 MATCH 4096", BOUNCED, before=MAKE),
    Case(
        "a geometry that is a blob",
        "SELECT * FROM boxes WHERE x0 MATCH randomblob(100)",
        BOUNCED,
        before=MAKE,
    ),
    Case(
        "a box that is none",
        "INSERT INTO boxes VALUES(2, 9, 1), (NULL, 'x', 9e999), (3, NULL, -9e999)",
        BOUNCED,
        before=MAKE,
    ),
    Case(
        "boxes at the end of the world",
        "INSERT INTO boxes VALUES(9223372036854775807, -9e999, 9e999)",
        BOUNCED | DONE,
        before=MAKE,
    ),
    Case(
        "a trigger on a virtual table",
        "CREATE TRIGGER tr AFTER INSERT ON notes BEGIN DELETE FROM canary; END",
        BOUNCED,
        before=MAKE,
    ),
    Case("an index on a virtual table", "CREATE INDEX i ON notes(title)", BOUNCED, before=MAKE),
    Case("a column added to a virtual table", "ALTER TABLE notes ADD COLUMN x", BOUNCED, before=MAKE),
]


@pytest.mark.parametrize("case", SHAPES, ids=lambda case: case.name)
def test_a_virtual_table_of_a_strange_shape_does_no_harm(strike: Strike, case: Case) -> None:
    strike(case)


def test_a_temporary_virtual_table_is_gone_with_its_call(prey: Prey) -> None:
    prey.query(MAKE)
    for making in (
        "CREATE VIRTUAL TABLE temp.mine USING fts5(x)",
        "CREATE VIRTUAL TABLE temp.mine USING rtree(a, b, c)",
        "CREATE VIRTUAL TABLE temp.mine USING fts5vocab('main', 'notes', 'row')",
    ):
        prey.query(making)
        assert prey.attack("SELECT * FROM mine").code == "sql_error", making
