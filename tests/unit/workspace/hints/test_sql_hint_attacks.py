"""Hints are made in the worker, of SQL that may be meant to break it."""

from __future__ import annotations

import apsw
import pytest
from benchmarks.sql_hints import open_shop
from hypothesis import given
from hypothesis import strategies as st
from shop import KNOWN

from mnemos.workspace.sandbox.hints import warnings
from mnemos.workspace.sandbox.hints.failure import hint

MOST = 2_000
WORDS = st.sampled_from(
    """SELECT FROM WHERE TOP 5 ( ) , ; . :: : int INTERVAL '7 days' DAY + - * / = <> ILIKE ~ && || ^ prices
    item eur day news n p AS ON JOIN USING GROUP BY ORDER HAVING LIMIT OFFSET FETCH NEXT ROWS ONLY
    INSERT INTO VALUES IGNORE DUPLICATE KEY UPDATE SET DELETE MERGE WHEN MATCHED THEN NOT CREATE TABLE
    OR REPLACE VIEW INDEX ALTER ADD COLUMN DROP MODIFY ENUM AUTO_INCREMENT SERIAL IDENTITY PRIMARY
    ENGINE COMMENT 'x' "x" [x] `x` ' " [ DATEADD( EXTRACT( CONVERT( ISNULL( COUNT( DISTINCT
    GROUP_CONCAT( SEPARATOR WITHIN PIVOT FOR IN ANY( ALL( ARRAY[1] UNNEST( CASE END NULL EXCLUDE QUALIFY
    ROLLUP LATERAL SHOW TABLES DESCRIBE \\d EXEC TRUNCATE USE GO @x @@x #x ?1 :a $a ${a} %s {a} E' N'a'
    DATE -- /* */ ``` “a” é 😀 \\ # ! 1 2.5 0x 7days""".split()
)
SCRAPS = st.lists(WORDS, max_size=30).map(" ".join)
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)
MESSAGES = st.sampled_from(
    """near "x": syntax error
    incomplete input
    unrecognized token: "x"
    no such table: x
    no such column: p.x
    no such column: "x" - should this be a string literal in single-quotes?
    no such function: x
    ambiguous column name: item
    table prices has no column named x
    table prices has 3 columns but 2 values were supplied
    table x already exists
    use DROP VIEW to delete view x
    UNIQUE constraint failed: news.item
    datatype mismatch
    misuse of aggregate: sum()
    misuse of aliased window function n
    HAVING clause on a non-aggregate query
    wrong number of arguments to function left()
    x""".split("\n    ")
)


@given(SCRAPS | TEXTS, MESSAGES | TEXTS, st.none() | st.integers(-5, 200))
def test_a_hint_never_fails_and_is_never_long(sql: str, message: str, offset: int | None) -> None:
    said = hint(sql, message, offset, KNOWN)
    assert said is None or 0 < len(said) <= MOST
    warnings(sql)


@given(SCRAPS)
def test_what_sqlite_itself_says_of_nonsense_is_answered(sql: str) -> None:
    connection = open_shop()
    connection.exec_trace = lambda *_: False
    try:
        connection.execute(sql)
    except (apsw.ExecTraceAbort, apsw.BindingsError):
        return
    except apsw.Error as exc:
        said = hint(sql, str(exc), getattr(exc, "error_offset", None), KNOWN)
        assert said is None or 0 < len(said) <= MOST


@given(st.dictionaries(TEXTS, st.lists(TEXTS, max_size=4), max_size=4), TEXTS)
def test_any_names_may_be_in_a_database(tables: dict[str, list[str]], name: str) -> None:
    for kind in ("table", "column", "function"):
        sql = 'SELECT * FROM "' + name.replace('"', '""') + '"'
        said = hint(sql, f"no such {kind}: {name}", 7, tables)
        assert said is None or len(said) <= MOST


