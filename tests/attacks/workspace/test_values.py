"""Parameters of every shape, results with every value, and text that is not what it seems."""

from __future__ import annotations

import datetime
import decimal
import math
import uuid
from collections.abc import Callable
from typing import Any

import apsw
import pytest

from mnemos.workspace import table

from .conftest import Strike
from .prey import BOUNCED, DONE, INVALID, SQL_ERROR, Case, Prey


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


class Evil:
    """Raises whatever is done with it."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __str__(self) -> str:
        raise RuntimeError("str")

    __repr__ = __str__


PARAMETERS: list[tuple[str, str, Any, frozenset[str | None]]] = [
    ("NaN", "SELECT ?", [math.nan], DONE),
    ("infinities", "SELECT ?, ?", [math.inf, -math.inf], DONE),
    ("2^63 - 1", "SELECT ?", [(1 << 63) - 1], DONE),
    ("2^63", "SELECT ?", [1 << 63], INVALID),
    ("2^64 - 1", "SELECT ?", [(1 << 64) - 1], INVALID),
    ("2^64", "SELECT ?", [1 << 64], INVALID),
    ("-2^63", "SELECT ?", [-(1 << 63)], DONE),
    ("-2^63 - 1", "SELECT ?", [-(1 << 63) - 1], INVALID),
    ("a number of 10,000 digits", "SELECT ?", [10**10_000], INVALID),
    ("half a character", "SELECT ?", ["\ud800"], INVALID),
    ("half a character in a name", "SELECT :a", {"\udfff": 1}, INVALID),
    ("half a character, nested", "SELECT ?", [["\ud800"]], INVALID),
    ("NUL", "SELECT ?", ["a\0b"], DONE),
    ("NUL in a name", "SELECT :a", {"a\0": 1}, INVALID),
    ("an empty name", "SELECT :a", {"": 1}, INVALID),
    ("a name missing", "SELECT :a, :b", {"a": 1}, INVALID),
    ("a value missing", "SELECT ?, ?", [1], INVALID),
    ("a value too many", "SELECT ?", [1, 2], INVALID),
    ("values for nothing", "SELECT 1", [1], INVALID),
    ("names for nothing", "SELECT 1", {"a": 1}, DONE | INVALID),
    ("names for places", "SELECT ?", {"a": 1}, INVALID),
    ("places for names", "SELECT :a", [1], DONE | INVALID),
    ("a text", "SELECT ?", "abc", INVALID),
    ("bytes", "SELECT ?", b"abc", INVALID),
    ("a number", "SELECT ?", 5, INVALID),
    ("a set", "SELECT ?", {1}, INVALID),
    ("a generator", "SELECT ?", (n for n in range(1)), INVALID),
    ("an object", "SELECT ?", object(), INVALID),
    ("an object inside", "SELECT ?", [object()], INVALID),
    ("a class", "SELECT ?", [int], INVALID),
    ("a function", "SELECT ?", [len], INVALID),
    ("what raises", "SELECT ?", [Evil()], INVALID),
    ("what raises, as a name", "SELECT :a", {Evil: 1}, INVALID),
    ("a list in itself", "SELECT ?", [cyclic()], INVALID),
    ("900 lists deep", "SELECT ?", [deep(900)], DONE | INVALID),
    ("5,000 lists deep", "SELECT ?", [deep(5_000)], INVALID),
    ("100,000 lists deep", "SELECT ?", [deep(100_000)], INVALID),
    ("an object of JSON", "SELECT ?", [{"a": [1, None, "x"]}], DONE),
    ("NaN in JSON", "SELECT ?", [[math.nan]], DONE | INVALID),
    ("bytes in JSON", "SELECT ?", [[b"\xff"]], DONE | INVALID),
    (
        "moments and others",
        "SELECT ?, ?, ?",
        [datetime.datetime.now(datetime.UTC), decimal.Decimal("1.5"), uuid.uuid4()],
        DONE,
    ),
    ("5 MB", "SELECT length(?)", ["x" * 5_000_000], frozenset({"too_large"})),
    ("70 MB", "SELECT length(?)", ["x" * 70_000_000], frozenset({"too_large"})),
    (
        "SQL in a value",
        "SELECT count(*) FROM canary WHERE song = ?",
        ["x' OR 1; DROP TABLE canary; --"],
        DONE,
    ),
    ("a name of a table", "SELECT * FROM ?", ["canary"], SQL_ERROR),
    ("booleans", "SELECT ?, ?", [True, False], DONE),
]


@pytest.mark.parametrize(
    ("sql", "params", "codes"), [row[1:] for row in PARAMETERS], ids=[row[0] for row in PARAMETERS]
)
def test_a_parameter_of_any_shape_is_bound_or_refused(
    prey: Prey, sql: str, params: Any, codes: frozenset[str | None]
) -> None:
    outcome = prey.attack(sql, params)
    assert outcome.code in codes, outcome.message


ROWS: list[tuple[str, Any, frozenset[str | None]]] = [
    ("a text", "abc", INVALID),
    ("a number", 5, INVALID),
    ("an object", {"a": 1}, INVALID),
    ("rows of texts", ["ab", "cd"], INVALID),
    ("rows of numbers", [1, 2], INVALID),
    ("rows of nothing", [None], INVALID),
    ("rows of bytes", [b"ab"], INVALID),
    ("rows of sets", [{1, 2}], INVALID),
    ("rows of different lengths", [[1, 2], [1]], INVALID),
    ("lists and objects mixed", [[1, 2], {"a": 1}], INVALID),
    ("no rows", [], DONE),
    ("rows without values", [[], []], INVALID),
    ("2^63 in the last row", [[1, 2]] * 1_000 + [[1, 1 << 63]], INVALID),
    ("2^70 in the last row", [[1, 2]] * 1_000 + [[1, 1 << 70]], INVALID),
    ("half a character in the last row", [[1, 2]] * 1_000 + [[1, "\ud800"]], INVALID),
    ("a row that holds itself", [[*cyclic(), 1]], INVALID),
    ("more rows than go in one call", [[1, 2]] * 1_000_001, frozenset({"too_large"})),
    ("70 MB of rows", [["x" * 3_500_000, 1]] * 20, frozenset({"too_large"})),
    ("rows of what raises", [[Evil(), 1]], INVALID),
]


@pytest.mark.parametrize(("rows", "codes"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_rows_of_any_shape_are_inserted_or_refused_as_a_whole(
    prey: Prey, rows: Any, codes: frozenset[str | None]
) -> None:
    prey.query("CREATE TABLE t(a, b)")
    outcome = prey.attack("INSERT INTO t VALUES(?, ?)", rows=rows)
    assert outcome.code in codes, outcome.message
    assert prey.query("SELECT count(*) FROM t").rows == [[0]]


OTHERS: list[tuple[str, dict[str, Any]]] = [
    *((f"max_rows {value!r}", {"max_rows": value}) for value in (-1, 1.5, "1", None, True, 1 << 64, [1])),
    *((f"offset {value!r}", {"offset": value}) for value in (-1, 1.5, "1", None, True, 1 << 64, math.nan)),
    *((f"max_bytes {value!r}", {"max_bytes": value}) for value in (-1, 1.5, "1", [1], 1 << 70)),
    *((f"max_cell {value!r}", {"max_cell": value}) for value in (-1, 1.5, "1", [1], 1 << 70)),
]


@pytest.mark.parametrize("given", [given for _, given in OTHERS], ids=[name for name, _ in OTHERS])
def test_an_argument_that_makes_no_sense_is_refused(prey: Prey, given: dict[str, Any]) -> None:
    outcome = prey.attack("SELECT * FROM canary", **given)
    assert outcome.code == "invalid_input", outcome


@pytest.mark.parametrize(
    "query", [None, 5, b"SELECT 1", ["SELECT 1"], "", " ", ";", "--", "\ud800", "SELECT '\udfff'", {"a": 1}]
)
def test_a_value_that_is_not_a_query_is_refused(prey: Prey, query: Any) -> None:
    assert prey.attack(query).code == "invalid_input"


def test_pages_at_the_ends_of_the_world(prey: Prey, tried: Callable[[int], None]) -> None:
    largest = (1 << 53) - 1
    assert prey.query("SELECT id FROM canary", offset=largest).rows == []
    assert len(prey.query("SELECT id FROM canary", max_rows=largest).rows) == 20
    assert prey.query("SELECT id FROM canary", max_rows=0).rows == []
    assert prey.query("SELECT id FROM canary", offset=20).rows == []
    assert prey.query("SELECT id FROM canary", offset=19, max_rows=1).rows == [[20]]
    assert len(prey.query("SELECT id FROM canary", max_bytes=1).rows) <= 1
    assert len(prey.query("SELECT song FROM canary", max_cell=0).rows) == 20
    tried(7)


EVERY_VALUE = """SELECT NULL, 0, -0.0, 9223372036854775807, -9223372036854775808, 9e999, -9e999,
    9e999 - 9e999, 5e-324, 1.7976931348623157e308, '', 'é', char(0) || 'x', x'', x'00ff00',
    CAST(x'ff' AS TEXT), CAST(x'c3' AS TEXT), CAST(x'eda080' AS TEXT), 'a' AS a, 'b' AS a, 'c' AS "",
    'd' AS "a b", 'e' AS " ", '{"a": 1}' -> 'a', jsonb('{"a": 1}'), '日本' AS 日本,
    char(0x202e, 0x200b, 27) || '[31m', 1 AS "x
