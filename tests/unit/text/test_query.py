"""The query language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.text.query import MAX_CLAUSES, Clause, Query, Term, parse


def wanted(text: str) -> list[list[tuple[str, ...]]]:
    """The forms asked for, clause by clause."""
    return [[term.forms for term in clause.terms] for clause in parse(text).clauses]


def excluded(text: str) -> list[tuple[str, ...]]:
    return [term.forms for term in parse(text).excluded]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("memory leak", [[("memory",)], [("leak",)]]),
        ("memory  \n leak", [[("memory",)], [("leak",)]]),
        ("leak leak", [[("leak",)]]),
        ("the leak", [[("leak",)]]),
        ("what's", [[("what", "s")]]),
        ("C++", [[("c++",)]]),
        ("gateway/run.py", [[("gateway", "run", "py")]]),
        ("user@host", [[("user", "host")]]),
        ("50%", [[("50",)]]),
        ("#485", [[("485",)]]),
        ("$5", [[("5",)]]),
        ("foo-bar", [[("foo", "bar")]]),
        ('"unbalanced', [[("unbalanced",)]]),
        ('unbalanced"', [[("unbalanced",)]]),
        ("TODO: fix", [[("todo",)], [("fix",)]]),
        ("x,y", [[("x",)], [("y",)]]),
        ("NOT", [[("not",)]]),
        ("OR", [[("or",)]]),
        ("AND", [[("and",)]]),
        ("to be or not to be", [[("to",)], [("be",)], [("or",)], [("not",)]]),
        ("🎉", [[("🎉",)]]),
        ("leak\0pool", [[("leak",)], [("pool",)]]),
        ('"memory leak"', [[("memory", "leak")]]),
        ('"the who"', [[("the", "who")]]),
        ("leak OR flood", [[("leak",), ("flood",)]]),
        ("leak OR flood OR fire", [[("leak",), ("flood",), ("fire",)]]),
        ("pool leak OR flood", [[("pool",)], [("leak",), ("flood",)]]),
        ('"a leak" OR flood', [[("a", "leak"), ("flood",)]]),
        ("leak AND flood", [[("leak",)], [("flood",)]]),
        ("OR leak", [[("leak",)]]),
        ("leak OR", [[("leak",)]]),
        ("or lower case", [[("lower",)], [("case",)]]),
        ("getUserName", [[("get", "user", "name")]]),
        ("京都", [[("京都",)]]),
        ("京", [[("京",)]]),
        ("東京都", [[("東京", "京都")]]),
        ('"東京都"', [[("東京", "京都")]]),
        ("API設計", [[("api",)], [("設計",)]]),
        ("-foo", [[("foo",)]]),
        ("-foo -bar", [[("foo",)], [("bar",)]]),
        ("-", []),
        ("", []),
        (" \n", []),
        ('""', []),
        ("%&/", []),
    ],
)
def test_these_queries_ask_for_these_words(text: str, expected: list[list[tuple[str, ...]]]) -> None:
    assert wanted(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("leak -water", [("water",)]),
        ("leak NOT water", [("water",)]),
        ("NOT water leak", [("water",)]),
        ('leak -"memory pool"', [("memory", "pool")]),
        ('leak NOT "memory pool"', [("memory", "pool")]),
        ("leak -water -fire", [("water",), ("fire",)]),
        ("leak - water", []),
        ("foo-bar", []),
        ("ls -l", []),
        ("a -- b", []),
        ("leak NOT", []),
        ("leak -", []),
    ],
)
def test_these_queries_exclude_these_words(text: str, expected: list[tuple[str, ...]]) -> None:
    assert excluded(text) == expected


def test_what_is_excluded_is_not_wanted() -> None:
    assert wanted("leak -water") == [[("leak",)]]


def test_a_star_makes_a_prefix() -> None:
    (clause,) = parse("deplo*").clauses
    assert clause.terms == (Term(("deplo",), prefix=True),)
    (clause,) = parse("snake_ca*").clauses
    assert clause.terms == (Term(("snake", "ca"), prefix=True),)
    (clause,) = parse('"memory lea"*').clauses
    assert clause.terms == (Term(("memory", "lea"), prefix=True, exact=True),)


def test_a_star_alone_or_inside_is_not_a_prefix() -> None:
    assert wanted("*") == []
    assert not any(term.prefix for term in parse("a*b c").terms())


def test_one_character_of_an_unspaced_script_is_a_prefix() -> None:
    (clause,) = parse("京").clauses
    assert clause.terms == (Term(("京",), prefix=True),)


def test_a_word_may_be_met_as_its_stem_and_a_quoted_one_not() -> None:
    assert parse("deployed").terms() == [Term(("deployed",), beside=("deploy",))]
    assert parse('"deployed"').terms() == [Term(("deployed",), exact=True)]


def test_an_identifier_may_be_met_as_a_whole() -> None:
    assert parse("getUserName").terms() == [Term(("get", "user", "name"), beside=("getusername",))]


def test_common_words_alone_are_still_asked_for() -> None:
    assert wanted("who is it") == [[("who",)], [("is",)], [("it",)]]


def test_a_long_query_keeps_its_first_words() -> None:
    query = parse(" ".join(f"word{n}" for n in range(500)))
    assert len(query.clauses) == MAX_CLAUSES
    assert query.clauses[0].terms[0].forms == ("word0",)


def test_loosening_takes_phrases_apart() -> None:
    loose = parse('"the memory leak" pool foo-bar').loosen()
    assert [clause.terms[0].forms for clause in loose.clauses] == [
        ("memory",),
        ("leak",),
        ("pool",),
        ("foo",),
        ("bar",),
    ]


def test_loosening_keeps_what_is_excluded_and_what_is_either() -> None:
    query = parse("leak OR flood pool -water")
    assert query.loosen() == query


def test_a_stop_word_is_one_unless_it_is_a_prefix() -> None:
    assert Term(("the",)).is_stop_word
    assert not Term(("the",), prefix=True).is_stop_word
    assert not Term(("the", "who?")).is_stop_word


@given(text=st.text(st.characters(exclude_categories=[]), max_size=80))
def test_no_text_is_an_error(text: str) -> None:
    query = parse(text)
    assert len(query.clauses) <= MAX_CLAUSES
    assert all(clause.terms and all(term.forms for term in clause.terms) for clause in query.clauses)
    query.loosen()


@given(
    parts=st.lists(
        st.sampled_from(
            [
                "leak",
                "pool",
                '"memory leak"',
                "OR",
                "NOT",
                "AND",
                "-water",
                '-"hot water"',
                "pre*",
                '"',
                "-",
                "*",
            ]
        ),
        max_size=12,
    )
)
def test_any_mix_of_signs_asks_for_something_when_it_has_a_word(parts: list[str]) -> None:
    query = parse(" ".join(parts))
    has_word = any(character.isalpha() for part in parts for character in part)
    assert bool(query.clauses) == has_word


def test_a_query_is_a_value() -> None:
    assert parse("leak") == Query((Clause((Term(("leak",)),)),))
