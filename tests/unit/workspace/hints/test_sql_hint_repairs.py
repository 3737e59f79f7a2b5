from __future__ import annotations

from typing import Any

import pytest
from shop import KNOWN, hinted, offered, rows

from mnemos.workspace.sandbox.hints import hint


@pytest.mark.parametrize(
    ("sql", "statement"),
    [
        ("SELECT item, FROM prices", "SELECT item FROM prices"),
        ("SELECT item,, eur FROM prices", "SELECT item, eur FROM prices"),
        (
            "SELECT count(*) FROM prices WHERE eur IN (1, 2,)",
            "SELECT count(*) FROM prices WHERE eur IN (1, 2)",
        ),
        ("CREATE TABLE t (a TEXT, b TEXT,)", "CREATE TABLE t (a TEXT, b TEXT)"),
        ("UPDATE news SET eur = 1, WHERE item = 'a'", "UPDATE news SET eur = 1 WHERE item = 'a'"),
        ("WITH a AS (SELECT 1), SELECT * FROM a", "WITH a AS (SELECT 1) SELECT * FROM a"),
        ("SELECT item eur day FROM prices", "SELECT item, eur, day FROM prices"),
        ("INSERT INTO spans (a b) VALUES ('x', 'y')", "INSERT INTO spans (a, b) VALUES ('x', 'y')"),
        ("INSERT INTO spans VALUES ('x' 'y')", "INSERT INTO spans VALUES ('x', 'y')"),
        ("INSERT INTO spans VALUES (1, 2) (3, 4)", "INSERT INTO spans VALUES (1, 2), (3, 4)"),
        ("INSERT INTO spans (a, b) (1, 2)", "INSERT INTO spans (a, b) VALUES (1, 2)"),
        ("INSERT INTO spans (a, b) VALUE (1, 2)", "INSERT INTO spans (a, b) VALUES (1, 2)"),
        ("SELECT count(* FROM prices", "SELECT count(*) FROM prices"),
        ("SELECT item FROM prices WHERE (eur > 1", "SELECT item FROM prices WHERE (eur > 1)"),
        ("SELECT eur) FROM prices", "SELECT eur FROM prices"),
        ("SELECT 'abc FROM prices", "SELECT 'abc' FROM prices"),
        ("SELECT item FROM prices WHERE item = 'abc", "SELECT item FROM prices WHERE item = 'abc'"),
        ("SELECT item FROM prices WHERE item = 'Bob's'", "SELECT item FROM prices WHERE item = 'Bob''s'"),
        ("INSERT INTO spans VALUES ('it's Bob's', 'x')", "INSERT INTO spans VALUES ('it''s Bob''s', 'x')"),
        (
            "SELECT item FROM prices WHERE item LIKE '%it\\'s%'",
            "SELECT item FROM prices WHERE item LIKE '%it''s%'",
        ),
        ("CREATE TABLE order (id INT)", 'CREATE TABLE "order" (id INT)'),
        (
            "CREATE TABLE t (order INT, group TEXT, index INT)",
            'CREATE TABLE t ("order" INT, "group" TEXT, "index" INT)',
        ),
        ("SELECT eur AS order FROM prices", 'SELECT eur AS "order" FROM prices'),
        ("SELECT * FORM prices", "SELECT * FROM prices"),
        ("SELCT * FROM prices", "SELECT * FROM prices"),
        ("SELECT * FROM prices WHER eur > 1", "SELECT * FROM prices WHERE eur > 1"),
        ("DELETE FROM prices WHER eur > 1", "DELETE FROM prices WHERE eur > 1"),
        ("CREATE TABEL t (a)", "CREATE TABLE t (a)"),
        ("SELECT * FROM prices ORDER eur", "SELECT * FROM prices ORDER BY eur"),
        ("SELECT item FROM prices GROUP item", "SELECT item FROM prices GROUP BY item"),
        (
            "SELECT item FROM prices ORDER BY eur WHERE eur > 1",
            "SELECT item FROM prices WHERE eur > 1 ORDER BY eur",
        ),
        ("SELECT item FROM prices LIMIT 5 ORDER BY eur", "SELECT item FROM prices ORDER BY eur LIMIT 5"),
        ("SELECT CASE WHEN eur > 1 THEN 2 FROM prices", "SELECT CASE WHEN eur > 1 THEN 2 END FROM prices"),
        ("SELECT CASE eur > 1 THEN 2 END FROM prices", "SELECT CASE WHEN eur > 1 THEN 2 END FROM prices"),
        ("SELECT item FROM prices WHERE AND eur > 1", "SELECT item FROM prices WHERE eur > 1"),
        (
            "SELECT item FROM prices WHERE item IN 'a', 'b'",
            "SELECT item FROM prices WHERE item IN ('a', 'b')",
        ),
        ("SELECT 1 WHERE 2 IS NOT BETWEEN 1 AND 3", "SELECT 1 WHERE 2 NOT BETWEEN 1 AND 3"),
        ("SELECT item FROM prices WHERE eur => 1", "SELECT item FROM prices WHERE eur >= 1"),
        ("SELECT FROM prices", "SELECT * FROM prices"),
        ("SELECT * prices", "SELECT * FROM prices"),
        ("UPDATE news SET eur 5 WHERE item = 'a'", "UPDATE news SET eur = 5 WHERE item = 'a'"),
        ("UPDATE news eur = 5", "UPDATE news SET eur = 5"),
        ("WITH a (SELECT 1) SELECT * FROM a", "WITH a AS (SELECT 1) SELECT * FROM a"),
        ("```sql\nSELECT 1\n```", "SELECT 1"),
        ("# a comment\nSELECT 1", "SELECT 1"),
        ("Here is the query: SELECT * FROM prices", "SELECT * FROM prices"),
        ("SELECT\u00a0* FROM\u00a0prices", "SELECT * FROM prices"),
        ("SELECT eur FROM prices WHERE item = \u2018a b\u2019", "SELECT eur FROM prices WHERE item = 'a b'"),
        ("SELECT eur FROM prices WHERE eur \u2265 2", "SELECT eur FROM prices WHERE eur >= 2"),
        ("prices", "SELECT * FROM prices"),
    ],
)
def test_a_slip_of_the_pen_is_mended(sql: str, statement: str) -> None:
    mended = offered(hinted(sql))
    assert mended is not None
    assert " ".join(mended.split()) == statement
    rows(mended)


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("SELECT", "ends after `SELECT`"),
        ("INSERT INTO prices", "ends after `INSERT INTO prices`"),
        ("SELECT * FROM prices WHERE", "ends after"),
        ("SELECT * FROM prices WHERE eur > 1 AND", "ends after"),
        ("hello world", "begins with SELECT"),
        ("SELECT * FROM prices WHERE item = {item}", "parameter"),
    ],
)
def test_what_cannot_be_mended_is_said_to_be_there(sql: str, word: str) -> None:
    said = hinted(sql)
    assert word in said
    assert offered(said) is None


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM prices WHERE",
        "DELETE FROM prices WHERE item = 'a OR 1",
        "DELETE FROM prices WHERE item = 'x'' OR 1",
        "UPDATE prices SET eur = 0 WHERE",
        "DELETE FROM prices item = 'pear'",
        "DELETE FROM prices WHERE item = 'pear' AND",
    ],
)
def test_no_repair_makes_a_statement_take_more_rows_than_it_says(sql: str) -> None:
    statement = offered(hinted(sql))
    assert statement is None or rows(statement, "SELECT count(*) FROM prices WHERE eur > 0") == [(3,)]


