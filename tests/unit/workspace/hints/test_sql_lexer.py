from __future__ import annotations

import re

import apsw
import apsw.ext
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from mnemos.workspace.sandbox.lexer import Kind, Statement, Token, statements, tokens

PIECES = st.sampled_from(
    [
        "select", "create", "temp", "trigger", "begin", "end", "case", "explain", "x", "X", "a$b", "é",
        "'", "''", '"', "`", "[", "]", "x'", "x'00'", "x'0'", "'it''s;'", '"a;b"', "[a;b]", "`a;b`",
        ";", ",", "(", ")", ".", "-", "--", "/", "*", "/*", "*/", "/*;*/", "--;\n", "->", "->>", "||", "|",
        "1", "1.", ".5", "1e", "1e5", "0x", "0xf", "_", "1_0", "+", "=", "==", "<", "<>", "!", "!=", "^",
        "\\", "?", "?1", ":", ":a", "@a", "$a", "$a(b;c)", "$a(b", "::", "#1", " ", "\n", "\t", "\x0b", "\f",
        "\ufeff",         "{", "}", "~", "&", "%", "😀",
    ]
)  # fmt: skip
SNIPPETS = st.lists(PIECES, max_size=25).map("".join)
TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=80)


def kinds(sql: str) -> list[tuple[str, str]]:
    return [(token.kind.value, token.text) for token in tokens(sql)]


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("'it''s; -- not a comment'", "string"),
        ("''", "string"),
        ('"a ""quoted"" name"', "name"),
        ("`a``b`", "name"),
        ("[a;b]", "name"),
        ("-- to the end of the line; 'x'", "comment"),
        ("/* a\n'b';\n*/", "comment"),
        ("/**/", "comment"),
        ("/*/ still open", "comment"),
        ("x'ff00'", "blob"),
        ("x'0'", "illegal"),
        ("x'zz'", "illegal"),
        ("1_000", "number"),
        ("0x1f", "number"),
        ("1.5e-3", "number"),
        (".5", "number"),
        ("1.", "number"),
        ("7days", "illegal"),
        ("1__0", "illegal"),
        ("?", "parameter"),
        ("?12", "parameter"),
        (":name", "parameter"),
        ("@name", "parameter"),
        ("$name", "parameter"),
        ("$a::b(c;d)", "parameter"),
        ("a$b", "word"),
        ("été", "word"),
        ("->>", "operator"),
        ("||", "operator"),
        ("!=", "operator"),
        ("!", "illegal"),
        ("^", "illegal"),
        ("'never closed; x", "illegal"),
        ('"never closed', "illegal"),
        ("[never closed", "illegal"),
    ],
)
def test_this_text_is_one_token(sql: str, kind: str) -> None:
    assert kinds(sql) == [(kind, sql)]


@pytest.mark.parametrize(
    ("sql", "texts"),
    [
        ("a.b", ["a", ".", "b"]),
        ("x-1", ["x", "-", "1"]),
        ("a::int", ["a", ":", ":int"]),
        ("1e+", ["1e", "+"]),
        ("select/*c*/1", ["select", "/*c*/", "1"]),
        ("/*", ["/", "*"]),
        ("'a' 'b'", ["'a'", "'b'"]),
        ("\ufeffselect", ["select"]),
        ("", []),
        (" \n\t", []),
    ],
)
def test_this_text_falls_into_these_tokens(sql: str, texts: list[str]) -> None:
    assert [token.text for token in tokens(sql)] == texts


@given(SNIPPETS | TEXTS)
def test_only_blanks_lie_between_the_tokens(sql: str) -> None:
    position = 0
    for token in tokens(sql):
        assert sql[token.start : token.end] == token.text
        assert not sql[position : token.start].strip(" \t\n\x0b\f\r\ufeff")
        position = token.end
    assert not sql[position:].strip(" \t\n\x0b\f\r\ufeff")


@given(SNIPPETS | TEXTS)
@example("select 1.5x")
@example("select .5x")
@example("select $a(b c)")
@example("select x'0' 'b'")
def test_sqlite_stops_at_the_token_that_is_illegal_here(sql: str) -> None:
    """SQLite may stop earlier, at what its grammar does not allow; never at another unrecognized token."""
    complaint = complaint_of(sql)
    first = next((token for token in tokens(sql) if token.kind is Kind.ILLEGAL), None)
    if said := re.fullmatch(r'unrecognized token: "(.*)"', complaint or "", re.DOTALL):
        assert first is not None
        assert said[1] == first.text
    elif complaint is None and first is not None:
        assert first.start > statements(sql)[0].start + len(statements(sql)[0].text)


def complaint_of(sql: str) -> str | None:
    """Return SQLite's error for the first statement; None if it is well formed."""
    try:
        apsw.ext.query_info(apsw.Connection(":memory:"), sql)
    except apsw.SQLError as exc:
        return str(exc)
    return None


