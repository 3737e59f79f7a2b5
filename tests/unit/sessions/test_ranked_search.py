"""``session_search`` for questions in plain words: conversations in the order of recall's ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mnemos import Memory, SessionDB
from mnemos.testing import FixedClock

DAY = 86_400.0
Said = Callable[..., list[int]]


@pytest.fixture
def memory(clock: FixedClock) -> Iterator[Memory]:
    with Memory.at(":memory:", clock=clock) as opened:
        yield opened


@pytest.fixture
def said(memory: Memory, clock: FixedClock) -> Said:
    """Stores a session, days ago; a turn is a text of the user, or a role and a text."""

    def store(
        session_id: str, *turns: str | tuple[str, str], days: float = 30, source: str = "cli"
    ) -> list[int]:
        memory.sessions.create_session(session_id, source)
        pairs = [("user", turn) if isinstance(turn, str) else turn for turn in turns]
        messages = [
            {"role": role, "content": text, "timestamp": clock() - days * DAY + number}
            for number, (role, text) in enumerate(pairs)
        ]
        return memory.sessions.append_messages(session_id, messages)

    return store


@pytest.fixture
def talks(said: Said) -> None:
    said(
        "database",
        "we migrated Postgres last Tuesday",
        ("assistant", "Shall I note it in the runbook?"),
        days=20,
    )
    said("kitchen", "my sourdough starter is called Bubbles", ("assistant", "A lovely name."), days=10)
    said("garden", "the beans grow well this year", ("assistant", "Good to hear."), days=5)


def conversations(memory: Memory, query: str, **more: Any) -> list[dict[str, Any]]:
    answer = memory.sessions.session_search(query, **more)
    assert answer["mode"] == "discovery"
    found: list[dict[str, Any]] = answer["conversations"]
    return found


def ids(memory: Memory, query: str, **more: Any) -> list[str]:
    return [conversation["session_id"] for conversation in conversations(memory, query, **more)]


# --- what is found ----------------------------------------------------------------------------


@pytest.mark.usefixtures("talks")
def test_a_question_in_other_words_finds_its_conversation(memory: Memory) -> None:
    assert ids(memory, "when did we move the database?")[0] == "database"


@pytest.mark.usefixtures("talks")
@pytest.mark.parametrize(
    ("query", "session"),
    [
        ("postgres migration", "database"),
        ("how is the sourdough starter called?", "kitchen"),
        ("growing beans", "garden"),
    ],
)
def test_forms_of_words_find_it(memory: Memory, query: str, session: str) -> None:
    assert ids(memory, query)[0] == session


@pytest.mark.usefixtures("talks")
@pytest.mark.parametrize("query", ["zebra crossing", "qwertyuiop", "🦄"])
def test_what_has_nothing_of_the_question_is_not_found(memory: Memory, query: str) -> None:
    assert ids(memory, query) == []


@pytest.mark.usefixtures("talks")
def test_the_first_conversation_is_that_of_the_first_hit_of_recall(memory: Memory) -> None:
    for query in (
        "when did we move the database?",
        "sourdough",
        "how do the beans grow?",
        "what is its name?",
    ):
        hits = memory.recall(query, kinds=["message"]).hits
        found = conversations(memory, query)
        if found:
            assert found[0]["session_id"] == hits[0].session_id


def test_a_neighbour_without_words_of_the_question_is_not_a_hit(memory: Memory, said: Said) -> None:
    first, _, _ = said("s", "the kayak leaks", "oh", "never mind")
    (conversation,) = conversations(memory, "kayak")
    assert conversation["best"]["message_id"] == first
    assert conversation["hits"] == 1
    assert conversation["others"] == []


def test_the_snippet_marks_the_words(memory: Memory, said: Said) -> None:
    said("s", "we migrated the tables of Postgres")
    (conversation,) = conversations(memory, "migrating postgres")
    assert ">>>migrated<<<" in conversation["best"]["snippet"]
    assert ">>>Postgres<<<" in conversation["best"]["snippet"]


@pytest.mark.usefixtures("talks")
def test_a_hit_without_the_words_is_shown_without_marks(memory: Memory) -> None:
    (conversation, *_) = conversations(memory, "when did we move the database?")
    assert conversation["best"]["snippet"] == "we migrated Postgres last Tuesday"


def test_results_say_whether_messages_have_all_the_words(memory: Memory, said: Said) -> None:
    said("s", "the red kayak leaks", "a kayak")
    assert memory.sessions.session_search("red kayak")["partial"] is False
    assert memory.sessions.session_search("red kayak paddle")["partial"] is True
    assert memory.sessions.session_search("qwertyuiop")["partial"] is False


def test_talkative_conversations_do_not_hide_others(memory: Memory, said: Said) -> None:
    said("talkative", *(f"the kayak again, number {n}" for n in range(120)), days=3)
    said("another", "a kayak once", days=200)
    said("third", "a blue kayak", days=300)
    assert set(ids(memory, "kayak", limit=3)) == {"talkative", "another", "third"}


def test_peoples_conversations_come_before_scheduled_ones(memory: Memory, said: Said) -> None:
    said("nightly", "backup of the kayak photos done", days=1, source="cron")
    said("mine", "where are the photos of the kayak?", days=200)
    assert ids(memory, "kayak photos") == ["mine", "nightly"]


# --- when the ranking is not asked ------------------------------------------------------------


@pytest.mark.usefixtures("talks")
@pytest.mark.parametrize(
    "query", ['"move database"', "move -postgres", "datab*", "move AND database", "move OR shift"]
)
def test_the_query_language_means_what_it_says(memory: Memory, query: str) -> None:
    """None of these words is anywhere: what is near in meaning was not asked for."""
    assert ids(memory, query) == []


@pytest.mark.usefixtures("talks")
@pytest.mark.parametrize("sort", ["newest", "oldest"])
def test_an_order_by_time_is_by_words_and_time_alone(memory: Memory, said: Said, sort: str) -> None:
    said("early", "my kayak is red", days=300)
    said("late", "kayak", days=2)
    expected = ["late", "early"] if sort == "newest" else ["early", "late"]
    assert ids(memory, "kayak", sort=sort) == expected
    assert ids(memory, "when did we move the database?", sort=sort) != ["database"]


# --- filters ----------------------------------------------------------------------------------


@pytest.fixture
def kayaks(said: Said) -> None:
    turns = ["my kayak leaks", ("assistant", "Is the kayak old?"), "no", ("assistant", "Then patch it.")]
    said("one", *turns, days=40, source="cli")
    said("two", *turns, days=20, source="telegram")
    said("three", *turns, days=5, source="telegram")


@pytest.mark.usefixtures("kayaks")
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, {"one", "two", "three"}),
        ({"source": "telegram"}, {"two", "three"}),
        ({"exclude_session_ids": ["two"]}, {"one", "three"}),
        ({"current_session_id": "three"}, {"one", "two"}),
        ({"session_id": "one"}, {"one"}),
        ({"source": "telegram", "current_session_id": "three"}, {"two"}),
    ],
)
def test_filters_hold(memory: Memory, filters: dict[str, Any], expected: set[str]) -> None:
    assert set(ids(memory, "which kayak leaks?", **filters)) == expected


@pytest.mark.usefixtures("kayaks")
def test_times_hold(memory: Memory, clock: FixedClock) -> None:
    assert set(ids(memory, "kayak leaks", since=clock() - 30 * DAY)) == {"two", "three"}
    assert set(ids(memory, "kayak leaks", until=clock() - 30 * DAY)) == {"one"}


@pytest.mark.usefixtures("kayaks")
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_only_messages_of_the_role_are_hits(memory: Memory, role: str) -> None:
    found = conversations(memory, "kayak", role_filter=role)
    assert {conversation["best"]["role"] for conversation in found} == {role}
    assert {conversation["hits"] for conversation in found} == {1}


@pytest.mark.usefixtures("kayaks")
def test_an_unused_role_finds_nothing(memory: Memory) -> None:
    assert ids(memory, "kayak", role_filter="system") == []


# --- anywhere ---------------------------------------------------------------------------------


def test_a_session_database_ranks_too(tmp_path: Any, clock: FixedClock) -> None:
    with SessionDB(tmp_path / "state.db", clock=clock) as db:
        db.create_session("s", "cli")
        db.append_message("s", "user", "we migrated Postgres last Tuesday")
        answer = db.session_search("when did we move the database?")
        assert [c["session_id"] for c in answer["conversations"]] == ["s"]


@pytest.mark.parametrize("where", [":memory:", None])
def test_without_an_embedder_words_decide(where: str | None, clock: FixedClock) -> None:
    with Memory.at(where, clock=clock, embedder="none") as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", "we migrated Postgres last Tuesday")
        assert ids(memory, "postgres migrations") == ["s"]
        assert ids(memory, "when did we move the database?") == []


@pytest.mark.usefixtures("talks")
def test_what_was_forgotten_or_deleted_is_not_found(memory: Memory) -> None:
    best = conversations(memory, "when did we move the database?")[0]["best"]["message_id"]
    memory.forget(f"message:{best}")
    assert "database" not in ids(memory, "migrated Postgres")
    memory.sessions.delete_session("kitchen")
    assert "kitchen" not in ids(memory, "how is the sourdough starter called?")


@pytest.mark.usefixtures("talks")
def test_the_same_question_has_the_same_answer(memory: Memory) -> None:
    for query in ("when did we move the database?", "beans", "sourdough name"):
        assert memory.sessions.session_search(query) == memory.sessions.session_search(query)
