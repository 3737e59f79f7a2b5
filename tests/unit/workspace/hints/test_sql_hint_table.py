"""Hints for the labelled statements of ``tests/data/sql_hints/slips.jsonl``, and a few rules of their own."""

from __future__ import annotations

import pytest
from benchmarks.sql_hints import Answer, judge_all
from shop import KNOWN, hinted, offered, rows

from mnemos.workspace.sandbox.hints.failure import hint


@pytest.fixture(scope="module")
def answers() -> list[Answer]:
    return list(judge_all())


def test_every_labelled_slip_gets_a_hint_that_names_the_way_of_sqlite(answers: list[Answer]) -> None:
    assert len(answers) > 400
    wrong = [answer for answer in answers if not answer.names_the_way and "gap" not in answer.case]
    assert wrong == []


def test_every_offered_statement_does_what_was_meant(answers: list[Answer]) -> None:
    assert [answer for answer in answers if answer.works is False] == []
    lost = [answer for answer in answers if answer.case.get("offers") and not answer.works]
    assert lost == []


def test_where_only_words_help_nothing_is_offered(answers: list[Answer]) -> None:
    extra = [answer for answer in answers if answer.case.get("offers") is False and answer.works is not None]
    assert extra == []


def test_several_slips_are_repaired_in_one_statement() -> None:
    statement = offered(
        hinted(
            "SELECT TOP (10) p.item, ISNULL(p.eur, 0) AS e FROM prices AS p "
            "WHERE p.day >= DATEADD(month, -3, '2024-06-10') AND p.item ILIKE 'P%' ORDER BY p.eur::int DESC"
        )
    )
    assert statement is not None
    assert rows(statement) == [("pear", 2.5)]


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
def test_no_hint_makes_a_statement_change_more_rows_than_it_says(sql: str) -> None:
    statement = offered(hinted(sql))
    assert statement is None or rows(statement, "SELECT count(*) FROM prices WHERE eur > 0") == [(3,)]


@pytest.mark.parametrize(
    ("sql", "message", "statement"),
    [
        ("CREATE UNIQUE INDEX i ON news (item)", "index i already exists", "IF NOT EXISTS"),
        ("DROP TRIGGER g ON news", 'near "ON": syntax error', "DROP TRIGGER g"),
        ("ALTER TABLE prices MODIFY eur REAL NOT NULL", 'near "MODIFY": syntax error', "= CAST(eur AS REAL)"),
    ],
)
def test_no_part_of_a_statement_is_lost_or_left_over(sql: str, message: str, statement: str) -> None:
    made = offered(hint(sql, message, None, KNOWN) or "")
    assert made is not None
    assert statement in made
    assert ("UNIQUE" in sql) == ("UNIQUE" in made)
    assert "NOT NULL" not in made


@pytest.mark.parametrize("name", ["var", "std", "mid", "ord", "uuid", "explode"])
def test_a_table_named_like_a_function_keeps_its_name(name: str) -> None:
    made = offered(hint(f"INSERT IGNORE INTO {name} (a) VALUES (1)", "syntax error", None, KNOWN) or "")
    assert made is None or f"INTO {name} (a)" in made


def test_a_line_of_a_text_that_begins_with_a_hash_is_not_a_comment() -> None:
    sql = "INSERT INTO spans VALUES ('# Title\n# More\n// x', 'y'"
    found = rows(offered(hinted(sql)) or "", "SELECT a FROM spans WHERE b = 'y'")
    assert found == [("# Title\n# More\n// x",)]


def test_a_function_that_exists_here_is_left_alone() -> None:
    statement = offered(hinted("SELECT TOP 1 LEFT(item, 2), NVL(eur, 0), CONCAT(item, eur) FROM prices"))
    assert statement == "SELECT LEFT(item, 2), NVL(eur, 0), CONCAT(item, eur) FROM prices LIMIT 1"


def test_an_aggregate_of_our_own_is_known_as_one() -> None:
    statement = offered(hinted("SELECT TOP 1 item, stddev(eur) OVER () FROM prices WHERE item ILIKE 'a%'"))
    assert statement is not None
    assert rows(statement)[0][0] == "apple"


def test_a_parameter_of_another_driver_is_offered_as_one_of_ours() -> None:
    assert offered(hinted("SELECT * FROM prices WHERE item = %s")) == "SELECT * FROM prices WHERE item = ?"
    statement = offered(hinted("SELECT * FROM prices WHERE item = %(name)s"))
    assert statement == "SELECT * FROM prices WHERE item = :name"


def test_a_statement_that_needs_more_is_not_offered_as_one_that_works() -> None:
    text = hinted("SELECT TOP 5 colour FROM prices")
    assert offered(text) is None
    assert "no such column: colour" in text


def test_a_text_in_a_numbered_column_is_explained() -> None:
    text = hint("INSERT INTO k VALUES ('x')", "datatype mismatch", None, KNOWN)
    assert "INTEGER PRIMARY KEY" in (text or "")


def test_what_sqlite_has_for_percentiles_is_not_for_views() -> None:
    said = hint("SELECT * FROM v", "unsafe use of percentile_cont()", None, KNOWN)
    assert "percentile(x, 50)" in (said or "")