NAMES = st.sampled_from(["a", '"a;b"', "[a;b]", "`;`", "é", '"x""y;"'])
VALUES = st.sampled_from(
    ["1", "';'", "'it''s;'", "x'00'", "1_0", "'--'", "'/*'", "-1", "4/2", "1 - -1", "'\n;'", "''"]
)
GAPS = st.sampled_from([" ", "\n", " /* ; */ ", " -- ;\n", "\t", " /*'*/ ", '--"\n'])
SELECTS = st.builds("SELECT{0}{1}{0}AS{2}{3}".format, GAPS, VALUES, GAPS, NAMES)
CASES = st.builds("SELECT CASE WHEN{0}{1} THEN 2{0}END".format, GAPS, VALUES)
BODIES = st.lists(st.tuples(SELECTS | CASES, GAPS), min_size=1, max_size=3).map(
    lambda parts: "".join(f"{body};{gap}" for body, gap in parts)
)
TRIGGERS = st.builds(
    "{0}CREATE{1}{2}TRIGGER IF NOT EXISTS{1}{3} AFTER INSERT ON t BEGIN{1}{4}END".format,
    st.sampled_from(["", "EXPLAIN ", "explain query  plan "]),
    GAPS,
    st.sampled_from(["", "TEMP ", "temporary "]),
    NAMES,
    BODIES,
)
SCRIPTS = st.lists(st.tuples(SELECTS | CASES | TRIGGERS | st.just(""), GAPS, GAPS), max_size=6)


@given(SCRIPTS)
def test_statements_end_where_sqlite_ends_them(script: list[tuple[str, str, str]]) -> None:
    sql = "".join(f"{before}{text}{after};" for text, before, after in script)
    executed: list[str] = []

    def trace(_cursor: apsw.Cursor, text: str, _bindings: object) -> bool:
        executed.append(text)
        return True

    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE t(x)")
    connection.exec_trace = trace
    connection.execute(sql).fetchall()
    found = statements(sql)
    assert [bare(one) for one in executed if bare(one)] == [bare(one.text) for one in found]
    assert [one.text for one in found] == [text for text, _, _ in script if text]
    assert all(sql[one.start :].startswith(one.text) for one in found)


def bare(sql: str) -> list[Token]:
    """The tokens but for comments and the semicolons around them: SQLite takes a few of these along."""
    meaning = [token._replace(start=0) for token in tokens(sql) if token.kind is not Kind.COMMENT]
    while meaning and meaning[0].text == ";":
        meaning.pop(0)
    while meaning and meaning[-1].text == ";":
        meaning.pop()
    return meaning


HEADS = st.sampled_from(
    [
        "",
        "create",
        "CREATE temp",
        "create/**/temporary",
        "explain create",
        "Explain query plan create temp",
        "explain",
    ]
)
TAILS = st.lists(
    st.sampled_from(
        ["trigger", "end", "END", ";", "x", "'a;'", "/*;*/", "--;\n", "begin", "temp", '"end"', "\n"]
    )
)


@given(st.lists(st.tuples(HEADS, TAILS), max_size=4))
def test_a_text_is_complete_exactly_when_what_follows_is_a_statement_of_its_own(
    parts: list[tuple[str, list[str]]],
) -> None:
    sql = ";".join(f"{head} {' '.join(tail)}" for head, tail in parts)
    assume(any(token.kind is not Kind.COMMENT for token in tokens(sql)))
    following = statements(f"{sql} mark")[-1]
    assert (following.text == "mark") is bool(apsw.complete(sql))


@given(SNIPPETS)
@example("?1$a(b;c)")
@example("a$b(c;d)")
def test_the_leap_to_the_next_semicolon_agrees_with_the_tokens(sql: str) -> None:
    found = list(tokens(sql))
    assume(all(token.kind is not Kind.ILLEGAL for token in found))
    assume("trigger" not in sql)
    assume("\ufeff" not in sql[1:])
    expected: list[list[str]] = [[]]
    for token in found:
        if token.text == ";":
            expected.append([])
        elif token.kind is not Kind.COMMENT:
            expected[-1].append(token.text)
    got = [[token.text for token in bare(one.text)] for one in statements(sql)]
    assert got == [one for one in expected if one]


@pytest.mark.parametrize("sql", ["", " ;; ; ", "-- only a comment", "/* and */ ; -- another", "/* open"])
def test_a_text_without_words_has_no_statement(sql: str) -> None:
    assert statements(sql) == []


def test_comments_around_a_statement_are_dropped_and_those_inside_it_kept() -> None:
    sql = "-- first\nSELECT /* inside */ 1 -- after\n; -- last"
    assert statements(sql) == [Statement("SELECT /* inside */ 1", 9)]


def test_a_trigger_that_never_ends_takes_the_rest() -> None:
    sql = "SELECT 1; CREATE TRIGGER a AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; DROP TABLE t"
    assert [one.text for one in statements(sql)] == ["SELECT 1", sql[10:]]


@pytest.mark.parametrize(
    "piece",
    [
        "(",
        "'",
        "''",
        '"',
        "[",
        "x'",
        "/*",
        "--",
        "$a(",
        "$",
        ":",
        "1_",
        "a-/",
        "/",
        " ",
        "\x0b",
        "explain ",
        "'\"[`",
    ],
)
def test_the_time_is_linear_whatever_is_repeated(piece: str) -> None:
    """Quadratic time would be minutes here."""
    sql = "create temp " + piece * (200_000 // len(piece))
    assert sum(len(one.text) for one in statements(sql)) <= len(sql)
    assert sum(1 for _ in tokens(sql)) <= len(sql)