PIECES = [
    "(",
    ")",
    "'",
    "''",
    '"',
    "[",
    "`",
    "/*",
    "--",
    ",",
    ";",
    "a;",
    "x'",
    "1_",
    "%s ",
    "\n",
    " ",
    "é",
    "“",
    "$a(",
    "#a ",
    "\\'",
    "a'b ",
    "::int ",
    "a::int ",
    "select top 5 ",
    "(select top 5 ",
    "isnull(",
    "dateadd(day,",
    "case when ",
    "- interval '1 day' ",
    "= any(",
    "array[1] ",
    "x ~ 'y' and ",
    "in 'a',",
    "order by ",
    "union select ",
    "a enum('x'), ",
    "row_to_json(p) ",
    "decode(1,2,3) ",
    "for update ",
    "offset 5 ",
    "rownum <= 5 and ",
    "values(a) ",
]


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("size", [3_900, 200_000])
def test_the_time_does_not_grow_with_what_is_repeated(piece: str, size: int) -> None:
    """Quadratic time would be minutes here."""
    sql = "select " + piece * (size // len(piece))
    for message, offset in (
        ('near "x": syntax error', size // 2),
        ("incomplete input", None),
        ("no such table: x", None),
    ):
        said = hint(sql, message, offset, KNOWN)
        assert said is None or len(said) <= MOST


def test_four_megabytes_and_a_hundred_thousand_parentheses_are_answered() -> None:
    for sql in (
        "SELECT '" + "x" * 4_000_000,
        "SELECT " + "(" * 100_000,
        "INSERT INTO prices VALUES " + "(1,2,3)," * 500_000,
    ):
        said = hint(sql, "incomplete input", None, KNOWN)
        assert said is None or len(said) <= MOST
        warnings(sql)


def test_the_hint_for_a_long_statement_shows_where_sqlite_stopped() -> None:
    sql = f"SELECT {', '.join(f'{number} AS c{number}' for number in range(2_000))}, eur ?? FROM prices"
    said = hint(sql, 'near "?": syntax error', len(sql) - 13, KNOWN) or ""
    assert "eur ??" in said


def test_the_hint_for_a_long_statement_knows_another_dialect() -> None:
    many = ", ".join(f"{number} AS c{number}" for number in range(2_000))
    sql = f"SELECT {many} FROM prices WHERE item ILIKE 'a%'"
    said = hint(sql, 'near "ILIKE": syntax error', sql.index("ILIKE"), KNOWN) or ""
    assert "LIKE ignores the case" in said


def test_a_statement_with_a_nul_is_answered() -> None:
    assert "NUL" in (hint("SELECT '\0'", "null character in query", None, KNOWN) or "")


def test_ten_thousand_tables_with_long_names_are_answered_briefly() -> None:
    known = {f"{'long' * 30}{number}": ["a" * 500] * 50 for number in range(10_000)}
    said = hint("SELECT * FROM longlong", "no such table: longlong", None, known)
    assert said is not None
    assert len(said) <= MOST


def test_a_pragma_of_the_agent_is_never_carried_out_while_a_hint_is_made() -> None:
    before = open_shop().execute("PRAGMA hard_heap_limit").fetchall()
    for sql in (
        "PRAGMA hard_heap_limit = 1000000;;,",
        "PRAGMA hard_heap_limit = 1000000 x",
        "ANALYZE TABLE x; PRAGMA hard_heap_limit=1000000",
    ):
        hint(sql, 'near "x": syntax error', 0, KNOWN)
        hint(f"```sql\n{sql}\n```", 'near "x": syntax error', 0, KNOWN)
        hint("```PRAGMA hard_heap_limit = 1000000```", 'near "x": syntax error', 0, KNOWN)
    assert open_shop().execute("PRAGMA hard_heap_limit").fetchall() == before


def test_nothing_is_written_to_the_errors_of_the_worker(capfd: pytest.CaptureFixture[str]) -> None:
    for sql in ("HANDLER prices OPEN", "SELECT * FROM prices MATCH_RECOGNIZE (x)", "CREATE EXTENSION x y z"):
        hint(sql, 'near "x": syntax error', 0, KNOWN)
    assert capfd.readouterr() == ("", "")