def test_a_line_of_a_text_that_begins_with_a_hash_is_no_comment() -> None:
    sql = "INSERT INTO spans VALUES ('# Title\n# More\n// x', 'y'"
    assert rows(offered(hinted(sql)) or "", "SELECT a FROM spans WHERE b = 'y'") == [
        ("# Title\n# More\n// x",)
    ]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT item, sum(eur) FROM prices WHERE sum(eur) > 3 GROUP BY item", [("apple", 3.5)]),
        ("SELECT item FROM prices WHERE count(*) > 1", [("apple",)]),
        ("SELECT row_number() OVER (ORDER BY eur) AS n, eur FROM prices WHERE n = 1", [(1, 1.5)]),
        ("SELECT item FROM prices HAVING eur > 2", [("pear",)]),
        ("DROP TABLE cheap", []),
        ("CREATE TABLE prices (a)", []),
        ("CREATE INDEX prices_day ON prices (day)", []),
    ],
)
def test_a_statement_that_was_understood_and_refused_is_put_right(sql: str, expected: list[Any]) -> None:
    statement = offered(hinted(sql))
    assert statement is not None
    assert rows(statement) == expected


@pytest.mark.parametrize(
    ("sql", "probe", "expected"),
    [
        ("INSERT INTO news VALUES ('apple', 5)", "SELECT eur FROM news WHERE item = 'apple'", [(5.0,)]),
        (
            "INSERT INTO news (eur, item) VALUES (5, 'apple')",
            "SELECT eur FROM news WHERE item = 'apple'",
            [(5.0,)],
        ),
        ("INSERT INTO news SELECT 'apple', 5", "SELECT eur FROM news WHERE item = 'apple'", [(5.0,)]),
    ],
)
def test_a_row_that_is_there_already_can_be_changed_instead(
    sql: str, probe: str, expected: list[Any]
) -> None:
    said = hinted(sql)
    assert "DO NOTHING" in said
    statement = offered(said)
    assert statement is None or rows(statement, probe) == expected


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("INSERT INTO prices VALUES ('a', 1)", "prices has 3: item, eur, day"),
        ("INSERT INTO prices (item, eur) VALUES ('a')", "names 2"),
        ("INSERT INTO news VALUES ('x', NULL)", "eur must have a value"),
        ("SELECT 1 LIMIT 'a'", "whole numbers"),
        ("SELECT max(count(*)) FROM prices", "subquery"),
        ("SELECT row_number() FROM prices", "OVER (ORDER BY x)"),
        ("SELECT item FROM prices UNION SELECT 1, 2", "NULL AS x"),
        ("SELECT (SELECT 1, 2)", "one column"),
        ("VALUES (1), (2, 3)", "as many values"),
        ("SELECT item FROM prices ORDER BY 9", "from 1"),
        ("SELECT item FROM prices UNION SELECT item FROM news ORDER BY eur", "ORDER BY 1"),
        ("SELECT * FROM prices JOIN news USING (day)", "day is in prices"),
        ("SELECT json('{')", "json_valid"),
        ("CREATE TABLE t (id INT PRIMARY KEY, b INT PRIMARY KEY)", "PRIMARY KEY (a, b)"),
        ("INSERT INTO cheap VALUES (1)", "view"),
        ("CREATE VIEW prices AS SELECT 1", "another name"),
        ("ALTER TABLE prices DROP COLUMN day", "DROP INDEX"),
        ("CREATE VIRTUAL TABLE t USING fts9(a)", "fts5"),
        ("DROP VIEW nowhere", "type = 'view'"),
        ("SELECT abs(-9223372036854775808)", "REAL"),
        ("DROP VIEW prices", "table"),
        ("DROP VIEW chep", "did you mean cheap?"),
        ("SELECT * FROM prices WHERE rank() OVER (ORDER BY eur) = 1", "WHERE n = 1"),
        ("SELECT item, eur + 1 AS x FROM prices WHERE sum(eur) > 1 AND item = 'a'", "HAVING"),
        ("SELECT * FROM prices WHERE sum(eur) > 1", "HAVING"),
        ("SELECT item FROM prices WHERE sum(eur) > 1 GROUP BY item HAVING sum(eur) < 9", "HAVING"),
        ("SELECT item FROM prices WHERE eur > 1 HAVING eur > 2", "WHERE"),
    ],
)
def test_a_refusal_is_answered_with_what_to_do(sql: str, word: str) -> None:
    assert word in hinted(sql)


def test_a_text_in_a_numbered_column_is_explained() -> None:
    said = hint("INSERT INTO k VALUES ('x')", "datatype mismatch", None, KNOWN)
    assert "INTEGER PRIMARY KEY" in (said or "")
