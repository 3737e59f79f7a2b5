"""Answers of recall: the piece, the reasons, the text, and the same each time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conversations import BOTH, CONVERSATIONS, TRIPS, Tell, first, texts, told
from scenes import DAY, NOW

import mnemos
from mnemos import Memory
from mnemos.testing import FixedClock
from mnemos.text.tokens import count_tokens
from mnemos.text.words import fold

pytestmark = pytest.mark.usefixtures("utc")


# --- long messages, other content -------------------------------------------------------------

PARAGRAPH = "The nightly job copies the tables, checks the sums and writes a report for the team.\n\n"
NEEDLE = "   The vault password rotates every 45 days, says the runbook.   \n\n"


@BOTH
@pytest.mark.parametrize(("before", "after"), [(0, 60), (30, 30), (60, 0), (1_500, 400), (2_500, 0)])
def test_of_a_long_message_the_piece_that_answers_is_shown_with_its_place(
    memory: Memory, tell: Tell, before: int, after: int, words_only: bool
) -> None:
    long = PARAGRAPH * before + NEEDLE + PARAGRAPH * after
    ids = tell("s", "hello", long, "thanks")
    hit = memory.recall("how often does the vault password rotate?", words_only=words_only).hits[0]
    assert hit.ref == ids[1]
    assert "45 days" in hit.text
    assert len(hit.text) <= 1_500
    assert long[slice(*hit.place)] == hit.text


@BOTH
def test_a_message_with_the_words_in_many_places_is_one_hit(
    memory: Memory, tell: Tell, words_only: bool
) -> None:
    (id,) = tell("s", (PARAGRAPH + "The vault is open. ") * 3_000)
    tell("t", "a vault", "so")
    found = memory.recall("vault", words_only=words_only, limit=50).hits
    assert [hit.ref for hit in found].count(id) == 1
    assert len(found) == len({hit.ref for hit in found})


@BOTH
def test_matches_alone_come_without_the_messages_next_to_them(
    memory: Memory, tell: Tell, words_only: bool
) -> None:
    ids = tell("s", "Hello.", "The parrot lives in the garden.", "Yes.", "Tea, please.")
    asked = "Where does the parrot live?"
    found = memory.recall(asked, words_only=words_only, matches_only=True)
    assert [hit.ref for hit in found.hits] == [ids[1]]
    assert len(memory.recall(asked, words_only=words_only).hits) > 1


@BOTH
def test_what_a_tool_said_and_was_asked_is_found(memory: Memory, tell: Tell, words_only: bool) -> None:
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "read_file", "arguments": '{"path": "/srv/ledger.py"}'},
    }
    ids = tell(
        "s",
        "have a look",
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "exit code 137: worker-7 ran out of memory", "tool_name": "bash"},
        ("assistant", "The worker needs more."),
    )
    assert memory.recall("worker exit code 137", words_only=words_only).hits[0].ref == ids[2]
    assert memory.recall("ledger.py", words_only=words_only).hits[0].ref == ids[1]


@BOTH
def test_content_of_several_parts_is_found_by_its_text(memory: Memory, tell: Tell, words_only: bool) -> None:
    parts = [
        {"type": "text", "text": "this heron stands at the pond"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAAherring"}},
        {"type": "text", "text": "and catches carp"},
    ]
    ids = tell(
        "s",
        {"role": "user", "content": parts},
        {"role": "user", "content": [{"type": "text", "text": PARAGRAPH * 40}]},
    )
    hit = memory.recall("heron carp", words_only=words_only).hits[0]
    assert (hit.ref, hit.text) == (ids[0], "this heron stands at the pond\nand catches carp")
    assert "base64" not in memory.recall("image base64 heron", words_only=words_only).text
    long = memory.recall("nightly tables", words_only=words_only).hits[0]
    assert long.ref == ids[1]
    assert (PARAGRAPH * 40)[slice(*long.place)] == long.text


# --- what is said about the hits --------------------------------------------------------------

QUESTIONS = [
    "when did we move the database?", "port 5433", "what did Ben adopt?", "which trips did you suggest?",
    "what did we do last Tuesday?", "how many retries?", "who is on call?", "closeIdle", "reunion jeudi",
    "数据库", "猫の名前は何ですか", "Schlussel", "what is my current favourite editor?", "train",
]  # fmt: skip


@BOTH
@pytest.mark.parametrize("question", QUESTIONS)
def test_reasons_are_true(everything: Memory, question: str, words_only: bool) -> None:
    for hit in everything.recall(question, words_only=words_only, limit=50).hits:
        reasons = "; ".join(hit.why)
        said = [
            word for why in hit.why if why.startswith("contains '") for word in re.findall(r"'([^']+)'", why)
        ]
        assert all(word in fold(hit.text) for word in said), (hit.text, hit.why)
        for name in re.findall(r"said by (\w+)", reasons):
            assert name == hit.speaker
        if "from the time asked about" in reasons:
            assert re.search(r"Tuesday", question)
        if "has a number" in reasons:
            assert re.search(r"\d|seven|three|half|hour", hit.text)
        if words_only:
            assert "meaning" not in reasons


@BOTH
def test_the_words_that_are_reported_are_in_the_piece_that_is_shown(
    memory: Memory, tell: Tell, words_only: bool
) -> None:
    tell(
        "s",
        PARAGRAPH * 30 + "The vault password rotates often.\n\n" + "Lunch is at noon. " * 300 + "A gazebo.",
    )
    (hit,) = memory.recall("vault password gazebo", words_only=words_only).hits
    for word in re.findall(r"'([^']+)'", hit.why[0]):
        assert word in fold(hit.text)


@BOTH
@pytest.mark.parametrize("question", QUESTIONS)
def test_scores_descend_and_nothing_comes_twice(everything: Memory, question: str, words_only: bool) -> None:
    found = everything.recall(question, words_only=words_only, limit=100).hits
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert len({(hit.kind, hit.ref) for hit in found}) == len(found)


@BOTH
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_hit_is_what_the_store_has(everything: Memory, question: str, words_only: bool) -> None:
    for hit in everything.recall(question, words_only=words_only, limit=100).hits:
        assert isinstance(hit.ref, int)
        (message,) = everything.sessions.get_messages_around(hit.ref, before=0, after=0)
        assert (message["session_id"], message["timestamp"]) == (hit.session_id, hit.at)
        assert message["content"][slice(*hit.place)] == hit.text


@BOTH
def test_fewer_hits_are_the_first_of_many(everything: Memory, words_only: bool) -> None:
    many = everything.recall("gateway port cache", words_only=words_only, limit=50).hits
    for limit in (1, 3, 10):
        assert (
            everything.recall("gateway port cache", words_only=words_only, limit=limit).hits == many[:limit]
        )


def test_the_text_keeps_to_its_budget_and_counts_what_it_leaves_out(everything: Memory) -> None:
    for budget in (0, 20, 60, 150, 400, 5_000):
        found = everything.recall("port cache gateway trips train", budget=budget, limit=30)
        assert count_tokens(found.text) <= budget
        assert 0 <= found.left_out <= len(found.hits)
        assert bool(found.text) == (found.left_out < len(found.hits))
    assert everything.recall("port cache").left_out == 0


def test_without_a_limit_and_a_budget_twenty_hits_come_back_and_2400_tokens(
    tell: Tell, memory: Memory
) -> None:
    tell("boats", *(f"boat {number}: {'a green boat with a sail ' * 40}{number}" for number in range(30)))
    found = memory.recall("which boat has a green sail?")
    assert len(found.hits) == 20
    assert 0 < found.left_out < 20
    assert 2_000 < count_tokens(found.text) <= 2_400
    tool = memory.call("recall", {"query": "which boat has a green sail?"})
    assert (len(tool["hits"]), tool["packed"]) == (20, found.text)


def test_the_text_shows_the_hits_dated_and_fenced(everything: Memory) -> None:
    found = everything.recall("which port does the staging cache listen on?", limit=2)
    assert found.text.startswith("<recalled-memory>\n")
    assert found.text.endswith("\n</recalled-memory>")
    assert "2026-03-10" in found.text
    assert all(hit.text in found.text for hit in found.hits)


def test_the_long_list_of_an_assistant_is_shown_whole(everything: Memory) -> None:
    (hit,) = everything.recall("which day trips did you suggest from Lisbon?", limit=1).hits
    assert hit.text == TRIPS


# --- what was used ----------------------------------------------------------------------------


def test_the_kind_of_search_is_reported(everything: Memory) -> None:
    assert everything.recall("boat").mode == "lexical+static"
    assert everything.recall("boat").coverage == 1.0
    alone = everything.recall("boat", words_only=True)
    assert (alone.mode, alone.coverage, alone.notes) == ("lexical", 0.0, ())


def test_a_time_that_was_understood_is_reported(everything: Memory) -> None:
    (note,) = everything.recall("what broke last Tuesday?").notes
    assert "17 March 2026" in note
    (note,) = everything.recall("what broke last Tuesday?", now=NOW - 7 * DAY).notes
    assert "10 March 2026" in note
    (note,) = everything.recall("what broke in February?", words_only=True).notes
    assert "1 February 2026" in note
    assert "28 February 2026" in note
    assert "March" not in "".join(everything.recall("what broke before March 2026?").notes)


def test_a_memory_without_an_embedder_works_by_words(utc: None) -> None:
    with Memory.at(":memory:", clock=FixedClock(NOW), embedder="none") as memory:
        told(memory, "s", "the boat is green")
        found = memory.recall("green boat")
        assert (texts(found), found.mode, found.coverage) == (["the boat is green"], "lexical", 0.0)


def test_an_empty_memory_answers_nothing(memory: Memory) -> None:
    for query in ("boat", "", "what did we do last Tuesday?"):
        found = memory.recall(query)
        assert (found.hits, found.text, found.left_out, found.query) == ((), "", 0, query)


def test_what_was_said_a_moment_ago_is_found_by_its_meaning(memory: Memory, tell: Tell) -> None:
    tell("old", "the garden is full of weeds")
    memory.recall("anything")
    tell("new", "we migrated Postgres to the other machine")
    assert "Postgres" in first(memory, "when did we move the database?")


# --- the same again ---------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_same_question_has_the_same_answer(everything: Memory, question: str, words_only: bool) -> None:
    once = everything.recall(question, words_only=words_only, limit=30)
    assert everything.recall(question, words_only=words_only, limit=30) == once


def test_the_answer_is_the_same_after_closing_and_opening_again(home: Path) -> None:
    with mnemos.open(home, clock=FixedClock(NOW)) as memory:
        for session_id, (moment, turns) in CONVERSATIONS.items():
            told(memory, session_id, *turns, at=moment)
        memory.embedding.catch_up()
        before = [memory.recall(question, limit=30) for question in QUESTIONS]
    with mnemos.open(home, clock=FixedClock(NOW)) as memory:
        assert [memory.recall(question, limit=30) for question in QUESTIONS] == before
    with mnemos.open(home, clock=FixedClock(NOW), read_only=True) as memory:
        assert [memory.recall(question, limit=30) for question in QUESTIONS] == before


@BOTH
def test_the_order_in_which_conversations_were_stored_makes_no_difference(words_only: bool) -> None:
    answers = []
    for order in (list(CONVERSATIONS), list(reversed(CONVERSATIONS))):
        with Memory.at(":memory:", clock=FixedClock(NOW)) as memory:
            for session_id in order:
                moment, turns = CONVERSATIONS[session_id]
                told(memory, session_id, *turns, at=moment)
            memory.embedding.catch_up()
            answers.append(
                [
                    [(hit.session_id, hit.at, hit.text, hit.why) for hit in found.hits]
                    for found in (memory.recall(q, words_only=words_only, limit=10) for q in QUESTIONS)
                ]
            )
    assert answers[0] == answers[1]
