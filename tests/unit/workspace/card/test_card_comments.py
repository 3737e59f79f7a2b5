from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mnemos.workspace.sandbox.card.tables import find_comments
from mnemos.workspace.sandbox.lexer import tokens


def test_comments_are_read_without_their_signs() -> None:
    sql = "CREATE TABLE p /* one */ ( -- two\n  a INT, -- three\n  /* four\n * five */ b INT)"
    assert find_comments(sql) == ["one", "two", "three", "four five"]


def test_what_looks_like_a_comment_in_a_text_or_a_name_is_none() -> None:
    assert find_comments("CREATE TABLE p (a TEXT DEFAULT '-- no', \"/* b */\" INT)") == []


@given(st.text(alphabet="ab,()-/*'\"\n ;", max_size=80))
def test_any_statement_can_be_read(sql: str) -> None:
    there = any(token.kind == "comment" for token in tokens(sql))
    assert there or find_comments(sql) == []