y", zeroblob(3), 9223372036854775808, 1e1000 AS "1", date('now'), TRUE"""


def test_every_value_comes_back(prey: Prey) -> None:
    answer = prey.query(EVERY_VALUE)
    (row,) = answer.rows
    assert row[:8] == [None, 0, 0.0, (1 << 63) - 1, -(1 << 63), math.inf, -math.inf, None]
    assert row[10:18] == ["", "é", "\0x", b"", b"\0\xff\0", "�", "�", row[17]]
    assert answer.columns[18:23] == ["a", "a", "", "a b", " "]
    assert len(row) == len(answer.columns)
    # As it is shown to a model: a line a row, whatever is in it.
    for shown in (answer, prey.query(EVERY_VALUE, max_cell=20)):
        lines = table.render_rows(shown.columns, shown.rows)
        assert len(lines) == 3
        assert not any(sign in line for line in lines for sign in "\n\r\0\x1b\u202e\u200b")


NOT_UTF8 = [
    Case("in a SELECT", "SELECT CAST(x'ff' AS TEXT)", DONE),
    Case("in VALUES", "VALUES(CAST(x'ff' AS TEXT))", DONE),
    Case("in WITH", "WITH a AS (SELECT CAST(x'ff' AS TEXT)) SELECT * FROM a", DONE),
    Case("in a compound", "SELECT 1 UNION ALL SELECT CAST(x'ff' AS TEXT) ORDER BY 1 LIMIT 5", DONE),
    Case(
        "in RETURNING",
        "CREATE TABLE t(a); INSERT INTO t VALUES(CAST(x'ff' AS TEXT)) RETURNING a",
        DONE | SQL_ERROR,
    ),
    Case(
        "in an aggregate",
        "SELECT group_concat(CAST(x'ff' AS TEXT)), max(CAST(x'fe' AS TEXT)) FROM canary",
        DONE,
    ),
    Case("in a comment before", "/* ) */ SELECT CAST(x'ff' AS TEXT) -- )", DONE),
    Case("in a bracket in a string", "SELECT ') SELECT 1 --', CAST(x'ff' AS TEXT)", DONE),
    Case("with parameters", "SELECT ?, CAST(x'ff' AS TEXT)", DONE, given={"params": ["a"]}),
    Case("with a page", "SELECT CAST(x'ff' AS TEXT) FROM canary", DONE, given={"offset": 3, "max_rows": 2}),
    Case("in EXPLAIN", "EXPLAIN SELECT CAST(x'ff' AS TEXT)", DONE | SQL_ERROR),
    Case("in a name of a JSON field", "SELECT json_object(CAST(x'ff' AS TEXT), 1)", DONE | SQL_ERROR),
    Case(
        "in 2,000 columns",
        lambda: f"SELECT {', '.join(['CAST(x' + chr(39) + 'ff' + chr(39) + ' AS TEXT)'] * 2_000)}",
        DONE | SQL_ERROR,
    ),
    Case("in an error", "SELECT RAISE(ABORT, CAST(x'ff' AS TEXT))", BOUNCED),
    Case(
        "in an error of a trigger",
        "CREATE TRIGGER tr BEFORE INSERT ON canary BEGIN SELECT RAISE(ABORT, 'é' || CAST(x'ff' AS "
        "TEXT)); END; INSERT INTO canary VALUES(99, '', NULL)",
        BOUNCED,
    ),
    Case("in an error of JSON", "SELECT json_extract('{}', CAST(x'24ff' AS TEXT))", BOUNCED | DONE),
    Case(
        "in a function of ours",
        "SELECT upper(CAST(x'ff' AS TEXT)), length(CAST(x'ff' AS TEXT)), CAST(x'ff' AS TEXT) LIKE '%'",
        DONE,
    ),
    Case(
        "in a generated column",
        "CREATE TABLE t(a, b AS (CAST(a AS TEXT))); INSERT INTO t(a) VALUES(x'ff'); SELECT * FROM t",
        DONE,
    ),
    Case(
        "in a key",
        "CREATE TABLE t(a TEXT PRIMARY KEY); INSERT INTO t VALUES(CAST(x'ff' AS TEXT)); INSERT INTO t "
        "VALUES(CAST(x'ff' AS TEXT))",
        SQL_ERROR,
    ),
]


