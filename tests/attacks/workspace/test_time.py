"""Statements that would run forever: each ends at its time limit, and the next query is answered."""

from __future__ import annotations

import threading

import pytest

from .conftest import Strike
from .prey import DONE, EXHAUSTED, SQL_ERROR, TIMED_OUT, Case, Prey, attempt

SHORT = {"timeout": 0.1}
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
MANY = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000)"
LONG = "printf('%.*c', 3900000, 'a')"
STOPPED = TIMED_OUT
# Some builds answer a few of these at once, because they see through them.
STOPPED_OR_DONE = TIMED_OUT | DONE
STOPPED_OR_LARGE = EXHAUSTED


def doubling(levels: int, join: str = ", ") -> str:
    """Views of which each reads the one before it twice."""
    views = ["CREATE VIEW v0 AS SELECT 1 AS a"]
    views += [
        f"CREATE VIEW v{n} AS SELECT p.a FROM v{n - 1} AS p{join}v{n - 1} AS q" for n in range(1, levels)
    ]
    return "; ".join(views)


CASES = [
    Case("count without end", f"{ENDLESS} SELECT count(*) FROM n", STOPPED),
    Case("rows without end", f"{ENDLESS} SELECT i FROM n WHERE i < 0", STOPPED),
    Case("skip without end", f"{ENDLESS} SELECT i FROM n", STOPPED, given={"offset": (1 << 53) - 1}),
    Case(
        "offset of SQL without end", f"{ENDLESS} SELECT i FROM n LIMIT 1 OFFSET 9223372036854775806", STOPPED
    ),
    Case(
        "two endless ones",
        f"{ENDLESS}, m(j) AS (SELECT 1 UNION ALL SELECT j FROM m) SELECT count(*) FROM n, m",
        STOPPED,
    ),
    Case(
        "union without end",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT (i * 31 + 7) % 99999989 FROM n) SELECT "
        "count(*) FROM n",
        STOPPED_OR_LARGE,
    ),
    Case(
        "recursion that doubles",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n, (VALUES(1),(2))) SELECT count(*) FROM n",
        STOPPED_OR_LARGE,
    ),
    Case(
        "ordered recursion",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n ORDER BY 1 DESC) SELECT "
        "max(i) FROM n",
        STOPPED,
    ),
    Case("endless in a subquery", f"SELECT 1 WHERE EXISTS ({ENDLESS} SELECT 1 FROM n WHERE i = -1)", STOPPED),
    Case(
        "endless in an INSERT",
        f"CREATE TABLE t(a); {ENDLESS} INSERT INTO t SELECT i FROM n WHERE i < 0",
        STOPPED,
    ),
    Case("endless in an UPDATE", f"UPDATE canary SET song = ({ENDLESS} SELECT count(*) FROM n)", STOPPED),
    Case("endless in a DELETE", f"DELETE FROM canary WHERE id > ({ENDLESS} SELECT count(*) FROM n)", STOPPED),
    Case("endless in a view", f"CREATE VIEW v AS {ENDLESS} SELECT count(*) FROM n; SELECT * FROM v", STOPPED),
    Case(
        "endless in a trigger",
        "CREATE TRIGGER tr AFTER INSERT ON canary BEGIN SELECT count(*) FROM "
        f"({ENDLESS} SELECT i FROM n); END; INSERT INTO canary VALUES(99, '', NULL)",
        STOPPED,
    ),
    Case("endless in RETURNING", f"DELETE FROM canary RETURNING ({ENDLESS} SELECT count(*) FROM n)", STOPPED),
    Case("endless in a LIMIT", f"SELECT 1 LIMIT ({ENDLESS} SELECT count(*) FROM n)", STOPPED),
    Case(
        "endless in an upsert",
        f"INSERT INTO canary VALUES(1, '', NULL) ON CONFLICT DO UPDATE SET egg = ({ENDLESS} SELECT "
        "count(*) FROM n)",
        STOPPED,
    ),
    Case("endless, explained", f"EXPLAIN QUERY PLAN {ENDLESS} SELECT count(*) FROM n", DONE),
    Case(
        "endless after work",
        f"INSERT INTO canary VALUES(99, '', NULL); DELETE FROM canary; {ENDLESS} SELECT count(*) FROM n",
        STOPPED,
    ),
    Case(
        "fifty tables crossed",
        lambda: (
            f"SELECT count(*) FROM {', '.join(f'canary c{n}' for n in range(50))} WHERE "
            f"{' + '.join(f'c{n}.id' for n in range(50))} = -1"
        ),
        STOPPED,
    ),
    Case(
        "sixty tables joined",
        lambda: (
            "SELECT count(*) FROM " + "canary" + "".join(f" JOIN canary c{n} USING(egg)" for n in range(60))
        ),
        STOPPED_OR_DONE,
    ),
    Case(
        "a hundred tables",
        lambda: f"SELECT count(*) FROM {', '.join(f'canary c{n}' for n in range(100))}",
        SQL_ERROR,
    ),
    Case("values crossed", f"{MANY} SELECT count(*) FROM n a, n b, n c WHERE a.i + b.i + c.i = 0", STOPPED),
    Case(
        "cross join in a sort",
        f"{MANY} SELECT a.i FROM n a, n b, n c ORDER BY a.i * b.i % 7 LIMIT 1",
        STOPPED_OR_LARGE,
    ),
    Case(
        "cross join in an update",
        "UPDATE canary SET song = '' FROM canary a, canary b, canary c, canary d, canary e, canary f, "
        "canary g",
        STOPPED_OR_LARGE,
    ),
    Case(
        "correlated subqueries",
        "SELECT "
        + " + ".join(
            f"(SELECT count(*) FROM canary a{n}, canary b{n}, canary c{n}, canary d{n}, canary e{n} "
            f"WHERE a{n}.id + b{n}.id + c{n}.id + d{n}.id + e{n}.id = z.id)"
            for n in range(5)
        )
        + " FROM canary z",
        STOPPED,
    ),
    Case(
        "window over everything",
        f"{MANY} SELECT count(*) FROM (SELECT sum(a.i) OVER (ORDER BY b.i ROWS BETWEEN UNBOUNDED "
        "PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) FROM n a, n b)",
        STOPPED_OR_LARGE,
    ),
    Case("LIKE of many per cents", f"SELECT {LONG} LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%b'", STOPPED_OR_DONE),
    Case("LIKE of a long pattern", f"SELECT {LONG} LIKE printf('%.*c', 100000, '%') || 'b'", SQL_ERROR),
    Case("LIKE of underscores", f"SELECT {LONG} LIKE '%{'_' * 190}%b'", STOPPED_OR_DONE),
    Case("GLOB of many stars", f"SELECT {LONG} GLOB '*a*a*a*a*a*a*a*a*a*a*a*a*a*b'", STOPPED_OR_DONE),
    Case("GLOB of classes", f"SELECT {LONG} GLOB '{'*[a-z]' * 30}[^a]'", STOPPED_OR_DONE),
    Case(
        "LIKE of every kind, again and again",
        f"{ENDLESS} SELECT sum({LONG} LIKE '%a_a%a_a%a_a%_b' || i) FROM n",
        STOPPED,
    ),
    Case("instr, n times m", f"SELECT instr({LONG}, printf('%.*c', 1900000, 'a') || 'b')", STOPPED),
    Case("instr of blobs", "SELECT instr(zeroblob(3900000), zeroblob(1900000) || x'01')", STOPPED_OR_DONE),
    Case(
        "replace, n times m",
        f"SELECT length(replace({LONG}, printf('%.*c', 1900000, 'a') || 'b', ''))",
        STOPPED_OR_DONE,
    ),
    Case("trim, n times m", f"SELECT length(trim({LONG}, printf('%.*c', 300000, 'b') || 'a'))", STOPPED),
    Case(
        "trim of long characters",
        f"SELECT length(ltrim({LONG}, replace(printf('%.*c', 300000, 'x'), 'x', 'é') || 'a'))",
        STOPPED,
    ),
    Case(
        "instr again and again",
        f"{MANY} SELECT sum(instr(printf('%.*c', 100000 + i, 'a'), printf('%.*c', 50000, 'a') || 'b')) "
        "FROM n",
        STOPPED,
    ),
    Case("random blobs again and again", f"{ENDLESS} SELECT max(randomblob(3900000)) FROM n", STOPPED),
    Case("printf again and again", f"{ENDLESS} SELECT max(printf('%.*c', 3900000, i)) FROM n", STOPPED),
    Case("printf of a wide number", f"{ENDLESS} SELECT sum(length(printf('%3900000d', i))) FROM n", STOPPED),
    Case(
        "hex again and again", f"{ENDLESS} SELECT sum(length(hex(zeroblob(1900000 + i % 2)))) FROM n", STOPPED
    ),
    Case(
        "JSON again and again",
        f"{ENDLESS} SELECT sum(json_array_length('[' || replace(printf('%.*c', 100000, '1'), '1', "
        "'1,') || i || ']')) FROM n",
        STOPPED,
    ),
    Case(
        "json_each of json_each",
        "SELECT count(*) FROM json_each('[' || replace(printf('%.*c', 3000, '1'), '1', '1,') || '1]') "
        "a, json_each('[' || replace(printf('%.*c', 3000, '1'), '1', '1,') || a.value || ']') b, "
        "json_each('[1,2,3,4,5,6,7,8,9,' || b.value || ']') c",
        STOPPED,
    ),
    Case(
        "json_tree crossed",
        "WITH d(j) AS (SELECT '[' || replace(printf('%.*c', 30000, '1'), '1', '[1],') || '1]') SELECT "
        "count(*) FROM d, json_tree(j) a, json_tree(j) b",
        STOPPED_OR_LARGE,
    ),
    Case(
        "quote and unistr",
        f"{ENDLESS} SELECT sum(length(quote(printf('%.*c', 1900000, '''') || i))) FROM n",
        STOPPED,
    ),
    Case("dates without end", f"{ENDLESS} SELECT count(date('now', '+' || i || ' days')) FROM n", STOPPED),
    Case(
        "sixteen doublings of a view",
        "SELECT count(*) FROM v15",
        STOPPED | SQL_ERROR | EXHAUSTED,
        before=doubling(16),
    ),
    Case(
        "doublings by subquery",
        lambda: "SELECT * FROM v39",
        STOPPED | SQL_ERROR | EXHAUSTED | DONE,
        before="; ".join(
            ["CREATE VIEW v0 AS SELECT 1 AS a"]
            + [
                f"CREATE VIEW v{n} AS SELECT (SELECT a FROM v{n - 1}) + (SELECT a FROM v{n - 1}) AS a"
                for n in range(1, 40)
            ]
        ),
    ),
    Case(
        "doublings by union",
        lambda: "SELECT count(*) FROM v39",
        STOPPED | SQL_ERROR | EXHAUSTED | DONE,
        before="; ".join(
            ["CREATE VIEW v0 AS SELECT 1 AS a"]
            + [
                f"CREATE VIEW v{n} AS SELECT a FROM v{n - 1} UNION ALL SELECT a FROM v{n - 1}"
                for n in range(1, 40)
            ]
        ),
    ),
    Case(
        "doublings by CTE",
        lambda: (
            "WITH "
            + ", ".join(
                ["c0(a) AS (SELECT 1)"]
                + [f"c{n}(a) AS (SELECT p.a FROM c{n - 1} p, c{n - 1} q)" for n in range(1, 40)]
            )
            + " SELECT count(*) FROM c39"
        ),
        STOPPED | SQL_ERROR | EXHAUSTED | DONE,
    ),
    Case(
        "generated columns that double",
        "CREATE TABLE g(c0, "
        + ", ".join(f"c{n} AS (c{n - 1} + c{n - 1})" for n in range(1, 40))
        + "); INSERT INTO g VALUES(1)",
        STOPPED | EXHAUSTED,
    ),
    Case(
        "an index over such a column",
        "CREATE INDEX i ON g(c12); INSERT INTO g VALUES(2); SELECT c12 FROM g WHERE c12 > c11",
        STOPPED | EXHAUSTED | DONE,
        before="CREATE TABLE g(c0, "
        + ", ".join(f"c{n} AS (c{n - 1} + c{n - 1})" for n in range(1, 13))
        + "); INSERT INTO g VALUES(1)",
    ),
    Case(
        "a constraint that is slow",
        "CREATE TABLE t(a CHECK(instr(printf('%.*c', a, 'a'), printf('%.*c', a / 2, 'a') || 'b') = "
        "0)); INSERT INTO t VALUES(3900000)",
        STOPPED,
    ),
    Case(
        "a default that is slow",
        f"CREATE TABLE t(a, b DEFAULT(instr({LONG}, printf('%.*c', 1900000, 'a') || 'b'))); INSERT "
        "INTO t(a) VALUES(1)",
        STOPPED,
    ),
    Case(
        "an index that is slow",
        "CREATE TABLE t(a); INSERT INTO t VALUES(3900000); "
        "CREATE INDEX i ON t(instr(printf('%.*c', a, 'a'), printf('%.*c', a / 2, 'a') || 'b'))",
        STOPPED,
    ),
    Case(
        "a partial index that is slow",
        "CREATE TABLE t(a); CREATE INDEX i ON t(a) WHERE instr(printf('%.*c', a, 'a'), printf('%.*c', "
        "a / 2, 'a') || 'b') = 0; "
        "INSERT INTO t VALUES(3900000)",
        STOPPED,
    ),
    Case(
        "two triggers that call each other",
        "CREATE TABLE a(x); CREATE TABLE b(x); "
        "CREATE TRIGGER ta AFTER INSERT ON a BEGIN INSERT INTO b VALUES(new.x), (new.x); END; "
        "CREATE TRIGGER tb AFTER INSERT ON b BEGIN INSERT INTO a VALUES(new.x), (new.x); END; INSERT "
        "INTO a VALUES(1)",
        STOPPED | SQL_ERROR | DONE,
    ),
    Case(
        "triggers that fan out",
        "; ".join(f"CREATE TABLE t{n}(x)" for n in range(15))
        + "; "
        + "; ".join(
            f"CREATE TRIGGER r{n} AFTER INSERT ON t{n} BEGIN INSERT INTO t{n + 1} "
            "VALUES(1),(2),(3),(4),(5),(6),(7),(8); END"
            for n in range(14)
        )
        + "; INSERT INTO t0 VALUES(1)",
        STOPPED_OR_LARGE,
    ),
    Case(
        "foreign keys that are slow",
        f"CREATE TABLE p(a PRIMARY KEY); CREATE TABLE c(a REFERENCES p); {MANY} INSERT INTO p SELECT i "
        f"FROM n; {MANY} INSERT INTO c SELECT i FROM n; DELETE FROM c; {MANY} INSERT INTO c SELECT 1 + "
        "a.i % 3000 FROM n a, n b",
        STOPPED_OR_LARGE,
    ),
    Case(
        "integrity_check again and again", lambda: "; ".join(["PRAGMA integrity_check"] * 990), STOPPED | DONE
    ),
    Case(
        "rows that a call gets one by one",
        f"{ENDLESS} INSERT INTO canary SELECT i + 100, '', NULL FROM n RETURNING id",
        STOPPED_OR_LARGE,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_call_ends_at_its_time_limit(strike: Strike, case: Case) -> None:
    given = SHORT | case.given
    strike(Case(case.name, case.sql, case.codes, before=case.before, given=given))


@pytest.mark.parametrize("times", [3])
def test_one_attack_after_another_meets_a_worker_each_time(prey: Prey, times: int) -> None:
    for _ in range(times):
        outcome = prey.attack(f"SELECT instr({LONG}, printf('%.*c', 1900000, 'a') || 'b')", timeout=0.1)
        assert outcome.code == "timed_out"
        assert prey.query("SELECT count(*) FROM canary").rows == [[20]]


def test_a_call_that_hangs_does_not_keep_others_for_longer_than_its_time(prey: Prey) -> None:
    """Calls take turns: one that waits gets its turn when the one at work was stopped."""
    hanging = threading.Thread(
        target=lambda: attempt(lambda: prey.query(f"{ENDLESS} SELECT count(*) FROM n", timeout=0.5))
    )
    hanging.start()
    assert prey.query("SELECT 1", timeout=20).rows == [[1]]
    hanging.join()


@pytest.mark.parametrize("timeout", [0, -1, 1e9, float("nan"), float("inf"), "1", True, [1]])
def test_a_time_limit_that_is_none_is_refused(prey: Prey, timeout: object) -> None:
    outcome = prey.attack("SELECT 1", timeout=timeout)
    assert outcome.code == "invalid_input"


def test_a_very_short_time_is_kept_and_does_no_harm(prey: Prey) -> None:
    for timeout in (1e-320, 1e-9, 1e-6, 1e-4):
        outcome = prey.attack(
            "INSERT INTO canary VALUES(99, '', NULL); DELETE FROM canary WHERE id = 99", timeout=timeout
        )
        assert outcome.code in {None, "timed_out", "busy"}
