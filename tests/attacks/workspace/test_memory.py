"""Statements that would eat all memory, of the worker or of the host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mnemos.workspace import limits

from .conftest import Strike
from .prey import DONE, EXHAUSTED, SQL_ERROR, TOO_LARGE, Case, Prey, peak_bytes, status

TIME = {"timeout": 5}
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
TEN = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10)"
MEGABYTE = "printf('%.*c', 1000000, 'a')"
LONG = "printf('%.*c', 3900000, 'a')"


def nested(depth: int, opening: str = "[", closing: str = "]") -> str:
    return opening * depth + "1" + closing * depth


# More than one value may hold.
VALUES = [
    Case("printf of stars", "SELECT length(printf('%.*c', 2000000000, 'x'))", TOO_LARGE),
    Case("printf of a width", "SELECT length(printf('%2000000000d', 1))", TOO_LARGE | DONE),
    Case("printf of a precision", "SELECT length(printf('%.2000000000f', 1.0))", TOO_LARGE | DONE),
    Case("printf of many", lambda: "SELECT length(printf('" + "%3000000d" * 100 + "'))", TOO_LARGE),
    Case("format", "SELECT length(format('%.*c', 2147483647, 'x'))", TOO_LARGE),
    Case("zeroblob", "SELECT zeroblob(2000000000)", TOO_LARGE),
    Case("zeroblob of a parameter", "SELECT zeroblob(?)", TOO_LARGE, given={"params": [1 << 62]}),
    Case("zeroblob just beyond", "SELECT zeroblob(4000001)", TOO_LARGE),
    Case("zeroblob, negative", "SELECT length(zeroblob(-9223372036854775808))", DONE),
    Case("randomblob", "SELECT randomblob(2000000000)", TOO_LARGE),
    Case("randomblob of the largest number", "SELECT randomblob(9223372036854775807)", TOO_LARGE),
    Case("hex", "SELECT hex(zeroblob(3900000))", TOO_LARGE),
    Case("quote", "SELECT quote(zeroblob(3900000))", TOO_LARGE),
    Case("quote of quotes", "SELECT quote(printf('%.*c', 3900000, ''''))", TOO_LARGE),
    Case(
        "replace",
        "SELECT replace(printf('%.*c', 2000000, 'a'), 'a', printf('%.*c', 2000000, 'b'))",
        TOO_LARGE,
    ),
    Case(
        "replace of replace",
        "SELECT replace(replace(replace(printf('%.*c', 2000, 'a'), 'a', 'aaaaaaaaaa'), 'a', "
        "'aaaaaaaaaa'), 'a', 'aaaaaaaaaa') || zeroblob(3900000)",
        TOO_LARGE,
    ),
    Case("concatenation", lambda: "SELECT " + " || ".join([MEGABYTE] * 10), TOO_LARGE),
    Case("concat", lambda: f"SELECT concat({', '.join([MEGABYTE] * 10)})", TOO_LARGE),
    Case("concat_ws", lambda: f"SELECT concat_ws({', '.join([MEGABYTE] * 10)})", TOO_LARGE),
    Case("group_concat", f"{TEN} SELECT group_concat({MEGABYTE}) FROM n", TOO_LARGE),
    Case("group_concat of a long separator", f"{TEN} SELECT group_concat(i, {MEGABYTE}) FROM n", TOO_LARGE),
    Case("string_agg", f"{TEN} SELECT string_agg({MEGABYTE}, ',') FROM n", TOO_LARGE),
    Case("json_group_array", f"{TEN} SELECT json_group_array({MEGABYTE}) FROM n", TOO_LARGE),
    Case("json_group_object", f"{TEN} SELECT json_group_object(i, {MEGABYTE}) FROM n", TOO_LARGE),
    Case("jsonb_group_array", f"{TEN} SELECT jsonb_group_array({MEGABYTE}) FROM n", TOO_LARGE),
    Case("json_array", lambda: f"SELECT json_array({', '.join([MEGABYTE] * 10)})", TOO_LARGE),
    Case(
        "json_object",
        lambda: "SELECT json_object(" + ", ".join(f"{n}||'', {MEGABYTE}" for n in range(10)) + ")",
        TOO_LARGE,
    ),
    Case(
        "json_quote of control characters",
        "SELECT json_quote(printf('%.*c', 3900000, char(1)))",
        TOO_LARGE | DONE,
    ),
    Case("json_set far away", "SELECT json_set('[]', '$[9999999]', 1)", DONE),
    Case(
        "json_pretty",
        "SELECT json_pretty('[' || replace(printf('%.*c', 900000, '1'), '1', '1,') || '1]', "
        "printf('%.*c', 1000000, ' '))",
        TOO_LARGE,
    ),
    Case(
        "json_pretty of depth",
        lambda: f"SELECT json_pretty('{nested(900)}', printf('%.*c', 100000, ' '))",
        TOO_LARGE,
    ),
    Case(
        "json_patch",
        "SELECT length(json_patch('{\"a\":\"' || printf('%.*c', 3000000, 'x') || '\"}', '{\"b\":\"' "
        "|| printf('%.*c', 3000000, 'x') || '\"}'))",
        TOO_LARGE,
    ),
    Case("unhex", "SELECT unhex(printf('%.*c', 5000000, 'a'))", TOO_LARGE),
    Case("unistr", "SELECT unistr(replace(printf('%.*c', 600000, 'a'), 'a', '\\u0041\\u0041'))", TOO_LARGE),
    Case(
        "strftime",
        lambda: f"SELECT length(strftime('{'%Y-%m-%d %H:%M:%f ' * 150_000}', 'now'))",
        TOO_LARGE | DONE,
    ),
    Case("char", lambda: f"SELECT char({', '.join(['1114111'] * 1000)})", SQL_ERROR),
    Case(
        "a row that is longer than a value may be",
        f"CREATE TABLE t(a, b); INSERT INTO t VALUES({LONG}, {LONG})",
        TOO_LARGE,
    ),
    Case(
        "an index entry that is too long",
        f"CREATE TABLE t(a, b); CREATE INDEX i ON t(a, b, a || b); INSERT INTO t VALUES({LONG}, {LONG})",
        TOO_LARGE,
    ),
    Case(
        "generated columns that double",
        "CREATE TABLE t(a, b AS (a || a), c AS (b || b), d AS (c || c), e AS (d || d)); INSERT INTO t "
        "VALUES(printf('%.*c', 1000000, 'a')); SELECT * FROM t",
        TOO_LARGE,
    ),
    Case(
        "a generated column that is a bomb",
        "CREATE TABLE t(a, b AS (zeroblob(a)) STORED); INSERT INTO t VALUES(2000000000)",
        TOO_LARGE,
    ),
    Case(
        "a default that is a bomb",
        "CREATE TABLE t(a, b DEFAULT(zeroblob(2000000000))); INSERT INTO t(a) VALUES(1)",
        TOO_LARGE,
    ),
    Case(
        "a constraint that is a bomb",
        "CREATE TABLE t(a CHECK(length(zeroblob(2000000000)) > 0)); INSERT INTO t VALUES(1)",
        TOO_LARGE | DONE,
    ),
    Case(
        "an index that is a bomb",
        "CREATE TABLE t(a); CREATE INDEX i ON t(zeroblob(a)); INSERT INTO t VALUES(2000000000)",
        TOO_LARGE,
    ),
    Case("deep JSON", lambda: f"SELECT json('{nested(5_000)}')", SQL_ERROR),
    Case("deep JSON objects", lambda: "SELECT json('" + nested(5_000, '{"a":', "}") + "')", SQL_ERROR),
    Case("deep JSON that is not closed", lambda: f"SELECT json('{'[' * 1_900_000}')", SQL_ERROR),
    Case(
        "deep JSON, made",
        "WITH RECURSIVE n(i, j) AS (SELECT 1, '1' UNION ALL SELECT i + 1, '[' || j || ']' FROM n "
        "LIMIT 3000) SELECT json_valid(j) FROM n WHERE i = 3000",
        DONE,
    ),
    Case(
        "deep JSON, patched",
        "WITH RECURSIVE n(i, j) AS (SELECT 1, '{}' UNION ALL SELECT i + 1, json_object('a', json(j)) "
        "FROM n LIMIT 3000) SELECT length(j) FROM n WHERE i = 3000",
        SQL_ERROR | DONE,
    ),
    Case(
        "deep JSON path",
        lambda: f"SELECT json_extract('{nested(900)}', '${'[0]' * 5_000}')",
        SQL_ERROR | DONE,
    ),
    Case("deep JSON set", lambda: f"SELECT json_set('{{}}', '${'.a' * 5_000}', 1)", SQL_ERROR | DONE),
    Case(
        "jsonb that is none",
        "SELECT json(x'ffffffffffffffffffff'), json_each.* FROM json_each(x'cb')",
        SQL_ERROR | DONE,
    ),
    Case(
        "jsonb that lies about its size", "SELECT json_extract(x'fc7fffffff5b5b5b', '$[0]')", SQL_ERROR | DONE
    ),
]

# More than there is memory.
HEAPS = [
    Case("a sort", f"{ENDLESS} SELECT i, randomblob(1000) AS r FROM n ORDER BY r", EXHAUSTED),
    Case(
        "a sort of long values",
        f"{ENDLESS} SELECT randomblob(3900000) AS r FROM n ORDER BY r LIMIT 100000",
        EXHAUSTED,
    ),
    Case(
        "DISTINCT",
        f"{ENDLESS} SELECT DISTINCT randomblob(100000) FROM n WHERE i < 0 UNION SELECT DISTINCT "
        "randomblob(100000) FROM n",
        EXHAUSTED,
    ),
    Case("GROUP BY", f"{ENDLESS} SELECT max(i) FROM n GROUP BY randomblob(100000)", EXHAUSTED),
    Case("UNION", f"{ENDLESS} SELECT randomblob(100000) FROM n UNION SELECT 1", EXHAUSTED),
    Case(
        "recursion that remembers",
        "WITH RECURSIVE n(r) AS (SELECT randomblob(100000) UNION SELECT randomblob(100000) FROM n) "
        "SELECT count(*) FROM n",
        EXHAUSTED,
    ),
    Case(
        "recursion that doubles",
        "WITH RECURSIVE n(r) AS (SELECT randomblob(100000) UNION ALL SELECT r FROM n, "
        "(VALUES(1),(2))) SELECT count(*) FROM n",
        EXHAUSTED,
    ),
    Case(
        "a temporary table",
        f"CREATE TEMP TABLE t(a); {ENDLESS} INSERT INTO t SELECT randomblob(1000000) FROM n",
        EXHAUSTED,
    ),
    Case(
        "a temporary table by AS",
        f"CREATE TEMP TABLE t AS {ENDLESS} SELECT randomblob(1000000) FROM n",
        EXHAUSTED,
    ),
    Case(
        "an index of a temporary table",
        f"CREATE TEMP TABLE t(a PRIMARY KEY) WITHOUT ROWID; {ENDLESS} INSERT INTO t SELECT "
        "randomblob(1000000) FROM n",
        EXHAUSTED,
    ),
    Case(
        "a materialised CTE",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n), m AS MATERIALIZED (SELECT "
        "randomblob(1000000) AS r FROM n) SELECT count(*) FROM m a, m b",
        EXHAUSTED,
    ),
    Case("an IN list of everything", f"SELECT 1 IN ({ENDLESS} SELECT randomblob(100000) FROM n)", EXHAUSTED),
    Case(
        "a window of everything",
        f"{ENDLESS} SELECT count(*) FROM (SELECT lag(r) OVER (ORDER BY r) FROM (SELECT "
        "randomblob(100000) AS r FROM n))",
        EXHAUSTED,
    ),
    Case("a median of everything", f"{ENDLESS} SELECT median(i) FROM n", EXHAUSTED),
    Case(
        "DISTINCT in an aggregate", f"{ENDLESS} SELECT count(DISTINCT randomblob(100000)) FROM n", EXHAUSTED
    ),
    Case(
        "ORDER BY in an aggregate",
        f"{ENDLESS} SELECT group_concat('', '' ORDER BY randomblob(100000)) FROM n",
        EXHAUSTED,
    ),
    Case("EXCEPT", f"{ENDLESS} SELECT randomblob(100000) FROM n EXCEPT SELECT 1", EXHAUSTED),
    Case(
        "an automatic index",
        "WITH a(i, r) AS MATERIALIZED (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
        "LIMIT 100000) SELECT i, randomblob(10000) FROM n) SELECT count(*) FROM a JOIN a b ON a.r = b.r",
        EXHAUSTED,
    ),
]


@pytest.mark.parametrize("case", VALUES, ids=lambda case: case.name)
def test_no_value_becomes_larger_than_its_limit(strike: Strike, prey: Prey, case: Case) -> None:
    strike(Case(case.name, case.sql, case.codes, given=TIME | case.given))
    assert peak_bytes(prey) < limits.ADDRESS_SPACE.value


@pytest.mark.parametrize("case", HEAPS, ids=lambda case: case.name)
def test_memory_ends_before_that_of_the_machine(strike: Strike, prey: Prey, case: Case) -> None:
    strike(Case(case.name, case.sql, case.codes, given={"timeout": 0.35} | case.given))
    assert peak_bytes(prey) < limits.ADDRESS_SPACE.value


def blobs(count: int) -> str:
    return "; ".join(["SELECT zeroblob(4000000)"] * count)


WIDE = ", ".join(f'"{number}{"x" * 39_000}"' for number in range(99))
ANSWERS: list[tuple[str, str, str]] = [
    ("rows that are long", "", f"{ENDLESS} SELECT zeroblob(4000000) FROM n LIMIT 1000"),
    ("a row of long columns", "", f"SELECT {', '.join(['zeroblob(4000000)'] * 40)}"),
    ("a row of very many long columns", "", f"SELECT {', '.join(['zeroblob(4000000)'] * 1_000)}"),
    ("one long row of each of some statements", "", blobs(17)),
    ("one long row of each of many statements", "", blobs(240)),
    ("one long row of each of all statements", "", blobs(990)),
    (
        "long names of columns, again and again",
        f"CREATE TABLE wide({WIDE})",
        "; ".join(["SELECT * FROM wide"] * 20),
    ),
    ("rows without end", "", f"{ENDLESS} SELECT i, i, i, i FROM n"),
    ("empty rows without end", "", f"{ENDLESS} SELECT NULL FROM n"),
    (
        "texts that are not UTF-8",
        "",
        f"{ENDLESS} SELECT CAST(zeroblob(3900000) || x'ff' AS TEXT) FROM n LIMIT 1000",
    ),
]


@pytest.mark.parametrize(("before", "sql"), [case[1:] for case in ANSWERS], ids=[case[0] for case in ANSWERS])
def test_an_answer_that_is_too_long_is_cut_or_nothing_was_done(prey: Prey, before: str, sql: str) -> None:
    """The answer is true: an error means that the row it inserted is missing."""
    prey.query(f"CREATE TABLE t(a); {before}")
    outcome = prey.attack(f"INSERT INTO t VALUES(1); {sql}", max_rows=1 << 40, timeout=0.7)
    assert outcome.code in EXHAUSTED | DONE, outcome.message
    kept = prey.query("SELECT count(*) FROM t").rows == [[1]]
    assert kept == (outcome.code is None)
    if outcome.answer is not None:
        assert outcome.answer.truncated
    assert peak_bytes(prey) < limits.ADDRESS_SPACE.value


def test_the_worker_has_the_limits_of_the_table(prey: Prey) -> None:
    prey.query("SELECT 1")
    said = _limits(prey.worker())
    assert said["Max address space"] == limits.ADDRESS_SPACE.value
    assert said["Max open files"] == limits.OPEN_FILES.value
    assert said["Max core file size"] == 0
    assert 0 < said["Max file size"] <= 4 * limits.Quota().database_bytes + 16 * limits.MB
    assert 0 < said["Max cpu time"] <= limits.MOST_SECONDS


def test_a_worker_that_served_many_calls_holds_no_more_than_before(
    prey: Prey, tried: Callable[[int], None]
) -> None:
    calls = [
        "SELECT randomblob(1000000)",
        "SELECT nothing",
        "CREATE TEMP TABLE t(a); INSERT INTO t VALUES(zeroblob(1000000))",
    ]
    calls += [f"SELECT count(*) FROM canary WHERE song = '{number}'" for number in range(7)]
    for _ in range(10):
        for sql in calls:
            prey.attack(sql)
    before, process = _resident(prey), prey.worker()
    for _ in range(20):
        for sql in calls:
            prey.attack(sql)
    assert prey.worker() == process
    assert _resident(prey) < before + 20 * limits.MB
    tried(30 * len(calls))


def _resident(prey: Prey) -> int:
    return int(status(prey.worker())["VmRSS"].split()[0]) * 1024


def _limits(process: int) -> dict[str, float]:
    lines = Path(f"/proc/{process}/limits").read_text().splitlines()[1:]
    said = {line[:26].strip(): line[26:47].strip() for line in lines}
    return {name: float(value.replace("unlimited", "inf")) for name, value in said.items()}
