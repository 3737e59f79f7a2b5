"""Answers show themselves: a length, hits to go through, lines to read, a table in a notebook."""

from __future__ import annotations

import pytest

from mnemos import Memory
from mnemos.recall.answer import Recall, RecallHit

pytestmark = pytest.mark.usefixtures("utc")


def hit(text: str, *, at: float = 0.0, speaker: str = "Ana") -> RecallHit:
    return RecallHit("message", 7, "s", speaker, text, (0, len(text)), at, 1.2345, ("contains 'boat'",))


def answer(*hits: RecallHit) -> Recall:
    return Recall("a boat?", hits, "", "lexical", 0.0, 0)


def test_an_answer_has_a_length_and_its_hits() -> None:
    one, two = hit("a"), hit("b")
    assert (len(answer(one, two)), list(answer(one, two))) == (2, [one, two])
    assert not answer()


def test_hits_are_listed_with_their_dates() -> None:
    found = answer(hit("the boat\nis green", at=86_400.0), hit("it is", speaker=""))
    assert str(found).split("\n") == ["1970-01-02 00:00  Ana: the boat is green", "1970-01-01 00:00  it is"]
    assert str(answer()) == "Nothing found."


def test_the_representation_names_the_question_the_mode_and_refs() -> None:
    lines = repr(answer(hit("the boat is green"))).split("\n")
    assert lines == [
        "<Recall of 'a boat?': 1 hit, lexical>",
        "  <message 7, 1.23: 1970-01-01 00:00  Ana: the boat is green>",
    ]


def test_a_long_text_is_cut_on_its_line() -> None:
    assert len(str(hit("word " * 1_000))) < 130


@pytest.mark.parametrize("at", [1e300, -1e300, float("nan")])
def test_a_time_that_no_calendar_has_is_undated(at: float) -> None:
    assert str(hit("x", at=at)).startswith("undated")


def test_what_is_remembered_cannot_become_markup() -> None:
    table = answer(hit("<script>alert(1)</script>", speaker="<b>Ana</b>"))._repr_html_()
    assert "<script" not in table
    assert "<b>" not in table
    assert "&lt;script&gt;" in table


def test_an_answer_of_a_memory_shows_itself(memory: Memory) -> None:
    memory.sessions.create_session("s", "cli")
    memory.sessions.append_message("s", "user", "the boat is green", timestamp=86_400.0)
    found = memory.recall("boat")
    assert [one.text for one in found] == ["the boat is green"]
    assert "1970-01-02 00:00  user: the boat is green" in repr(found)
    assert "<td>the boat is green</td>" in found._repr_html_()
