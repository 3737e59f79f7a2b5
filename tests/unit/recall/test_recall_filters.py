"""Texts that must never be recalled: filtered out, forgotten, deleted, or of another user."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from conversations import BOTH, Tell, first, put, texts, told
from scenes import DAY, NOW

import mnemos
from mnemos import Memory
from mnemos.testing import FixedClock

pytestmark = pytest.mark.usefixtures("utc")


# --- filters ----------------------------------------------------------------------------------


@pytest.fixture
def boats(tell: Tell) -> None:
    """Three talks about boats, an hour between messages; every line has the word or is next to one."""
    turns = ["my boat leaks", "at the bow?", "a boat needs care", "how often?", "each boat every spring"]
    tell("one", *turns, at=NOW - 20 * DAY, every=3600, source="cli")
    tell("two", *turns, at=NOW - 10 * DAY, every=3600, source="telegram")
    tell("three", *turns, at=NOW - 5 * DAY, every=3600, source="telegram")


@BOTH
@pytest.mark.usefixtures("boats")
@pytest.mark.parametrize(
    ("filters", "sessions"),
    [
        ({}, {"one", "two", "three"}),
        ({"source": "telegram"}, {"two", "three"}),
        ({"source": ["cli"]}, {"one"}),
        ({"source": "nowhere"}, set()),
        ({"session_ids": ["two"]}, {"two"}),
        ({"session_ids": ["two", "unknown"]}, {"two"}),
        ({"session_ids": []}, set()),
        ({"exclude_session_ids": ["two"]}, {"one", "three"}),
        ({"exclude_session_ids": ["one", "two", "three"]}, set()),
        ({"source": "telegram", "exclude_session_ids": ["two"]}, {"three"}),
        ({"since": NOW - 7 * DAY}, {"three"}),
        ({"until": NOW - 15 * DAY}, {"one"}),
        ({"since": NOW - 15 * DAY, "until": NOW - 7 * DAY}, {"two"}),
    ],
)
def test_filters_leave_nothing_else(
    memory: Memory, filters: dict[str, Any], sessions: set[str], words_only: bool
) -> None:
    found = memory.recall("boat", words_only=words_only, limit=50, **filters)
    assert {hit.session_id for hit in found.hits} == sessions


@BOTH
@pytest.mark.usefixtures("boats")
@pytest.mark.parametrize("hours", [0.0, 0.5, 1.0, 2.0, 3.5, 4.0, 5.0])
def test_times_are_exact_to_the_moment_for_neighbours_too(
    memory: Memory, hours: float, words_only: bool
) -> None:
    edge = NOW - 10 * DAY + hours * 3600
    within = {"session_ids": ["two"], "words_only": words_only, "limit": 50}
    later = memory.recall("boat", since=edge, **within)
    earlier = memory.recall("boat", until=edge, **within)
    assert all(hit.at >= edge for hit in later.hits)
    assert all(hit.at < edge for hit in earlier.hits)
    together = {hit.ref for hit in (*later.hits, *earlier.hits)}
    assert {hit.ref for hit in memory.recall("boat", **within).hits} <= together


@BOTH
def test_the_text_shows_no_neighbour_from_outside_the_time(
    memory: Memory, tell: Tell, words_only: bool
) -> None:
    turns = ("What is the code of the safe?", "BLUE-42", "Is it written down?")
    tell("s", *turns, at=NOW - 10 * DAY, every=DAY)
    memory.sessions.set_title("s", "Keys")
    before = memory.recall("code of the safe", until=NOW - 9.5 * DAY, words_only=words_only)
    assert "BLUE-42" not in before.text
    after = memory.recall("BLUE-42", since=NOW - 9.5 * DAY, until=NOW - 8.5 * DAY, words_only=words_only)
    assert "BLUE-42" in after.text
    assert "safe" not in after.text
    assert "written down" not in after.text


@BOTH
def test_kinds_are_kept_apart(memory: Memory, tell: Tell, words_only: bool) -> None:
    tell("s", "the boat is green", "is it?")
    put(memory, "fact", "f1", "boat: green")
    put(memory, "note", "n1", "remember the boat")
    for kinds in (["fact"], ["note"], ["fact", "note"], ["message"], ["message", "note"], "fact"):
        found = memory.recall("boat", kinds=kinds, words_only=words_only).hits
        assert {hit.kind for hit in found} == ({kinds} if isinstance(kinds, str) else set(kinds))
    assert {hit.kind for hit in memory.recall("boat", words_only=words_only).hits} == {
        "message",
        "fact",
        "note",
    }
    assert memory.recall("boat", kinds=["template"], words_only=words_only).hits == ()


@BOTH
def test_a_passage_of_another_part_has_its_own_name(memory: Memory, words_only: bool) -> None:
    put(
        memory, "fact", "port.cache", "the cache listens on 5433", at=NOW - DAY, session_id="s", speaker="Ana"
    )
    (hit,) = memory.recall("cache 5433", words_only=words_only).hits
    assert (hit.kind, hit.ref, hit.session_id, hit.speaker) == ("fact", "port.cache", "s", "Ana")
    assert (hit.text, hit.place, hit.at) == ("the cache listens on 5433", (0, 25), NOW - DAY)


@BOTH
def test_passages_keep_to_the_time_too(memory: Memory, words_only: bool) -> None:
    for days in (1, 5, 9):
        put(memory, "fact", f"f{days}", f"boat number {days}", at=NOW - days * DAY)
    found = memory.recall("boat", since=NOW - 6 * DAY, until=NOW - 5 * DAY + 1, words_only=words_only).hits
    assert [hit.ref for hit in found] == ["f5"]


@BOTH
def test_a_fact_of_an_excluded_session_is_excluded(memory: Memory, words_only: bool) -> None:
    put(memory, "fact", "f1", "the boat is green", session_id="s1")
    put(memory, "fact", "f2", "the boat is blue", session_id="s2")
    found = memory.recall("boat", exclude_session_ids=["s1"], words_only=words_only).hits
    assert [hit.ref for hit in found] == ["f2"]


# --- what is no longer so ---------------------------------------------------------------------


@BOTH
def test_what_was_superseded_is_found_only_by_a_question_about_the_past(
    memory: Memory, tell: Tell, words_only: bool
) -> None:
    put(memory, "fact", "former", "the cache port of staging is 5433", live=False, at=NOW)
    put(memory, "fact", "present", "some port of a cache", at=NOW - 300 * DAY)
    tell("s", "a cache", "hm")
    found = memory.recall("what is the cache port of staging, 5433?", words_only=words_only).hits
    assert {"present"} <= {hit.ref for hit in found}
    assert "former" not in {hit.ref for hit in found}
    past = memory.recall("what was the cache port of staging before?", words_only=words_only).hits
    assert past[0].ref == "former"


@BOTH
def test_what_was_forgotten_is_nowhere(memory: Memory, tell: Tell, words_only: bool) -> None:
    ids = tell("s", "Which colour is the boat?", "the boat is vermilion", "A fine colour for a boat.")
    assert "vermilion" in memory.recall("boat colour", words_only=words_only).text
    memory.forget(f"message:{ids[1]}")
    for query in ("boat colour", "vermilion", "the boat is vermilion", "Which colour is the boat?"):
        found = memory.recall(query, words_only=words_only)
        assert ids[1] not in {hit.ref for hit in found.hits}
        assert "vermilion" not in found.text
        assert "forgotten" not in found.text
        assert "vermilion" not in repr(found.hits)


@BOTH
def test_what_was_deleted_is_nowhere_and_comes_back_when_that_is_undone(
    memory: Memory, tell: Tell, words_only: bool
) -> None:
    tell("s", "the boat is vermilion", "so it is")
    tell("t", "the boat is blue")
    memory.sessions.delete_session("s")
    found = memory.recall("vermilion boat", words_only=words_only)
    assert {hit.session_id for hit in found.hits} == {"t"}
    assert "vermilion" not in found.text
    memory.undo()
    assert first(memory, "vermilion boat", words_only=words_only) == "the boat is vermilion"


@BOTH
def test_a_passage_that_was_replaced_says_the_new_text_only(memory: Memory, words_only: bool) -> None:
    put(memory, "fact", "f", "the boat is vermilion")
    memory.recall("boat")
    put(memory, "fact", "f", "the boat is blue")
    found = memory.recall("vermilion boat", words_only=words_only)
    assert texts(found) == ["the boat is blue"]
    memory.storage.write(lambda tx: tx.passages.remove("fact", "f"))
    assert memory.recall("boat", words_only=words_only).hits == ()


def test_another_space_is_never_seen(home: Path) -> None:
    with mnemos.open(home, space="theirs", clock=FixedClock(NOW)) as theirs:
        told(theirs, "s", "our boat is vermilion", "so it is")
        put(theirs, "fact", "f", "boat: vermilion")
        theirs.embedding.catch_up()
        with mnemos.open(home, space="mine", clock=FixedClock(NOW)) as mine:
            assert mine.recall("vermilion boat").hits == ()
            told(mine, "s", "my boat is blue", "so it is")
            for query in ("vermilion boat", "our boat", "what was said a month ago?"):
                for words_only in (False, True):
                    found = mine.recall(query, words_only=words_only, limit=50)
                    assert "vermilion" not in repr(found.hits)
                    assert "vermilion" not in found.text
        assert "vermilion" in first(theirs, "boat")


def test_a_question_about_a_time_alone_is_answered_from_all_over_it(memory: Memory) -> None:
    for month, day in [(5, 20), (6, 2), (6, 12), (6, 25), (7, 3), (7, 4)]:
        said_at = datetime(2023, month, day, 12, tzinfo=UTC).timestamp()
        session = f"{month}-{day}"
        memory.sessions.create_session(session, "cli", started_at=said_at)
        for number in range(20):
            text = f"We painted fence {number} of house {day}"
            memory.sessions.append_message(session, "user", text, timestamp=said_at + number)
    found = {hit.session_id for hit in memory.recall("What happened in June 2023?", limit=40).hits}
    assert {"6-2", "6-12", "6-25"} <= found
    assert "5-20" not in found