@pytest.mark.parametrize("case", NOT_UTF8, ids=lambda case: case.name)
def test_text_that_is_not_utf8_comes_back_somehow(strike: Strike, case: Case) -> None:
    strike(case)


def test_names_that_are_not_utf8_crash_nothing(prey: Prey, tried: Callable[[int], None]) -> None:
    """Another program may write what it likes into the schema."""
    raw = apsw.Connection(str(prey.path))
    raw.execute("PRAGMA journal_mode = DELETE")
    raw.execute("CREATE TABLE bad(QQ1, b DEFAULT 'QQ2'); INSERT INTO bad VALUES(1, 'x')")
    raw.execute("CREATE TABLE QQ4(a); CREATE VIEW QQ3 AS SELECT a FROM QQ4; CREATE INDEX QQ5 ON bad(b)")
    raw.close()
    broken = prey.path.read_bytes()
    for number in range(1, 6):
        broken = broken.replace(f"QQ{number}".encode(), b"Q\xff" + str(number).encode())
    prey.path.write_bytes(broken)
    attacks = [
        *(
            "SELECT * FROM bad",
            "SELECT b FROM bad",
            "SELECT name, sql FROM sqlite_schema",
            "PRAGMA table_info(bad)",
        ),
        *(
            "PRAGMA table_list",
            "SELECT * FROM pragma_table_list",
            "SELECT nothing FROM bad",
            "SELECT * FROM nothing",
        ),
        *(
            "PRAGMA index_list(bad)",
            "SELECT count(*) FROM bad",
            "INSERT INTO bad(b) VALUES('y')",
            "PRAGMA integrity_check",
        ),
    ]
    for sql in attacks:
        outcome = prey.attack(sql)
        assert outcome.code in DONE | SQL_ERROR, (sql, outcome)
    assert prey.query("SELECT b FROM bad ORDER BY 1").rows == [["x"], ["y"]]
    prey.workspace.tables(prey.database)
    prey.workspace.schema(prey.database)
    prey.query("DROP TABLE bad")
    tried(len(attacks) + 3)


