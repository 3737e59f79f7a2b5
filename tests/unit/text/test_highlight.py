"""Matches of a query in a text, and the snippet that shows them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mnemos.text.highlight import CLOSE, OPEN, Finder, find_matches, snippet
from mnemos.text.query import parse

ANY = st.text(st.characters(exclude_categories=[]), max_size=120)


def marked(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in find_matches(text, parse(query))]


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("leak", "a leak, a Leak, a bleak leak", ["leak", "Leak", "leak"]),
        ("deploy", "we deployed two deployments", ["deployed", "deployments"]),
        ("deployed", "ready to deploy", ["deploy"]),
        ("cafe", "the Café", ["Café"]),
        ('"memory leak"', "memory leak, leak of memory", ["memory leak"]),
        ('"deploy"', "deployed, deploy", ["deploy"]),
        ("deplo*", "the deployment", ["deployment"]),
        ("leak pool", "pool with a leak", ["pool", "leak"]),
        ("leak OR flood", "flood, then leak", ["flood", "leak"]),
        ("leak -water", "a leak of water", ["leak"]),
        ("user", "getUserName", ["getUserName"]),
        ("getusername", "getUserName()", ["getUserName"]),
        ("getUserName", "get_user_name", ["get_user_name"]),
        ("gateway/run.py", "see gateway/run.py:12", ["gateway/run.py"]),
        ("C++", "C or C++", ["C++"]),
        ("京都", "来週京都に行く", ["京都"]),
        ("京", "来週京都に行く", ["京都"]),
        ("都に行", "来週京都に行く", ["都に行"]),
        ("🎉", "done 🎉", ["🎉"]),
        ("zebra", "no such animal", []),
        ("", "anything", []),
    ],
)
def test_these_queries_match_here(query: str, text: str, expected: list[str]) -> None:
    assert marked(text, query) == expected


def test_a_short_text_is_shown_whole_with_its_matches_marked() -> None:
    assert snippet("a leak in the pool", parse("pool leak")) == "a >>>leak<<< in the >>>pool<<<"


def test_without_a_match_the_beginning_is_shown() -> None:
    text = "word " * 200
    shown = snippet(text, parse("zebra"), width=50)
    assert shown.startswith("word word")
    assert shown.endswith("…")
    assert len(shown) <= 51


def test_a_match_far_inside_is_shown() -> None:
    text = "filler " * 3000 + "the leak " + "filler " * 3000
    shown = snippet(text, parse("leak"))
    assert ">>>leak<<<" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) < 300


def test_the_stretch_with_most_matches_is_shown() -> None:
    text = "leak " + "filler " * 100 + "leak in the pool " + "filler " * 100
    shown = snippet(text, parse("leak pool"), width=80)
    assert ">>>leak<<< in the >>>pool<<<" in shown


def test_words_are_not_cut_where_a_blank_is_near() -> None:
    text = "filler " * 100 + "leak " + "filler " * 100
    shown = snippet(text, parse("leak"), width=100).strip("…").split()
    assert set(shown) <= {"filler", ">>>leak<<<"}


def test_an_empty_text_shows_nothing() -> None:
    assert snippet("", parse("leak")) == ""


@given(text=ANY, query=ANY)
def test_spans_lie_in_the_text_in_order(text: str, query: str) -> None:
    upto = 0
    for start, end in find_matches(text, parse(query)):
        assert upto <= start < end <= len(text)
        upto = end


@given(text=ANY, query=ANY, width=st.integers(10, 60))
def test_a_snippet_is_a_piece_of_the_text_with_marks(text: str, query: str, width: int) -> None:
    if OPEN in text or CLOSE in text or "…" in text:
        return
    shown = snippet(text, parse(query), width=width)
    plain = shown.replace(OPEN, "").replace(CLOSE, "").strip("…")
    assert plain in text
    assert shown.count(OPEN) == shown.count(CLOSE)


@given(words=st.lists(st.sampled_from(["leak", "pool", "filler", "京都", "getUserName"]), min_size=1))
def test_a_text_that_has_the_word_shows_it_marked(words: list[str]) -> None:
    for word in set(words):
        assert OPEN in snippet(" ".join(words), parse(word), width=30)


INFLECTED = (
    *("die", "dying", "dies", "lie", "lying", "tied", "tying", "cry", "cries", "crying", "age", "aging"),
    *("happy", "happiness", "hope", "hoping", "hopped", "sky", "skies", "use", "using", "any", "are", "a"),
    *("getUserName", "user_name", "names", "URLs", "url", "run.py", "running", "C++", "c", "v2", "2", "news"),
    *("university", "universities", "generously", "general", "is", "this", "as", "was", "ioed", "eying"),
)
inflected = st.lists(st.sampled_from(INFLECTED), min_size=1, max_size=6)


@given(
    words=inflected,
    asked=st.one_of(inflected, inflected.map(lambda some: [f'"{" ".join(some)}"'])),
    joint=st.sampled_from([" ", ", ", "/", "_", "\n", ""]),
)
@example(words=["die", "C++"], asked=["die"], joint="")
def test_a_snippet_marks_something_when_reading_word_by_word_finds_something(
    words: list[str], asked: list[str], joint: str
) -> None:
    text, query = joint.join(words), parse(" ".join(asked))
    assert (OPEN in snippet(text, query)) == any(True for _ in find_matches(text, query))


class CountingFinder(Finder):
    looks = 0

    def _single_end(self, text: str, start: int) -> int | None:
        self.looks += 1
        return super()._single_end(text, start)


def test_a_long_run_without_a_match_is_checked_once() -> None:
    finder = CountingFinder(parse("ab"))
    assert finder.snippet("ab0" * 2_000 + " ab", width=20).endswith(">>>ab<<<")
    assert finder.looks == 2


def test_a_word_cut_from_a_negation_is_not_marked() -> None:
    assert snippet("I won't stop, he won’t come, we won", parse("won")) == (
        "I won't stop, he won’t come, we >>>won<<<"
    )
