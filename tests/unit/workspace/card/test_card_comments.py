from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mnemos.workspace.sandbox.card.table_structure import Remarks, read_comments
from mnemos.workspace.sandbox.lexer import tokens


def test_a_comment_beside_a_column_is_about_that_column() -> None:
    said = read_comments(
        "CREATE TABLE prices ( -- prices of competitors\n"
        "  item TEXT, -- the SKU\n"
        "  eur REAL /* incl. VAT */, n INT -- how many\n"
        ")",
        ["item", "eur", "n"],
    )
    assert said == Remarks("prices of competitors", {"item": "the SKU", "eur": "incl. VAT", "n": "how many"})


def test_comments_on_lines_of_their_own_are_about_the_table() -> None:
    said = read_comments(
        "CREATE TABLE prices (\n  -- the SKU\n  item TEXT,\n  -- in euros\n  -- with VAT\n  Eur REAL\n)",
        ["item", "Eur"],
    )
    assert said == Remarks("the SKU; in euros; with VAT", {})


def test_comments_before_and_after_the_columns_and_beside_rules_are_about_the_table() -> None:
    said = read_comments(
        "CREATE TABLE p /* one */ (a INT, b,\n UNIQUE(a, b) -- two\n -- three\n) /* four */ STRICT",
        ["a", "b"],
    )
    assert said.table == "one; two; three; four"
    assert said.columns == {}


def test_commas_and_parentheses_inside_a_definition_begin_no_column() -> None:
    said = read_comments(
        "CREATE TABLE p (a DECIMAL(10, b) CHECK (a IN (1, b)), -- about a\n b INT)", ["a", "b"]
    )
    assert said.columns == {"a": "about a"}


def test_what_looks_like_a_comment_in_a_text_or_a_name_is_none() -> None:
    said = read_comments("CREATE TABLE p (a TEXT DEFAULT '-- no', \"/* b */\" INT)", ["a", "/* b */"])
    assert said == Remarks("", {})


def test_a_name_in_quotes_is_known_by_what_it_stands_for() -> None:
    sql = 'CREATE TABLE p ("unit ""price""" INT, -- net\n [primary] INT, -- yes\n `c` INT -- c\n)'
    said = read_comments(sql, ['unit "price"', "primary", "c"])
    assert said.columns == {'unit "price"': "net", "primary": "yes", "c": "c"}


@given(st.text(alphabet="ab,()-/*'\"\n ;", max_size=80))
def test_any_statement_can_be_read(sql: str) -> None:
    said = read_comments(sql, ["a", "b"])
    there = any(token.kind == "comment" for token in tokens(sql))
    assert there or said == Remarks("", {})
