from __future__ import annotations

import json
from contextlib import suppress

import apsw
import pytest
from benchmarks.sql_hints import DATA, open_shop
from hypothesis import given
from hypothesis import strategies as st

from mnemos.workspace.sandbox.hints import warnings

CASES = [json.loads(line) for line in (DATA / "warnings.jsonl").read_text().splitlines()]
BITING = {case["sql"]: case["words"] for case in CASES if "words" in case}
ORDINARY = [case["sql"] for case in CASES if "words" not in case]


def test_what_sqlite_understands_differently_gets_one_warning() -> None:
    assert len(BITING) >= 25
    for sql, words in BITING.items():
        open_shop().execute(sql).fetchall()
        (warning,) = warnings(sql)
        assert words in warning


def test_ordinary_sql_gets_no_warning() -> None:
    assert len(ORDINARY) > 60
    assert {sql: found for sql in ORDINARY if (found := warnings(sql))} == {}


def test_the_ordinary_statements_are_taken_by_sqlite() -> None:
    for sql in ORDINARY:
        with suppress(apsw.BindingsError):
            open_shop().execute(sql).fetchall()


@given(
    st.sampled_from(list(BITING)),
    st.sampled_from(["'{}'", '"{}"', "[{}]", "/* {} */ 1", "1 -- {}"]),
)
def test_nothing_within_quotes_and_comments_is_looked_at(sql: str, around: str) -> None:
    inside = sql.replace("'", "''") if around == "'{}'" else sql
    if around == "[{}]" and "]" in sql:
        return
    assert warnings(f"SELECT {around.format(inside)}") == ()


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=200))
def test_any_text_is_answered_with_a_few_short_sentences(text: str) -> None:
    for sql in (text, f"CREATE TABLE t ({text})", f"SELECT * FROM t WHERE {text}"):
        said = warnings(sql)
        assert len(said) <= 5
        assert all(len(one) < 300 for one in said)


@pytest.mark.parametrize(
    "piece",
    [
        "(",
        "'",
        "a = NULL AND ",
        "1/2 + ",
        "count(a)/",
        "a SERIAL, ",
        "OR 'a' ",
        "2024-01-01 ",
        "CAST(a AS DATE) ",
    ],
)
def test_a_statement_of_four_megabytes_is_looked_at_only_at_its_beginning(piece: str) -> None:
    """Quadratic time would be minutes here."""
    head = "CREATE TABLE t (" if "SERIAL" in piece else "SELECT * FROM t WHERE "
    assert len(warnings(head + piece * (4_000_000 // len(piece)))) <= 5
