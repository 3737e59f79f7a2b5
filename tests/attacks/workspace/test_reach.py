"""Statements that reach for other files, the process, or the inside of SQLite."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import apsw
import pytest

from .conftest import Strike
from .prey import BOUNCED, DONE, REFUSED, SQL_ERROR, Case, Prey

FILES = [
    Case("attach", "ATTACH 'other.db' AS o", REFUSED),
    Case("attach a path", "ATTACH DATABASE '../outside/other.db' AS o", REFUSED),
    Case("attach memory", "ATTACH ':memory:' AS o", REFUSED),
    Case("attach what has no name", "ATTACH '' AS o", REFUSED),
    Case("attach a URI", "ATTACH 'file:../outside/other.db?mode=ro&immutable=1' AS o", REFUSED),
    Case("attach by an expression", "ATTACH (SELECT 'ot' || 'her.db') AS o", REFUSED),
    Case("attach by a parameter", "ATTACH ? AS o", REFUSED, given={"params": ["../outside/other.db"]}),
    Case("attach in another case", "aTtAcH/**/'other.db'/**/As/**/o", REFUSED),
    Case("attach after another statement", "SELECT 1; ATTACH 'other.db' AS o", REFUSED),
    Case("attach in a savepoint", "SAVEPOINT s; ATTACH 'other.db' AS o; RELEASE s", REFUSED),
    Case("explain attach", "EXPLAIN ATTACH 'other.db' AS o", REFUSED | DONE),
    Case("attach itself", "ATTACH 'c1.db' AS main", REFUSED),
    Case("detach", "DETACH main", BOUNCED),
    Case("detach temp", "DETACH temp", BOUNCED),
    Case("vacuum", "VACUUM", REFUSED),
    Case("vacuum main", "VACUUM main", REFUSED),
    Case("vacuum into", "VACUUM INTO 'copy.db'", REFUSED),
    Case("vacuum into a path", "VACUUM main INTO '../outside/copy.db'", REFUSED),
    Case("vacuum into by an expression", "VACUUM INTO (SELECT '../outs' || 'ide/copy.db')", REFUSED),
    Case("vacuum behind a comment", "/* harmless */ -- really\n ;; vacuum\tinto\n'copy.db'", REFUSED),
    Case("vacuum behind a byte order mark", "\ufeffVACUUM INTO 'copy.db'", REFUSED),
    Case("vacuum after a rollback", "ROLLBACK; VACUUM INTO 'copy.db'", REFUSED),
    Case("vacuum after a commit", "COMMIT; VACUUM INTO 'copy.db'", REFUSED),
    Case("explain vacuum", "EXPLAIN VACUUM INTO 'copy.db'", REFUSED | DONE),
    Case("select from a file by name", "SELECT * FROM '../outside/precious.txt'", SQL_ERROR),
    Case("another schema", "CREATE TABLE other.t(a)", SQL_ERROR),
    Case("backup of the shell", ".backup main copy.db", SQL_ERROR),
    Case("open of the shell", ".open ../outside/other.db", SQL_ERROR),
    Case("output of the shell", ".output ../outside/precious.txt", SQL_ERROR),
    Case("system of the shell", ".system touch ../outside/new", SQL_ERROR),
]

# Functions of extensions, the shell and other builds of SQLite.
FUNCTIONS = [
    "load_extension('/tmp/evil.so')",
    "load_extension('/tmp/evil.so', 'main')",
    "readfile('../outside/precious.txt')",
    "writefile('../outside/new.txt', 'x')",
    "writefile('../outside/precious.txt', 'x')",
    "edit('x', 'vi')",
    "lsmode(1)",
    "fts3_tokenizer('simple')",
    "fts3_tokenizer('simple', x'4141414141414141')",
    "fts5(1)",
    "fts5_decode(1, 2)",
    "fts5_locale('en', 'x')",
    "fts5_source_id()",
    "fts5_insttoken('x')",
    "sqlite_log(1, 'x')",
    "sqlite_compileoption_get(0)",
    "sqlite_compileoption_used('THREADSAFE')",
    "sqlite_offset(1)",
    "sqlite_unsupported_offset(1)",
    "sqlite_rename_column('x', 't', 'main', 't', 0, 0, 'x', 0, 0)",
    "sqlite_rename_table('main', 'table', 't', 'CREATE TABLE t(a)', 't', 'u', 0)",
    "sqlite_drop_column('main', 'CREATE TABLE t(a, b)', 1)",
    "sqlite_fail('x')",
    "subtype(1)",
    "implies_nonnull_row(1, 1)",
    "expr_compare(1, 1)",
    "expr_implies_expr(1, 1)",
    "affinity(1)",
    "unknown(1)",
    "matchinfo('x')",
    "offsets('x')",
    "optimize('x')",
    "rtreenode(2, x'00')",
    "rtreedepth(x'00')",
    "rtreecheck('canary')",
    "geopoly_blob('[[0,0],[1,0],[0,1],[0,0]]')",
    "geopoly_debug(1)",
    "zipfile('x')",
    "sqlar_compress('x')",
    "fileio_ls('.')",
    "system('true')",
    "shell('true')",
    "eval('SELECT 1')",
    "exec('SELECT 1')",
    "sha3_query('SELECT 1')",
    "dbinfo('main')",
    "getenv('PATH')",
    "carray_bind(1)",
    "decimal(1)",
    "pg_read_file('/etc/passwd')",
    "LOAD_FILE('/etc/passwd')",
    "xp_cmdshell('dir')",
    "current_setting('data_directory')",
    "sleep(60)",
    "pg_sleep(60)",
    "randomblob(load_extension('x'))",
]

TABLES = [
    "dbstat",
    "dbstat('main')",
    "dbstat('main', 1)",
    "main.dbstat",
    "'dbstat'",
    '"DBSTAT"',
    "sqlite_dbpage",
    "sqlite_dbpage('main')",
    "sqlite_dbdata",
    "sqlite_dbptr",
    "sqlite_stmt",
    "bytecode('SELECT 1')",
    "tables_used('SELECT 1')",
    "carray",
    "carray(1, 1)",
    "carray(4096, 100, 'char*')",
    "generate_series(1)",
    "fsdir('.')",
    "fts3tokenize",
    "fts4aux",
    "completion('SEL')",
    "vfslist",
    "vtablog",
    "zipfile('../outside/x.zip')",
    "csv('../outside/deeper/notes.csv')",
    "json_each",
    "sqlite_temp_master",
    "mnemos_messages",
    "mnemos_sessions",
    "mnemos_facts",
]
# Here is nothing to see, and no harm in looking.
HARMLESS = {"json_each", "sqlite_temp_master", "generate_series(1)"}

_raw = apsw.Connection(":memory:")
MODULES = sorted(
    {
        name
        for (name,) in _raw.execute("SELECT name FROM pragma_module_list")
        if not name.startswith("pragma_")
    }
    | {
        "csv",
        "carray",
        "sqlite_dbpage",
        "sqlite_stmt",
        "bytecode",
        "json_each",
        "pragma_table_info",
        "fsdir",
        "zipfile",
    }
    | {
        "unionvtab",
        "swarmvtab",
        "vfsstat",
        "statvfs",
        "prefixes",
        "spellfix1",
        "memstat",
        "explain",
        "tclvar",
    }
)
_raw.close()
OFFERED = {"fts5", "fts5vocab", "rtree", "rtree_i32"}


@pytest.mark.parametrize("case", FILES, ids=lambda case: case.name)
def test_no_other_file_is_reached(strike: Strike, case: Case) -> None:
    strike(case)


@pytest.mark.parametrize("call", FUNCTIONS)
def test_a_function_that_reaches_out_is_not_there(
    prey: Prey, call: str, tried: Callable[[int], None]
) -> None:
    """By itself, in a trigger, a view, a constraint, an index, as a default: when made or when used."""
    prey.query("CREATE TABLE t(a, b)")
    ways = [
        f"SELECT {call}",
        f"SELECT 1 WHERE 0 AND {call}",
        f"CREATE VIEW v AS SELECT {call} AS x; SELECT * FROM v",
        f"CREATE TRIGGER tr AFTER INSERT ON t BEGIN SELECT {call}; END; INSERT INTO t VALUES(1, 2)",
        f"CREATE TABLE u(a CHECK({call})); INSERT INTO u VALUES(1)",
        f"CREATE TABLE u(a, b DEFAULT({call})); INSERT INTO u(a) VALUES(1)",
        f"CREATE TABLE u(a, b AS ({call})); INSERT INTO u VALUES(1); SELECT * FROM u",
        f"CREATE INDEX i ON t({call}); INSERT INTO t VALUES(1, 2)",
        f"CREATE INDEX i ON t(a) WHERE {call}; INSERT INTO t VALUES(1, 2)",
        f"SELECT sum(a) OVER (ORDER BY {call}) FROM t; INSERT INTO t VALUES(1, {call})",
        f"UPDATE t SET a = {call}; DELETE FROM t WHERE {call}; SELECT 1 ORDER BY {call}",
    ]
    for sql in ways:
        outcome = prey.attack(sql)
        assert outcome.code in BOUNCED, (sql, outcome)
    assert [row[0] for row in prey.query("SELECT name FROM sqlite_schema ORDER BY 1").rows] == ["canary", "t"]
    tried(len(ways))


@pytest.mark.parametrize("table", TABLES)
def test_a_table_that_shows_the_inside_is_closed(
    prey: Prey, table: str, tried: Callable[[int], None]
) -> None:
    name = table.partition("(")[0]
    reading = [
        f"SELECT * FROM {table}",
        f"SELECT count(*) FROM {table}",
        f"SELECT * FROM canary JOIN {table} ON 1",
        f"WITH c AS (SELECT * FROM {table}) SELECT * FROM c",
        f"SELECT EXISTS (SELECT 1 FROM {table})",
    ]
    writing = [
        f"INSERT INTO {name} DEFAULT VALUES",
        f"DELETE FROM {name}",
        f"DROP TABLE {name}",
        f"ALTER TABLE {name} RENAME TO mine",
        f"CREATE TRIGGER tr AFTER INSERT ON {name} BEGIN SELECT 1; END",
        f"CREATE INDEX i ON {name}(rowid)",
    ]
    viewing = [
        f"CREATE VIEW v AS SELECT * FROM {table}; SELECT * FROM v",
        f"CREATE TEMP TRIGGER tr AFTER INSERT ON canary BEGIN SELECT * FROM {name}; END; "
        "INSERT INTO canary VALUES(99, 'x', NULL); DELETE FROM canary WHERE id = 99; DROP TRIGGER tr",
    ]
    for sql in reading + viewing:
        outcome = prey.attack(sql)
        assert outcome.code in (BOUNCED | DONE if table in HARMLESS else BOUNCED), (sql, outcome)
        if outcome.answer is not None and "count" not in sql and "EXISTS" not in sql:
            assert outcome.answer.rows == []
    for sql in writing:
        outcome = prey.attack(sql)
        assert outcome.code in BOUNCED, (sql, outcome)
    prey.attack("DROP VIEW IF EXISTS v")
    tried(len(reading + viewing + writing))


@pytest.mark.parametrize("module", MODULES)
def test_virtual_tables_are_of_modules_on_the_list(
    prey: Prey, module: str, tried: Callable[[int], None]
) -> None:
    arguments = [
        "",
        "()",
        "(a, b, c)",
        "(canary)",
        "('../outside/deeper/notes.csv')",
        "(filename='/etc/passwd')",
    ]
    wheres = ["v", "main.v", "temp.v", "IF NOT EXISTS v"]
    for where, given in itertools.product(wheres, arguments):
        outcome = prey.attack(f"CREATE VIRTUAL TABLE {where} USING {module}{given}")
        if module in OFFERED:
            assert outcome.code in {None, "sql_error"}
            prey.query("DROP TABLE IF EXISTS v")
        else:
            assert outcome.code in BOUNCED, (where, given, outcome)
    assert prey.query("SELECT count(*) FROM sqlite_schema").rows == [[1]]
    tried(len(wheres) * len(arguments))


INSIDE = [
    Case(
        "insert into the schema",
        "INSERT INTO sqlite_schema VALUES('table', 'x', 'x', 2, 'CREATE TABLE x(a)')",
        BOUNCED,
    ),
    Case(
        "insert into the master",
        "INSERT INTO sqlite_master VALUES('view', 'x', 'x', 0, 'CREATE VIEW x AS SELECT 1')",
        BOUNCED,
    ),
    Case("update the schema", "UPDATE sqlite_schema SET sql = 'CREATE TABLE canary(a, b)'", BOUNCED),
    Case("move a root page", "UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'canary'", BOUNCED),
    Case("delete from the schema", "DELETE FROM sqlite_schema", BOUNCED),
    Case(
        "replace in the schema",
        "REPLACE INTO sqlite_schema VALUES('table', 'canary', 'canary', 99, 'x')",
        BOUNCED,
    ),
    Case("drop the schema", "DROP TABLE sqlite_schema", BOUNCED),
    Case("alter the schema", "ALTER TABLE sqlite_schema ADD COLUMN x", BOUNCED),
    Case("rename the schema", "ALTER TABLE sqlite_master RENAME TO mine", BOUNCED),
    Case("index the schema", "CREATE INDEX i ON sqlite_schema(name)", BOUNCED),
    Case(
        "trigger on the schema",
        "CREATE TRIGGER tr AFTER INSERT ON sqlite_schema BEGIN SELECT 1; END",
        BOUNCED,
    ),
    Case("view in place of the schema", "CREATE VIEW sqlite_schema AS SELECT 1", BOUNCED),
    Case("table in place of the schema", "CREATE TABLE sqlite_master(a)", BOUNCED),
    Case("temp table in place of the schema", "CREATE TEMP TABLE sqlite_temp_schema(a)", BOUNCED),
    Case("a reserved name", "CREATE TABLE sqlite_mine(a)", BOUNCED),
    Case("a reserved name in quotes", 'CREATE TABLE "SQLite_mine"(a)', BOUNCED),
    Case("a reserved index", "CREATE INDEX sqlite_autoindex_canary_1 ON canary(song)", BOUNCED),
    Case("write the temp schema", "DELETE FROM sqlite_temp_schema", BOUNCED),
    Case("writable_schema", "PRAGMA writable_schema = ON", REFUSED),
    Case("writable_schema and then", "PRAGMA writable_schema = 1; DELETE FROM sqlite_schema", REFUSED),
    Case("writable_schema by a function", "SELECT * FROM pragma_writable_schema(1)", BOUNCED),
    Case("writable_schema reset", "PRAGMA writable_schema = RESET", REFUSED),
    Case(
        "a trigger that writes the schema",
        "CREATE TRIGGER tr AFTER INSERT ON canary BEGIN DELETE FROM sqlite_schema; END; "
        "INSERT INTO canary VALUES(99, 'x', NULL)",
        BOUNCED,
    ),
    Case(
        "a view of the schema that is written",
        "CREATE VIEW v AS SELECT * FROM sqlite_schema; DELETE FROM v",
        BOUNCED,
    ),
    Case(
        "an upsert into the schema",
        "INSERT INTO sqlite_schema(rowid) VALUES(1) ON CONFLICT DO UPDATE SET sql = 'x'",
        BOUNCED,
    ),
    Case(
        "a foreign key that cascades into the schema",
        "CREATE TABLE p(a PRIMARY KEY REFERENCES sqlite_schema(name) ON DELETE CASCADE); INSERT INTO "
        "p VALUES('canary')",
        BOUNCED,
    ),
    Case(
        "sequence numbers from another world",
        "CREATE TABLE s(id INTEGER PRIMARY KEY AUTOINCREMENT, a); INSERT INTO s(a) VALUES(1); "
        "UPDATE sqlite_sequence SET seq = 9223372036854775807; INSERT INTO s(a) VALUES(2)",
        SQL_ERROR | {"too_large"},
    ),
    Case(
        "sequence numbers that are none",
        "CREATE TABLE s(id INTEGER PRIMARY KEY AUTOINCREMENT, a); INSERT INTO s(a) VALUES(1); "
        "UPDATE sqlite_sequence SET seq = 'x', name = x'ff00'; INSERT INTO sqlite_sequence "
        "VALUES(NULL, NULL); "
        "INSERT INTO s(a) VALUES(2); DELETE FROM sqlite_sequence; INSERT INTO s(a) VALUES(3)",
        ANY_HARMLESS := BOUNCED | DONE,
    ),
    Case(
        "drop the sequences",
        "CREATE TABLE s(id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE sqlite_sequence",
        BOUNCED,
    ),
    Case(
        "lying statistics",
        "CREATE INDEX i ON canary(song); ANALYZE; DELETE FROM sqlite_stat1; "
        "INSERT INTO sqlite_stat1 VALUES('canary', 'i', '99999999999999999999 -1 0 unordered "
        "noskipscan sz=-5'), "
        "(NULL, 'i', x'ff'), ('canary', NULL, 'x'), ('nobody', 'nothing', ''); ANALYZE sqlite_schema; "
        "SELECT * FROM canary WHERE song = 'x'",
        ANY_HARMLESS,
    ),
    Case(
        "statistics that are not what they should be",
        "CREATE INDEX i ON canary(song); ANALYZE; "
        "UPDATE sqlite_stat4 SET sample = x'ffffffffffffffff', neq = 'x', nlt = zeroblob(100), ndlt = "
        "'9e99'; "
        "ANALYZE sqlite_schema; SELECT * FROM canary WHERE song > 'canary 3' AND song < 'x'",
        ANY_HARMLESS,
    ),
    Case(
        "statistics of enormous samples",
        "CREATE INDEX i ON canary(song); ANALYZE; UPDATE sqlite_stat4 SET sample = zeroblob(3000000); "
        "ANALYZE sqlite_schema; SELECT * FROM canary WHERE song > 'canary 3'",
        ANY_HARMLESS | {"too_large"},
    ),
]


@pytest.mark.parametrize("case", INSIDE, ids=lambda case: case.name)
def test_the_schema_of_sqlite_is_not_written(strike: Strike, case: Case) -> None:
    strike(case)
