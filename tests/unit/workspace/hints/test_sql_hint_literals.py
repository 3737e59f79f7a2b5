"""A hint never changes what a string of the statement says."""

from __future__ import annotations

import apsw
import pytest
from benchmarks.sql_hints import open_shop
from hypothesis import given
from hypothesis import strategies as st
from shop import KNOWN, offered

from mnemos.workspace.sandbox.hints.failure import hint
from mnemos.workspace.sandbox.lexer import Kind, tokens

SQL_IN_TEXTS = [
    "SELECT TOP 5",
    "a::int",
    "ILIKE",
    "NOW() - INTERVAL 7 DAY",
    "it's",
    "--",
    "/*",
    ";",
    '"x"',
    "`",
    "[",
    "$1",
    "~",
    "ON DUPLICATE KEY UPDATE",
    "ENGINE=InnoDB",
    "AUTO_INCREMENT",
    "x = ANY(y)",
    "%s",
    "E'a'",
    "\\n",
    "{a}",
]
ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20)
TEXTS = ANY_TEXT | st.sampled_from(SQL_IN_TEXTS)
# Slips of every kind, each with two strings beside the slip.
FORMS = [
    "SELECT TOP 5 {0} FROM prices WHERE item = {1}",
    "SELECT eur::int, {0} FROM prices WHERE item ILIKE {1}",
    "SELECT {0} FROM prices WHERE day > NOW() - INTERVAL '7 days' AND item <> {1}",
    "SELECT ISNULL({0}, {1}) FROM prices",
    "SELECT GROUP_CONCAT(item SEPARATOR {0}) FROM prices WHERE item <> {1}",
    "SELECT {0}, {1} FROM prices LIMIT 5 ORDER BY eur",
    "SELECT {0}, {1}, FROM prices",
    "INSERT INTO news (item, eur) VALUES ({0}, {1}) ON DUPLICATE KEY UPDATE eur = VALUES(eur)",
    "INSERT IGNORE INTO spans VALUES ({0}, {1})",
    "INSERT spans VALUES ({0}, {1})",
    "UPDATE prices p JOIN news n ON n.item = p.item SET p.item = {0} WHERE n.item = {1}",
    "DELETE FROM prices WHERE item IN ({0}, {1}) LIMIT 1",
    "CREATE TABLE t (a TEXT DEFAULT {0}, b TEXT DEFAULT {1}) ENGINE=InnoDB",
    "CREATE TABLE t (id INT, k ENUM({0}, {1}))",
]


def strings(sql: str) -> list[str]:
    return [token.text for token in tokens(sql) if token.kind is Kind.STRING]


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@given(st.sampled_from(FORMS), TEXTS, TEXTS)
def test_every_string_is_unchanged_and_in_order_in_the_offered_statement(
    form: str, one: str, two: str
) -> None:
    sql = form.format(quoted(one), quoted(two))
    with pytest.raises(apsw.Error) as caught:
        open_shop().execute(sql)
    said = hint(sql, str(caught.value), getattr(caught.value, "error_offset", None), KNOWN)
    statement = offered(said or "")
    if statement is not None:
        rest = iter(strings(statement))
        kept = [text for text in (quoted(one), quoted(two)) if text in rest]
        assert kept == [quoted(one), quoted(two)]


@pytest.mark.parametrize("form", FORMS)
def test_the_statement_is_offered_whatever_its_strings_say(form: str) -> None:
    sql = form.format("'SELECT TOP 5 a::int'", "'it''s; -- x'")
    with pytest.raises(apsw.Error) as caught:
        open_shop().execute(sql)
    said = hint(sql, str(caught.value), getattr(caught.value, "error_offset", None), KNOWN)
    statement = offered(said or "")
    assert statement is not None
    open_shop().execute(statement).fetchall()
