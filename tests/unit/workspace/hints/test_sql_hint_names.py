from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shop import KNOWN, hinted, offered

from mnemos.workspace.sandbox.hints.failure import hint

Tables = dict[str, list[str]]
WIDE: Tables = {
    "customerOrders": ["orderId", "customer_name", "unit price", "order"],
    "categories": ["id", "title"],
    'odd "name"': ["x"],
}


def of(sql: str, message: str, known: Tables = WIDE, offset: int | None = None) -> str:
    return hint(sql, message, offset, known) or ""


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("customer_orders", "customerOrders"),
        ("CUSTOMERORDER", "customerOrders"),
        ("customerOrdres", "customerOrders"),
        ("category", "categories"),
        ("Categorys", "categories"),
    ],
)
def test_a_table_is_found_whatever_the_case_the_number_or_the_underscores(wrong: str, right: str) -> None:
    said = of(f"SELECT * FROM {wrong}", f"no such table: {wrong}")
    assert f"did you mean {right}?" in said


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("order_id", "orderId"), ("customername", "customer_name"), ("unit_price", '"unit price"')],
)
def test_a_column_is_found_and_quoted_where_it_needs_quotes(wrong: str, right: str) -> None:
    said = of(f"SELECT {wrong} FROM customerOrders", f"no such column: {wrong}", offset=7)
    assert f"did you mean {right}?" in said


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO price (item) VALUES ('a')",
        "UPDATE price SET eur = 1",
        "DELETE FROM price",
        "DROP TABLE price",
        "ALTER TABLE price ADD COLUMN x",
        "CREATE TABLE x AS SELECT * FROM price",
        "CREATE INDEX i ON price (item)",
        "INSERT INTO prices SELECT * FROM price",
        "WITH t AS (SELECT 1) DELETE FROM price",
    ],
)
def test_the_name_of_a_table_is_never_guessed_into_a_statement_that_writes(sql: str) -> None:
    said = hinted(sql)
    assert "did you mean prices?" in said
    assert offered(said) is None


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE prices SET euro = 1",
        "DELETE FROM prices WHERE itm = 'a'",
        "INSERT INTO prices (itm) VALUES ('a')",
        "ALTER TABLE prices RENAME COLUMN itm TO x",
    ],
)
def test_the_name_of_a_column_is_never_guessed_into_a_statement_that_writes(sql: str) -> None:
    said = hinted(sql)
    assert "did you mean" in said
    assert "prices has the columns item, eur, day" in said
    assert offered(said) is None


@given(
    st.sampled_from(
        ["INSERT INTO {} (item) VALUES (1)", "UPDATE {} SET eur = 1", "DELETE FROM {}", "DROP TABLE {}"]
    ),
    st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=1, max_size=8),
)
def test_nothing_is_offered_that_writes_to_a_table_the_statement_does_not_name(form: str, name: str) -> None:
    sql = form.format(f'"{name}"')
    said = of(sql, f"no such table: {name}", KNOWN)
    assert offered(said) is None


def test_an_alias_is_known_by_the_table_behind_it() -> None:
    assert "did you mean eur?" in hinted("SELECT p.eurr FROM prices p")


def test_a_table_that_was_renamed_is_called_by_its_alias() -> None:
    assert "write p.eur" in hinted("SELECT count(*) FROM prices AS p WHERE prices.eur > 2")


def test_the_table_that_has_the_column_of_an_unknown_prefix_is_named() -> None:
    assert "day is in p" in hinted("SELECT x.day FROM prices p JOIN news n USING (item)")


def test_a_column_of_another_table_is_said_to_be_there() -> None:
    assert "day is a column of prices" in hinted("SELECT day FROM news")


def test_a_text_without_quotes_is_recognised() -> None:
    assert "write 'plum'" in hinted("SELECT eur FROM news WHERE item = plum")


def test_the_hint_for_a_query_without_from_names_the_table_of_the_column() -> None:
    assert "no FROM; day is a column of prices" in hinted("SELECT day")


def test_an_ambiguous_column_is_named_with_its_tables() -> None:
    assert "p.item or n.item" in hinted("SELECT count(item) FROM prices p, news n")


def test_a_schema_in_front_of_an_existing_table_is_to_be_removed() -> None:
    assert "write news alone" in hinted("SELECT eur FROM public.news WHERE item = 'plum'")


def test_where_nothing_is_near_the_tables_are_listed() -> None:
    assert "the tables are prices, news, spans, cheap" in hinted("SELECT * FROM employees")


def test_a_database_without_tables_says_so() -> None:
    assert "no tables yet" in of("SELECT * FROM x", "no such table: x", {})


def test_a_long_list_is_cut_to_ten_names_and_a_few_hundred_characters() -> None:
    many = {f"{'table' * 9}{number}": ["a"] for number in range(500)}
    said = of("SELECT * FROM zzz", "no such table: zzz", many)
    assert said.endswith(" more")
    assert said.count("tabletable") <= 100
    assert len(said) < 600


def test_a_function_is_found_by_its_likeness() -> None:
    assert "did you mean length()?" in hinted("SELECT lenght('abc')")
    assert "did you mean regexp_replace()?" in hinted("SELECT regexp_replce('abc', 'b', 'x')")


def test_a_function_that_is_like_none_points_to_the_list() -> None:
    assert "sqlite_schema" in hinted("SELECT frobnicate(1)")


def test_the_wrong_number_of_arguments_is_answered_by_the_signature() -> None:
    assert "left(text, count)" in hinted("SELECT LEFT('a')")
    assert "substr(text, start, length)" in hinted("SELECT substr('a')")


def test_a_text_in_double_quotes_is_to_be_in_single_quotes() -> None:
    assert "'plum'" in hinted('SELECT eur FROM news WHERE item = "plum"')


def test_a_name_with_quotes_in_it_is_written_so_that_it_works() -> None:
    said = of('SELECT * FROM "odd nam"', "no such table: odd nam")
    assert 'did you mean "odd ""name"""?' in said


def test_a_table_that_was_renamed_is_called_by_its_alias_in_a_star_too() -> None:
    assert "prices is called p" in hinted("SELECT prices.* FROM prices p")


def test_an_ambiguous_column_of_tables_that_are_not_known_is_explained() -> None:
    assert "a point" in of("SELECT a FROM x, y", "ambiguous column name: a", {})


def test_a_wrong_column_in_double_quotes_may_be_a_text_or_a_column() -> None:
    said = hinted('SELECT "eurr" FROM prices')
    assert "'eurr'" in said
    assert "did you mean eur?" in said


def test_a_dotted_table_of_the_main_schema_is_found() -> None:
    assert "did you mean eur?" in hinted("SELECT eurr FROM main.prices")