TRICKS = [
    Case("NUL in SQL", "SELECT 1\0; DROP TABLE canary", INVALID | SQL_ERROR),
    Case("NUL in a string", "SELECT 'a\0b'", INVALID | SQL_ERROR),
    Case("NUL in a name", 'CREATE TABLE "a\0b"(a)', INVALID | SQL_ERROR),
    Case("NUL at the end", "SELECT 1\0", INVALID | SQL_ERROR),
    Case("NUL alone", "\0", INVALID | SQL_ERROR),
    Case("a comment that hides", "SELECT 1 -- ; DROP TABLE canary", DONE),
    Case("a comment over lines", "SELECT 1 /* ; DROP TABLE canary; */ + 1", DONE),
    Case("a comment in a comment", "SELECT 1 /* /* */ + 1; SELECT 2 -- */", DONE),
    Case("a comment that stays open", "SELECT 1 /* DROP TABLE canary", DONE),
    Case("a comment of a slash", "SELECT 1 /*/ + 1", DONE | SQL_ERROR),
    Case("a comment of MySQL", "SELECT 1 /*! ; DROP TABLE canary */", DONE),
    Case("a comment of MySQL with #", "SELECT 1 # DROP TABLE canary", SQL_ERROR),
    Case("a line end that is none", "SELECT 1 -- \r DROP TABLE canary", DONE),
    Case("a line end of Unicode", "SELECT 1 -- \u2028 DROP TABLE canary", DONE),
    Case("a string that stays open", "SELECT 'abc; DROP TABLE canary", SQL_ERROR),
    Case("a name that stays open", 'SELECT "abc; DROP TABLE canary', SQL_ERROR),
    Case("a bracket that stays open", "SELECT [abc; DROP TABLE canary", SQL_ERROR),
    Case("a backtick that stays open", "SELECT `abc; DROP TABLE canary", SQL_ERROR),
    Case("a string escaped with a backslash", "SELECT '\\'; DROP TABLE nobody; --'", SQL_ERROR),
    Case("a string of dollars", "SELECT $$; DROP TABLE nobody; $$", SQL_ERROR | INVALID),
    Case(
        "a semicolon in a string", "SELECT ';', \"id\" FROM canary WHERE song <> '; DROP TABLE canary'", DONE
    ),
    Case("a semicolon of another width", "SELECT 1； DROP TABLE canary", SQL_ERROR),
    Case("spaces of Unicode", "SELECT\u00a01", SQL_ERROR),
    Case("no space at all", "SELECT'x'", DONE),
    Case("letters that look alike", "SЕLECT 1", SQL_ERROR),
    Case("a name turned round", 'CREATE TABLE "\u202eyranac"(a); DROP TABLE "\u202eyranac"', DONE),
    Case("an invisible name", 'CREATE TABLE "\u200b"(a); SELECT * FROM "\u200b"; DROP TABLE "\u200b"', DONE),
    Case(
        "an empty name",
        'CREATE TABLE ""(""); INSERT INTO "" VALUES(1); SELECT * FROM ""; DROP TABLE ""',
        DONE | SQL_ERROR,
    ),
    Case(
        "a name of quotes",
        'CREATE TABLE """"""("a""b", "c\'d", [e]); SELECT * FROM """"""; DROP TABLE """"""',
        DONE,
    ),
    Case(
        "a name of SQL",
        'CREATE TABLE "x"" ; DROP TABLE canary; --"(a); DROP TABLE "x"" ; DROP TABLE canary; --"',
        DONE,
    ),
    Case(
        "a name of lines",
        'CREATE TABLE "a\nb\r\n\tc"("d\ne"); SELECT * FROM "a\nb\r\n\tc"; DROP TABLE "a\nb\r\n\tc"',
        DONE,
    ),
    Case(
        "a name of emoji",
        'CREATE TABLE "🐦"("🥚"); INSERT INTO "🐦" VALUES(1); SELECT "🥚" FROM "🐦"; DROP TABLE "🐦"',
        DONE,
    ),
    Case("a name of an escape", 'CREATE TABLE "\x1b[2J"(a); DROP TABLE "\x1b[2J"', DONE),
    Case(
        "a name of a path",
        'CREATE TABLE "../../outside/precious.txt"(a); DROP TABLE "../../outside/precious.txt"',
        DONE,
    ),
    Case(
        "a name of a format",
        'CREATE TABLE "%s%n{0}{x!r}"("%d"); SELECT * FROM "%s%n{0}{x!r}"; SELECT "{self}" FROM canary',
        SQL_ERROR,
    ),
    Case(
        "a megabyte of a name",
        lambda: (
            f'CREATE TABLE "{"x" * 1_000_000}"("{"y" * 1_000_000}"); SELECT * FROM '
            f'"{"x" * 1_000_000}"; ROLLBACK'
        ),
        DONE | frozenset({"too_large"}),
    ),
    Case("an error with a long name", lambda: f'SELECT "{"x" * 3_000_000}" FROM canary', SQL_ERROR),
    Case("an error with a strange name", 'SELECT "\u202e\n{}%s\x1b" FROM canary', SQL_ERROR),
    Case(
        "a keyword as a name",
        'CREATE TABLE "select"("from", "where"); SELECT "from" FROM "select"; DROP TABLE "select"',
        DONE,
    ),
    Case("two names that differ in case", 'CREATE TABLE "a"(a); CREATE TABLE "A"(a)', SQL_ERROR),
    Case("text in double quotes", 'SELECT "canary 1"', SQL_ERROR),
]


@pytest.mark.parametrize("case", TRICKS, ids=lambda case: case.name)
def test_a_trick_with_characters_changes_nothing(strike: Strike, case: Case) -> None:
    outcome = strike(case)
    # A message is read by people and models: it stays short whatever was in the statement.
    assert len(outcome.message) < 2_000
    assert "\x1b" not in outcome.message
