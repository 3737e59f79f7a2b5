"""A call is all or nothing: tricks to keep half of it, to end its transaction, or to leave things behind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .conftest import Strike
from .prey import BOUNCED, DONE, INVALID, REFUSED, SQL_ERROR, Case, Prey

KEEP = "INSERT INTO kept VALUES(1)"
FAIL = "INSERT INTO no_such_table VALUES(1)"
MAKE = (
    "CREATE TABLE kept(a); CREATE TABLE once(a UNIQUE ON CONFLICT ROLLBACK); INSERT INTO once VALUES(1); "
    "CREATE TABLE raising(a); "
    "CREATE TRIGGER r1 BEFORE INSERT ON raising WHEN new.a = 1 BEGIN SELECT RAISE(ROLLBACK, 'rolled "
    "back'); END; "
    "CREATE TRIGGER r2 BEFORE INSERT ON raising WHEN new.a = 2 BEGIN SELECT RAISE(FAIL, 'failed'); END; "
    "CREATE TRIGGER r3 BEFORE INSERT ON raising WHEN new.a = 3 BEGIN SELECT RAISE(ABORT, 'aborted'); END; "
    "CREATE TABLE parent(a PRIMARY KEY); "
    "CREATE TABLE child(a REFERENCES parent DEFERRABLE INITIALLY DEFERRED)"
)

# Each of these fails, and nothing of it may be kept.
HALVES = [
    ("an error at the end", f"{KEEP}; {FAIL}"),
    ("COMMIT before the error", f"{KEEP}; COMMIT; {FAIL}"),
    ("END before the error", f"{KEEP}; END; {FAIL}"),
    ("COMMIT TRANSACTION before the error", f"{KEEP}; COMMIT TRANSACTION; {FAIL}"),
    ("COMMIT and BEGIN", f"{KEEP}; COMMIT; BEGIN; {FAIL}"),
    ("COMMIT in comments", f"{KEEP}; /* x */ COMMIT -- y\n; {FAIL}"),
    ("COMMIT in another case", f"{KEEP}; cOmMiT; {FAIL}"),
    ("COMMIT behind a byte order mark", f"{KEEP}; \ufeffCOMMIT; {FAIL}"),
    ("COMMIT explained", f"{KEEP}; EXPLAIN COMMIT; {FAIL}"),
    ("BEGIN twice", f"BEGIN; {KEEP}; BEGIN IMMEDIATE; COMMIT; COMMIT; {FAIL}"),
    ("BEGIN EXCLUSIVE", f"BEGIN EXCLUSIVE; {KEEP}; COMMIT; {FAIL}"),
    ("RELEASE of a savepoint", f"SAVEPOINT a; {KEEP}; RELEASE a; {FAIL}"),
    ("RELEASE of all", f"SAVEPOINT a; SAVEPOINT b; {KEEP}; RELEASE a; {FAIL}"),
    ("RELEASE of none", f"{KEEP}; RELEASE nobody"),
    ("RELEASE of ours", f"{KEEP}; RELEASE mnemos; {FAIL}"),
    ("ROLLBACK TO and on", f"SAVEPOINT a; {KEEP}; ROLLBACK TO a; {KEEP}; RELEASE a; {FAIL}"),
    ("ROLLBACK TO nobody", f"{KEEP}; ROLLBACK TO nobody"),
    ("ROLLBACK and on", f"{KEEP}; ROLLBACK; {KEEP}; {FAIL}"),
    ("ROLLBACK, BEGIN, COMMIT", f"{KEEP}; ROLLBACK; BEGIN; {KEEP}; COMMIT; {FAIL}"),
    ("INSERT OR ROLLBACK", f"{KEEP}; INSERT OR ROLLBACK INTO once VALUES(1); {KEEP}"),
    ("ON CONFLICT ROLLBACK", f"{KEEP}; INSERT INTO once VALUES(1); {KEEP}"),
    ("INSERT OR FAIL", f"{KEEP}; INSERT OR FAIL INTO once VALUES(2), (3), (1), (4)"),
    ("INSERT OR ABORT", f"{KEEP}; INSERT OR ABORT INTO once VALUES(2), (3), (1), (4)"),
    ("UPDATE OR ROLLBACK", f"{KEEP}; INSERT INTO once VALUES(2); UPDATE OR ROLLBACK once SET a = 1; {KEEP}"),
    ("UPDATE OR FAIL", f"{KEEP}; INSERT INTO once VALUES(2), (3); UPDATE OR FAIL once SET a = 9"),
    ("RAISE(ROLLBACK)", f"{KEEP}; INSERT INTO raising VALUES(0), (1), (0); {KEEP}"),
    ("RAISE(FAIL)", f"{KEEP}; INSERT INTO raising VALUES(0), (2), (0); {KEEP}"),
    ("RAISE(ABORT)", f"{KEEP}; INSERT INTO raising VALUES(0), (3), (0); {KEEP}"),
    (
        "RAISE(ROLLBACK) within a savepoint",
        f"SAVEPOINT a; {KEEP}; INSERT INTO raising VALUES(1); RELEASE a; {KEEP}",
    ),
    ("INSERT OR REPLACE around RAISE", f"{KEEP}; INSERT OR REPLACE INTO raising VALUES(1); {KEEP}"),
    ("INSERT OR IGNORE around RAISE", f"{KEEP}; INSERT OR IGNORE INTO raising VALUES(1); {KEEP}"),
    ("a foreign key that is broken at the end", f"{KEEP}; INSERT INTO child VALUES(1)"),
    ("a foreign key, COMMIT in between", f"{KEEP}; INSERT INTO child VALUES(1); COMMIT; {KEEP}"),
    ("a foreign key in a savepoint", f"SAVEPOINT a; {KEEP}; INSERT INTO child VALUES(1); RELEASE a"),
    (
        "a parent that is dropped",
        f"INSERT INTO parent VALUES(1); INSERT INTO child VALUES(1); {KEEP}; DROP TABLE parent",
    ),
    (
        "tables made before the error",
        f"CREATE TABLE kept2(a); ALTER TABLE kept ADD COLUMN b; {KEEP.replace('(1)', '(1, 2)')}; {FAIL}",
    ),
    ("a table dropped before the error", f"DROP TABLE kept; {FAIL}"),
    ("an index before the error", f"CREATE INDEX i ON kept(a); {KEEP}; {FAIL}"),
    (
        "a virtual table before the error",
        f"CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES('x'); {KEEP}; {FAIL}",
    ),
    ("user_version before the error", f"PRAGMA user_version = 7; {KEEP}; {FAIL}"),
    ("statistics before the error", f"{KEEP}; ANALYZE; {FAIL}"),
    ("RETURNING before the error", f"INSERT INTO kept VALUES(1) RETURNING a; {FAIL}"),
    ("a syntax error at the end", f"{KEEP}; SELEC 1"),
    ("a token error at the end", f"{KEEP}; SELECT 'abc"),
    ("a refusal at the end", f"{KEEP}; ATTACH 'x' AS y"),
    ("a parameter too many", f"{KEEP}; SELECT ?"),
    (
        "an interrupt",
        f"{KEEP}; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n",
    ),
    ("a kill", f"{KEEP}; SELECT instr(printf('%.*c', 3900000, 'a'), printf('%.*c', 1900000, 'a') || 'b')"),
    ("a bomb", f"{KEEP}; SELECT zeroblob(2000000000)"),
]


@pytest.mark.parametrize("sql", [sql for _, sql in HALVES], ids=[name for name, _ in HALVES])
def test_a_call_that_fails_leaves_nothing(prey: Prey, sql: str) -> None:
    prey.query(MAKE)
    before = dump(prey)
    given = {"params": [1, 2]} if sql.endswith("?") else {}
    outcome = prey.attack(sql, timeout=0.4, **given)
    assert outcome.code is not None
    assert dump(prey) == before
    # The transaction is over: the next call has one of its own.
    prey.query(KEEP)
    assert prey.query("SELECT count(*) FROM kept").rows == [[1]]


def dump(prey: Prey) -> list[object]:
    """Everything that a call could have changed."""
    schema = prey.query("SELECT type, name, sql FROM sqlite_schema ORDER BY name").rows
    tables = [row[1] for row in schema if row[0] == "table"]
    rows = [prey.query(f'SELECT * FROM "{table}" ORDER BY 1').rows for table in tables]
    return [schema, rows, prey.query("PRAGMA user_version").rows]


def test_an_error_in_the_middle_of_many_rows_leaves_none_of_them(prey: Prey) -> None:
    prey.query("CREATE TABLE t(a UNIQUE)")
    for verb in ("INSERT", "INSERT OR FAIL", "INSERT OR ROLLBACK", "INSERT OR ABORT"):
        rows = [[number] for number in range(1_000)] + [[500]] + [[number] for number in range(1_000, 2_000)]
        assert prey.attack(f"{verb} INTO t VALUES(?)", rows=rows).code == "sql_error"
        assert prey.query("SELECT count(*) FROM t").rows == [[0]]
    for rows in (
        [[1], [object()]],
        [[1], [2, 3]],
        [[1], []],
        [[1], [1 << 64]],
        [[1], ["\ud800"]],
        [[1], {"b": 2}],
    ):
        assert prey.attack("INSERT INTO t VALUES(?)", rows=rows).code == "invalid_input", rows
        assert prey.query("SELECT count(*) FROM t").rows == [[0]]


# Text that SQLite would not parse does not count as a BEGIN, a COMMIT or a ROLLBACK.
WORDS = [
    Case(f"{statement}", f"INSERT INTO canary VALUES(99, '', NULL); {statement}", BOUNCED)
    for statement in (
        *(
            "BEGIN nonsense",
            "BEGIN IMMEDIATE EXCLUSIVE",
            "BEGIN TRANSACTION x y",
            "COMMIT x y",
            "COMMIT IMMEDIATE",
        ),
        *(
            "END of story",
            "ROLLBACK rubbish TO",
            "ROLLBACK TO",
            "ROLLBACK TO a b",
            "ROLLBACK AND CHAIN",
            "BEGIN; COMMIT 1",
        ),
        *("BEGIN (1)", "COMMIT; ROLLBACK 'x' 'y'", "END TRANSACTION TRANSACTION", "BEGIN DEFERRED ?"),
    )
]
HARMLESS = [
    Case("only BEGIN", "BEGIN", DONE),
    Case("only COMMIT", "COMMIT", DONE),
    Case("only ROLLBACK", "ROLLBACK", DONE),
    Case("a savepoint that stays open", "SAVEPOINT a; SAVEPOINT b", DONE),
    Case("a savepoint called after a keyword", 'SAVEPOINT "commit"; RELEASE "commit"', DONE),
    Case("a savepoint with an evil name", 'SAVEPOINT "a""; COMMIT; --"; ROLLBACK TO "a""; COMMIT; --"', DONE),
    Case("a savepoint called TO", 'SAVEPOINT "to"; ROLLBACK TO SAVEPOINT "to"; RELEASE SAVEPOINT "to"', DONE),
    Case(
        "ROLLBACK TRANSACTION TO",
        "SAVEPOINT a; DELETE FROM canary; ROLLBACK TRANSACTION TO SAVEPOINT a; RELEASE a",
        DONE,
    ),
    Case("what was deleted is taken back", "DELETE FROM canary; ROLLBACK", DONE),
    Case("what was dropped is taken back", "DROP TABLE canary; ROLLBACK TRANSACTION", DONE),
    Case("rolled back again and again", "; ".join(["DELETE FROM canary; ROLLBACK"] * 100), DONE),
    Case("ten thousand savepoints", "; ".join(f"SAVEPOINT s{n}" for n in range(999)), DONE),
    Case(
        "a write in a call that reads",
        "DELETE FROM canary",
        frozenset({"read_only"}),
        given={"read_only": True},
    ),
    Case(
        "DDL in a call that reads", "CREATE TABLE t(a)", frozenset({"read_only"}), given={"read_only": True}
    ),
    Case(
        "a CTE that writes in a call that reads",
        "WITH a AS (SELECT 1) DELETE FROM canary",
        frozenset({"read_only"}),
        given={"read_only": True},
    ),
    Case(
        "a RETURNING in a call that reads",
        "DELETE FROM canary RETURNING *",
        frozenset({"read_only"}),
        given={"read_only": True},
    ),
    Case(
        "a pragma that writes in a call that reads",
        "PRAGMA user_version = 5",
        frozenset({"read_only"}) | REFUSED,
        given={"read_only": True},
    ),
    Case(
        "ROLLBACK in a call that reads",
        "ROLLBACK; DELETE FROM canary",
        frozenset({"read_only"}),
        given={"read_only": True},
    ),
    Case("statistics in a call that reads", "ANALYZE", frozenset({"read_only"}), given={"read_only": True}),
    Case(
        "full text in a call that reads",
        "INSERT INTO f(f) VALUES('optimize')",
        frozenset({"read_only"}),
        before="CREATE VIRTUAL TABLE f USING fts5(a)",
        given={"read_only": True},
    ),
]


@pytest.mark.parametrize("case", WORDS + HARMLESS, ids=lambda case: case.name)
def test_words_of_transactions_do_what_the_call_allows(strike: Strike, case: Case) -> None:
    strike(case)


TRIGGERS = [
    Case(
        "a trigger that undoes",
        "CREATE TRIGGER tr AFTER INSERT ON canary BEGIN DELETE FROM canary WHERE id = new.id; END; "
        "INSERT INTO canary VALUES(99, '', NULL); DROP TRIGGER tr",
        DONE,
    ),
    Case(
        "a trigger that calls itself",
        "CREATE TABLE t(a); CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO t VALUES(new.a + "
        "1); END; INSERT INTO t VALUES(1)",
        DONE | BOUNCED,
    ),
    Case("recursive triggers switched on", "PRAGMA recursive_triggers = ON", REFUSED),
    Case(
        "triggers in a ring",
        "; ".join(f"CREATE TABLE t{n}(a)" for n in range(40))
        + "; "
        + "; ".join(
            f"CREATE TRIGGER r{n} AFTER INSERT ON t{n} BEGIN INSERT INTO t{(n + 1) % 40} VALUES(1); END"
            for n in range(40)
        )
        + "; INSERT INTO t0 VALUES(1)",
        SQL_ERROR,
    ),
    Case(
        "INSTEAD OF on a view",
        "CREATE VIEW v AS SELECT * FROM canary; CREATE TRIGGER tr INSTEAD OF DELETE ON v BEGIN SELECT "
        "RAISE(IGNORE); END; DELETE FROM v",
        DONE,
    ),
    Case(
        "INSTEAD OF that calls itself",
        "CREATE VIEW v AS SELECT * FROM canary; CREATE TRIGGER tr INSTEAD OF DELETE ON v BEGIN DELETE "
        "FROM v; END; DELETE FROM v",
        DONE | SQL_ERROR,
    ),
    Case(
        "INSTEAD OF on a table",
        "CREATE TRIGGER tr INSTEAD OF DELETE ON canary BEGIN SELECT 1; END",
        SQL_ERROR,
    ),
    Case("RAISE outside of a trigger", "SELECT RAISE(ROLLBACK, 'x')", SQL_ERROR),
    Case(
        "RAISE with an expression",
        "CREATE TRIGGER tr BEFORE INSERT ON canary BEGIN SELECT RAISE(ABORT, zeroblob(4000000) || "
        "new.song); END; INSERT INTO canary VALUES(99, '', NULL)",
        SQL_ERROR | {"too_large"},
    ),
    Case("a trigger that commits", "CREATE TRIGGER tr AFTER INSERT ON canary BEGIN COMMIT; END", SQL_ERROR),
    Case(
        "a trigger with a pragma",
        "CREATE TRIGGER tr AFTER INSERT ON canary BEGIN PRAGMA foreign_keys = OFF; END",
        SQL_ERROR,
    ),
    Case(
        "a trigger that attaches",
        "CREATE TRIGGER tr AFTER INSERT ON canary BEGIN ATTACH 'x' AS y; END",
        BOUNCED,
    ),
    Case(
        "a trigger in another schema",
        "CREATE TRIGGER tr AFTER INSERT ON temp.canary BEGIN SELECT 1; END",
        SQL_ERROR,
    ),
    Case(
        "a temporary trigger on the canary",
        "CREATE TEMP TRIGGER tr AFTER INSERT ON main.canary BEGIN DELETE FROM canary; END",
        DONE,
    ),
    Case("a temporary table before the canary", "CREATE TEMP TABLE canary(id, song, egg)", DONE),
    Case(
        "a temporary view before the canary",
        "CREATE TEMP VIEW canary AS SELECT 1 AS id, '' AS song, NULL AS egg",
        DONE,
    ),
    Case("half a trigger", "CREATE TRIGGER tr AFTER INSERT ON canary BEGIN SELECT 1;", SQL_ERROR),
    Case(
        "a trigger and an END too many",
        "CREATE TRIGGER tr AFTER INSERT ON canary BEGIN SELECT 1; END; END; DROP TRIGGER tr",
        DONE,
    ),
    Case(
        "CASE END in a trigger",
        "CREATE TRIGGER tr AFTER INSERT ON canary BEGIN SELECT CASE WHEN 1 THEN 2 END; END; DROP TRIGGER tr",
        DONE,
    ),
]


@pytest.mark.parametrize("case", TRIGGERS, ids=lambda case: case.name)
def test_triggers_stay_within_their_call_and_database(strike: Strike, case: Case) -> None:
    strike(case)


def test_what_is_temporary_is_gone_with_its_call(prey: Prey, tried: Callable[[int], None]) -> None:
    making = [
        "CREATE TEMP TABLE mine(a)",
        "CREATE TEMP VIEW mine AS SELECT 1",
        "CREATE TABLE temp.mine(a)",
        "CREATE TEMP TABLE mine AS SELECT 1",
        "CREATE TEMP TABLE mine(a); SELECT * FROM no_such_table",
        "CREATE TEMP TABLE mine(a); ROLLBACK",
        "ROLLBACK; CREATE TEMP TABLE mine(a)",
        "SAVEPOINT s; CREATE TEMP TABLE mine(a); RELEASE s",
    ]
    for sql in making:
        prey.attack(sql)
        assert prey.attack("SELECT * FROM mine").code == "sql_error", sql
        assert prey.query("SELECT count(*) FROM sqlite_temp_schema").rows == [[0]]
    prey.query("CREATE TEMP TRIGGER tr AFTER INSERT ON canary BEGIN DELETE FROM canary; END")
    prey.query("INSERT INTO canary VALUES(99, '', NULL); DELETE FROM canary WHERE id = 99")
    tried(len(making) + 1)


def test_counters_of_one_call_are_not_seen_by_the_next(prey: Prey) -> None:
    """Sessions share a worker: what one did is none of another's business."""
    prey.query("CREATE TABLE secret(id INTEGER PRIMARY KEY); INSERT INTO secret VALUES(4711)")
    assert prey.workspace.query("SELECT last_insert_rowid()", database="other").rows == [[0]]
    for path in prey.folder.glob("other.*"):
        path.unlink()


@pytest.mark.parametrize("rows", [[], [[]], [{}], [[1, 2, 3]]])
def test_rows_without_a_place_to_go(prey: Prey, rows: object) -> None:
    outcome = prey.attack("DELETE FROM canary WHERE id = 99", rows=rows)
    assert outcome.code in INVALID | DONE
    assert prey.attack("DELETE FROM canary; SELECT 1", rows=[[1]]).code in INVALID
