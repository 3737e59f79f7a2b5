"""Too much of everything: tables, columns, depth, text of SQL, and all that the disk holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from mnemos.workspace import limits
from mnemos.workspace.limits import Quota

from .conftest import Strike
from .prey import BOUNCED, DONE, EXHAUSTED, INVALID, SQL_ERROR, TOO_LARGE, Case, Prey

TIME = {"timeout": 1.5}
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


def views(depth: int, begin: int = 0) -> str:
    return "; ".join(
        f"CREATE VIEW v{n} AS SELECT * FROM {'canary' if n == 0 else f'v{n - 1}'}"
        for n in range(begin, begin + depth)
    )


SHAPES = [
    Case("2,001 columns", lambda: f"CREATE TABLE t({', '.join(f'c{n}' for n in range(2_001))})", SQL_ERROR),
    Case("2,001 columns of a result", lambda: f"SELECT {', '.join(['1'] * 2_001)}", SQL_ERROR),
    Case(
        "2,000 columns",
        lambda: (
            f"CREATE TABLE t({', '.join(f'c{n}' for n in range(2_000))}); INSERT INTO t DEFAULT "
            "VALUES; SELECT * FROM t"
        ),
        DONE,
    ),
    Case(
        "a column too many, added",
        "ALTER TABLE t ADD COLUMN x",
        SQL_ERROR,
        before=f"CREATE TABLE t({', '.join(f'c{n}' for n in range(2_000))})",
    ),
    Case("a deep expression", lambda: f"SELECT {'(' * 5_000}1{')' * 5_000}", BOUNCED | TOO_LARGE),
    Case("a deep sum", lambda: f"SELECT {'1 + ' * 5_000}1", BOUNCED),
    Case("a deep negation", lambda: f"SELECT {'NOT ' * 100_000}1", BOUNCED | TOO_LARGE),
    Case("deep minus", lambda: f"SELECT {'- ' * 100_000}1", BOUNCED | TOO_LARGE),
    Case(
        "a deep CASE", lambda: f"SELECT {'CASE WHEN 1 THEN ' * 3_000}1{' END' * 3_000}", BOUNCED | TOO_LARGE
    ),
    Case("deep functions", lambda: f"SELECT {'abs(' * 3_000}1{')' * 3_000}", BOUNCED | TOO_LARGE),
    Case("deep subqueries", lambda: f"SELECT {'(SELECT ' * 2_000}1{')' * 2_000}", BOUNCED | TOO_LARGE),
    Case(
        "deep subqueries in FROM",
        lambda: f"SELECT * FROM {'(SELECT * FROM ' * 2_000}canary{')' * 2_000}",
        BOUNCED | TOO_LARGE,
    ),
    Case(
        "deep EXISTS",
        lambda: f"SELECT {'EXISTS (SELECT 1 WHERE ' * 500}1{')' * 500}",
        BOUNCED | EXHAUSTED | DONE,
    ),
    Case("deep joins", lambda: f"SELECT * FROM {'(' * 3_000}canary{')' * 3_000}", BOUNCED | TOO_LARGE | DONE),
    Case(
        "deep WITH",
        lambda: f"{'WITH a AS (' * 1_000}SELECT 1{') SELECT * FROM a' * 1_000}",
        BOUNCED | EXHAUSTED,
    ),
    Case(
        "a long IN", lambda: f"SELECT 1 IN ({','.join(map(str, range(500_000)))})", BOUNCED | EXHAUSTED | DONE
    ),
    Case("a long AND", lambda: f"SELECT 1 WHERE {' AND '.join(['1'] * 100_000)}", BOUNCED | TOO_LARGE),
    Case(
        "a long OR over an index",
        lambda: f"SELECT * FROM canary WHERE {' OR '.join(f'id = {n}' for n in range(490))}",
        DONE | BOUNCED,
    ),
    Case("100,000 UNION ALL", lambda: " UNION ALL ".join(["SELECT 1"] * 100_000), BOUNCED | TOO_LARGE),
    Case("501 SELECTs", lambda: " UNION ".join(["SELECT 1"] * 501), SQL_ERROR),
    Case(
        "100,000 rows of VALUES",
        lambda: f"VALUES {','.join(['(1)'] * 100_000)}",
        DONE | EXHAUSTED | SQL_ERROR,
    ),
    Case("many arguments", lambda: f"SELECT max({', '.join(['1'] * 1_000)})", SQL_ERROR),
    Case(
        "32,767 parameters",
        lambda: f"SELECT 1 IN ({', '.join(['?'] * 32_767)})",
        SQL_ERROR | INVALID,
        given={"params": [1] * 32_767},
    ),
    Case("parameter 32,767", "SELECT ?32767", SQL_ERROR | INVALID, given={"params": [1] * 32_767}),
    Case("parameter 0", "SELECT ?0", SQL_ERROR | INVALID, given={"params": [1]}),
    Case(
        "a parameter of a long number", f"SELECT ?{'9' * 10_000}", SQL_ERROR | INVALID, given={"params": [1]}
    ),
    Case("a million parameters given", "SELECT ?", INVALID, given={"params": [1] * 1_000_000}),
    Case(
        "a long name of a parameter",
        lambda: f"SELECT :{'p' * 100_000}",
        SQL_ERROR | INVALID | DONE,
        given={"params": {"p": 1}},
    ),
    Case("SQL of more than 4 MB", lambda: f"SELECT '{'x' * 4_000_001}'", TOO_LARGE),
    Case("a comment of 5 MB", lambda: f"/*{'x' * 5_000_000}*/ SELECT 1", TOO_LARGE | DONE),
    Case("a comment of 5 MB that never ends", lambda: f"SELECT 1 /*{'x' * 5_000_000}", TOO_LARGE | DONE),
    Case("5 MB of spaces", lambda: "SELECT" + " " * 5_000_000 + "1", TOO_LARGE | DONE),
    Case("5 MB of semicolons", lambda: ";" * 5_000_000, INVALID | TOO_LARGE),
    Case(
        "5 MB of semicolons around", lambda: ";" * 2_500_000 + "SELECT 1" + ";" * 2_500_000, DONE | TOO_LARGE
    ),
    Case("5 MB of quotes", lambda: "SELECT " + "'" * 5_000_000, BOUNCED | TOO_LARGE),
    Case("5 MB of brackets", lambda: "(" * 5_000_000, BOUNCED | TOO_LARGE),
    Case("5 MB of one word", lambda: "x" * 5_000_000, BOUNCED | TOO_LARGE),
    Case("70 MB of SQL", lambda: f"SELECT '{'x' * 70_000_000}'", TOO_LARGE),
    Case(
        "two megabytes of a name",
        lambda: f'CREATE TABLE "{"x" * 2_000_000}"(a); DROP TABLE "{"x" * 2_000_000}"',
        DONE | TOO_LARGE,
    ),
    Case("1,001 statements", lambda: "SELECT 1;" * 1_001, TOO_LARGE),
    Case("200,000 statements", lambda: "SELECT 1;" * 200_000, TOO_LARGE),
    Case(
        "a number of a million digits",
        lambda: f"SELECT {'9' * 1_000_000}, {'1' * 400}.{'1' * 400}e{'9' * 400}",
        DONE | SQL_ERROR,
    ),
    Case("a hexadecimal number too long", "SELECT 0xfffffffffffffffff", SQL_ERROR),
    Case(
        "a trigger of many statements",
        lambda: f"CREATE TRIGGER tr AFTER INSERT ON canary BEGIN {'SELECT 1; ' * 20_000} END",
        DONE | BOUNCED | EXHAUSTED,
    ),
    Case(
        "a trigger that never ends",
        lambda: f"CREATE TRIGGER tr AFTER INSERT ON canary BEGIN {'SELECT 1; ' * 20_000}",
        BOUNCED | EXHAUSTED,
    ),
    Case("a hundred views deep", "SELECT count(*) FROM v99", DONE | BOUNCED, before=views(100)),
    Case("990 views deep", "SELECT count(*) FROM v979", DONE | BOUNCED | EXHAUSTED, before=views(980)),
    Case(
        "a view that reads itself",
        "CREATE VIEW a AS SELECT * FROM b; CREATE VIEW b AS SELECT * FROM a; SELECT * FROM a",
        SQL_ERROR,
    ),
    Case(
        "many indexes",
        lambda: (
            "; ".join(f"CREATE INDEX i{n} ON canary(song, id)" for n in range(900))
            + "; INSERT INTO canary VALUES(99, '', NULL); DELETE FROM canary WHERE id = 99"
        ),
        DONE | EXHAUSTED | SQL_ERROR,
    ),
    Case(
        "many constraints",
        lambda: (
            f"CREATE TABLE t(a, {', '.join(f'CHECK(a <> {n})' for n in range(20_000))}); INSERT INTO t "
            "VALUES(-1)"
        ),
        DONE | EXHAUSTED | BOUNCED,
    ),
    Case(
        "many foreign keys",
        lambda: (
            f"CREATE TABLE t(a, {', '.join(['FOREIGN KEY(a) REFERENCES canary(id)'] * 20_000)}); "
            "INSERT INTO t VALUES(1)"
        ),
        DONE | EXHAUSTED | BOUNCED,
    ),
    Case(
        "a long default",
        lambda: f"CREATE TABLE t(a DEFAULT '{'x' * 3_900_000}', b); INSERT INTO t(b) VALUES(1)",
        DONE | TOO_LARGE,
    ),
]


@pytest.mark.parametrize("case", SHAPES, ids=lambda case: case.name)
def test_what_is_too_long_too_wide_or_too_deep_is_refused(strike: Strike, case: Case) -> None:
    strike(Case(case.name, case.sql, case.codes, before=case.before, given=TIME | case.given))


def test_ten_thousand_tables_are_not_made(prey: Prey, tried: Callable[[int], None]) -> None:
    codes = []
    for call in range(5):
        sql = "; ".join(f"CREATE TABLE t{call}_{number}(a, b)" for number in range(900))
        codes.append(prey.attack(sql).code)
    for kind in (
        "VIEW v{} AS SELECT 1",
        "INDEX i{} ON canary(song)",
        "TRIGGER r{} AFTER INSERT ON canary BEGIN SELECT 1; END",
    ):
        codes.append(prey.attack("; ".join(f"CREATE {kind.format(n)}" for n in range(999))).code)
    assert set(codes[1:]) == {"too_large"}
    there = prey.query("SELECT count(*) FROM sqlite_schema").rows[0][0]
    assert there <= limits.TABLES.value
    tried(len(codes))


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Prey]:
    """A workspace with little room."""
    prey = Prey(tmp_path / "small", quota=Quota(database_bytes=1_000_000))
    monkeypatch.chdir(prey.cwd)
    monkeypatch.setenv("TMPDIR", str(prey.temporary))
    prey.next_database()
    yield prey
    prey.assert_unharmed()
    prey.close()


FILL = [
    Case(
        "one insert", f"CREATE TABLE t(a); {ENDLESS} INSERT INTO t SELECT zeroblob(10000) FROM n", EXHAUSTED
    ),
    Case("a table of a query", f"CREATE TABLE t AS {ENDLESS} SELECT randomblob(10000) FROM n", EXHAUSTED),
    Case(
        "an index",
        f"{ENDLESS} INSERT INTO t SELECT hex(randomblob(50)) FROM n LIMIT 8000; CREATE INDEX i ON t(a, "
        "a, a, a)",
        TOO_LARGE,
        before="CREATE TABLE t(a)",
    ),
    Case(
        "an update",
        f"{ENDLESS} INSERT INTO t SELECT 1 FROM n LIMIT 1000; UPDATE t SET a = zeroblob(10000)",
        TOO_LARGE,
        before="CREATE TABLE t(a)",
    ),
    Case(
        "a trigger",
        "CREATE TABLE t(a); CREATE TRIGGER tr AFTER INSERT ON canary BEGIN INSERT INTO t "
        "VALUES(zeroblob(900000)), (zeroblob(900000)); END; INSERT INTO canary VALUES(99, '', NULL)",
        TOO_LARGE,
    ),
    Case(
        "full text",
        f"CREATE VIRTUAL TABLE t USING fts5(a); {ENDLESS} INSERT INTO t SELECT hex(randomblob(5000)) FROM n",
        EXHAUSTED,
    ),
    Case(
        "rewriting the same rows",
        f"CREATE TABLE t(a); INSERT INTO t VALUES(zeroblob(400000)); {ENDLESS} INSERT INTO t SELECT a "
        "FROM t, n LIMIT 1; " + "UPDATE t SET a = randomblob(400000); " * 200,
        DONE | EXHAUSTED,
    ),
    Case(
        "adding a column with a default",
        f"CREATE TABLE t(a); {ENDLESS} INSERT INTO t SELECT 1 FROM n LIMIT 1000; ALTER TABLE t ADD "
        "COLUMN b DEFAULT (1); UPDATE t SET b = zeroblob(2000)",
        TOO_LARGE | SQL_ERROR,
    ),
    Case(
        "the schema itself",
        lambda: "; ".join(f"CREATE VIEW v{n} AS SELECT '{'x' * 3_000}'" for n in range(900)),
        TOO_LARGE,
    ),
    Case("one value", "CREATE TABLE t(a); INSERT INTO t VALUES(zeroblob(1500000))", TOO_LARGE),
]


@pytest.mark.parametrize("case", FILL, ids=lambda case: case.name)
def test_a_database_that_is_full_keeps_what_it_had(small: Prey, case: Case) -> None:
    if case.before:
        small.query(case.before)
    outcome = small.attack(case.text(), timeout=5)
    assert outcome.code in case.codes, outcome.message
    assert small.path.stat().st_size <= 1_000_000
    assert _on_disk(small) < 20_000_000
    small.query("CREATE TABLE after(a); INSERT INTO after VALUES(1)")


def test_many_small_calls_fill_a_database_to_its_limit_and_no_further(
    small: Prey, tried: Callable[[int], None]
) -> None:
    small.query("CREATE TABLE t(a, b)")
    kept = 0
    while True:
        outcome = small.attack("INSERT INTO t VALUES(?, zeroblob(20000))", [kept])
        if outcome.code is not None:
            break
        kept += 1
        assert kept < 100
    assert outcome.code == "too_large"
    for _ in range(5):
        assert small.attack("INSERT INTO t VALUES(-1, zeroblob(20000))").code == "too_large"
    assert small.query("SELECT count(*), min(a), max(a) FROM t").rows == [[kept, 0, kept - 1]]
    small.query("DELETE FROM t WHERE a > 0")
    small.query("INSERT INTO t VALUES(1, zeroblob(20000))")
    tried(kept + 6)


def test_what_fills_a_database_can_be_deleted_when_it_is_full(small: Prey) -> None:
    small.query("CREATE TABLE t(a)")
    while small.attack("INSERT INTO t VALUES(zeroblob(4000))").code is None:
        pass
    assert small.query("DELETE FROM t").changes > 100
    small.query("DROP TABLE t")
    before, after = small.workspace.compact(small.database)
    assert after < before


def test_the_log_is_bounded_while_somebody_reads(small: Prey) -> None:
    """Somebody who reads for long keeps SQLite from emptying its log, which grows with every call."""
    with closing(apsw.Connection(str(small.path))) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM canary").fetchall()
        codes = set()
        small.query("CREATE TABLE t(a)")
        for number in range(60):
            codes.add(small.attack("DELETE FROM t; INSERT INTO t VALUES(zeroblob(800000))").code)
            assert _on_disk(small) < 30_000_000, number
        reader.execute("ROLLBACK")
    assert codes <= {None, "too_large", "storage_error", "disk_full", "busy"}
    small.query("DELETE FROM t")


def test_calls_killed_while_a_snapshot_is_made_do_not_fill_the_disk(
    prey: Prey, tried: Callable[[int], None]
) -> None:
    """A snapshot is as large as the database: what is left of one that was not finished must go."""
    prey.query("CREATE TABLE t(a); CREATE TABLE extra(a)")
    prey.query("INSERT INTO t VALUES(?)", rows=[[bytes(1_000_000)]] * 30)
    once = sum(path.stat().st_size for path in prey.folder.rglob("*") if path.is_file())
    for _ in range(6):
        assert prey.attack("DROP TABLE extra", timeout=0.001).code in {None, "timed_out"}
        prey.attack("CREATE TABLE extra(a)")
    left = [path for path in (prey.folder / "snapshots" / prey.database).iterdir() if path.suffix != ".db"]
    assert len(left) <= 2, left
    assert sum(path.stat().st_size for path in prey.folder.rglob("*") if path.is_file()) < 8 * once
    tried(6)


def test_the_limit_holds_for_a_database_that_came_larger(small: Prey) -> None:
    with closing(apsw.Connection(str(small.path))) as raw:
        raw.execute("CREATE TABLE big(a)")
        raw.executemany("INSERT INTO big VALUES(zeroblob(10000))", [()] * 300)
    assert small.query("SELECT count(*) FROM big").rows == [[300]]
    assert small.attack("INSERT INTO big SELECT zeroblob(10000) FROM big").code == "too_large"
    small.query("DELETE FROM big")
    small.query("INSERT INTO big VALUES(1)")


def _on_disk(prey: Prey) -> int:
    """Of the database, its journal, and what else lies beside it; snapshots have a limit of their own."""
    return sum(path.stat().st_size for path in prey.folder.glob(f"{prey.database}.*"))
