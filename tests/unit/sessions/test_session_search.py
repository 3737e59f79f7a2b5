"""``session_search``: modes, conversations found, and the size of answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.errors import InvalidInput, MnemosError, NotFound
from mnemos.memory import Memory
from mnemos.sessions.session_search import BUDGET
from mnemos.testing import FixedClock
from mnemos.text.tokens import count_tokens

# The budget is kept by an estimate of what each piece costs; pieces joined may cost a little more.
ROOM = BUDGET * 1.05

Said = Callable[..., list[int]]


@pytest.fixture
def memory(clock: FixedClock) -> Iterator[Memory]:
    with Memory.at(":memory:", clock=clock) as opened:
        yield opened


@pytest.fixture
def said(memory: Memory, clock: FixedClock) -> Said:
    """Store a session whose messages come a minute apart; their ids."""

    def store(
        session_id: str, *texts: str, source: str = "cli", role: str = "user", **more: Any
    ) -> list[int]:
        memory.sessions.create_session(session_id, source, **more)
        ids = []
        for text in texts:
            clock.advance(60.0)
            ids.append(memory.sessions.append_message(session_id, role, text))
        return ids

    return store


def found(memory: Memory, query: str, **more: Any) -> list[str]:
    """The sessions of the conversations that were found, best first."""
    answer = memory.call("session_search", {"query": query, **more})
    assert answer["mode"] == "discovery"
    return [conversation["session_id"] for conversation in answer["conversations"]]


# --- what is asked for ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_arguments", "mode"),
    [
        ({}, "browse"),
        ({"query": ""}, "browse"),
        ({"query": "  "}, "browse"),
        ({"source": "cli"}, "browse"),
        ({"session_id": "s"}, "read"),
        ({"session_id": "s", "query": " "}, "read"),
        ({"query": "cake"}, "discovery"),
        ({"query": "cake", "session_id": "s"}, "discovery"),
        ({"around_message_id": 1}, "scroll"),
        ({"around_message_id": 1, "session_id": "s"}, "scroll"),
        ({"around_message_id": 1, "query": "cake"}, "scroll"),
    ],
)
def test_what_is_given_says_what_is_wanted(
    memory: Memory, said: Said, given_arguments: dict[str, Any], mode: str
) -> None:
    said("s", "a cake", "and bread")
    assert memory.call("session_search", given_arguments)["mode"] == mode


@pytest.mark.parametrize(
    "given_arguments",
    [
        {"session_id": "nobody"},
        {"session_id": "nobody", "query": "cake"},
        {"around_message_id": 99},
        {"around_message_id": 0},
    ],
)
def test_unknown_ids_are_not_found(memory: Memory, said: Said, given_arguments: dict[str, Any]) -> None:
    said("s", "a cake")
    with pytest.raises(NotFound):
        memory.call("session_search", given_arguments)


def test_a_query_of_signs_only_finds_nothing(memory: Memory, said: Said) -> None:
    said("s", "a cake")
    for query in ("!!!", "-cake", '""', "*", "\x00", "OR"):
        answer = memory.call("session_search", {"query": query})
        assert answer["text"].strip()


def test_an_empty_memory_answers_every_question(memory: Memory) -> None:
    assert memory.call("session_search")["sessions"] == []
    answer = memory.call("session_search", {"query": "cake"})
    assert (answer["conversations"], answer["more"], answer["partial"]) == ([], 0, False)
    assert answer["text"].startswith("Nothing found")


def test_values_outside_their_range_are_invalid_input_in_python_too(memory: Memory, said: Said) -> None:
    said("s", "a cake")
    for wrong in (
        {"limit": -1},
        {"limit": 2.5},
        {"window": -1},
        {"sort": "best"},
        {"since": "then"},
        {"limit": True},
    ):
        with pytest.raises(InvalidInput):
            memory.sessions.session_search("cake", **wrong)  # type: ignore[arg-type]


# --- discovery ------------------------------------------------------------------------------


def test_the_best_hit_comes_with_what_surrounds_it_and_the_ends_of_its_session(
    memory: Memory, said: Said
) -> None:
    ids = said(
        "s",
        "the opening",
        "second",
        *["filler"] * 10,
        "before",
        "a lemon cake",
        "after",
        *["filler"] * 10,
        "the close",
    )
    answer = memory.call("session_search", {"query": "lemon cake", "window": 1})
    (conversation,) = answer["conversations"]
    best = conversation["best"]
    assert best["message_id"] == ids[13]
    assert [m["content"] for m in best["around"]] == ["before", "a lemon cake", "after"]
    assert ">>>lemon<<<" in best["snippet"]
    assert "the opening" in [m["content"] for m in conversation["opening"]]
    assert "the close" in [m["content"] for m in conversation["closing"]]
    for words in ("before", "after", "the opening", "the close", f"[{ids[13]}]"):
        assert words in answer["text"]


def test_no_message_is_repeated_when_the_hit_is_near_an_end(memory: Memory, said: Said) -> None:
    said("s", "the opening", "a lemon cake", "the close")
    (conversation,) = memory.call("session_search", {"query": "cake"})["conversations"]
    ids = [m["message_id"] for part in ("opening", "closing") for m in conversation[part]]
    ids += [m["message_id"] for m in conversation["best"]["around"]]
    assert len(ids) == len(set(ids)) == 3


def test_other_hits_of_a_conversation_are_listed_in_short(memory: Memory, said: Said) -> None:
    ids = said("s", *["a cake"] * 3, *["bread"] * 30)
    (conversation,) = memory.call("session_search", {"query": "cake", "window": 0})["conversations"]
    told = {conversation["best"]["message_id"], *(m["message_id"] for m in conversation["others"])}
    assert told == set(ids[:3])
    assert conversation["hits"] == 3


def test_a_conversation_split_by_compression_is_one_result(memory: Memory, said: Said) -> None:
    said("first", "a cake to begin with")
    memory.sessions.end_session("first", "compression")
    said("second", "more about the cake", parent_session_id="first")
    memory.sessions.end_session("second", "compression")
    said("third", "the cake at last", parent_session_id="second")
    said("another", "a cake elsewhere")
    answer = memory.call("session_search", {"query": "cake", "limit": 10})
    roots = [c["root_session_id"] for c in answer["conversations"]]
    assert sorted(roots) == ["another", "first"]
    assert sorted(c["hits"] for c in answer["conversations"]) == [1, 3]


def test_a_delegated_task_is_a_conversation_of_its_own(memory: Memory, said: Said) -> None:
    said("talk", "a cake")
    said("task", "bake the cake", source="subagent", parent_session_id="talk")
    assert sorted(found(memory, "cake")) == ["talk", "task"]


def test_what_a_schedule_started_comes_after_what_people_said(memory: Memory, said: Said) -> None:
    said("nightly", "backup finished", source="cron")
    said("person", "I wonder, among a great many other things, whether the backup of the shop ever finished")
    said("beat", "backup finished", source="heartbeat")
    assert found(memory, "backup finished")[0] == "person"
    assert sorted(found(memory, "backup finished")[1:]) == ["beat", "nightly"]


def test_many_scheduled_reports_do_not_hide_what_a_person_said(memory: Memory, said: Said) -> None:
    said("person", "I wonder, among a great many other things, whether the backup of the shop ever finished")
    for number in range(120):
        said(f"nightly-{number}", "backup finished", source="cron")
    assert found(memory, "backup finished")[0] == "person"


def test_a_talkative_conversation_does_not_hide_the_others(memory: Memory, said: Said) -> None:
    said("quiet", "I wonder, among a great many other things, when we are going to deploy this")
    said("talkative", *["deploy"] * 150)
    said("less quiet", "We ought to deploy on a day when there is somebody at hand to look at it")
    assert sorted(found(memory, "deploy")) == ["less quiet", "quiet", "talkative"]


def test_the_number_of_omitted_conversations_is_reported(memory: Memory, said: Said) -> None:
    for number in range(7):
        said(f"s{number}", "a cake")
    answer = memory.call("session_search", {"query": "cake", "limit": 2})
    assert len(answer["conversations"]) == 2
    assert answer["more"] == 5


def test_the_current_session_is_left_out_but_not_what_compression_took_from_it(
    memory: Memory, said: Said
) -> None:
    said("past", "a cake long ago")
    memory.sessions.end_session("past", "compressed")
    said("now", "the cake we talk about", parent_session_id="past")
    said("elsewhere", "another cake")
    assert sorted(found(memory, "cake", current_session_id="now")) == ["elsewhere", "past"]
    assert "now" in found(memory, "talk about", limit=10)
    assert found(memory, "talk about", current_session_id="now") == []


def test_a_current_session_that_was_never_written_excludes_nothing(memory: Memory, said: Said) -> None:
    said("s", "a cake")
    assert found(memory, "cake", current_session_id="not yet") == ["s"]


def test_excluded_sessions_are_left_out(memory: Memory, said: Said) -> None:
    for name in ("a", "b", "c"):
        said(name, "a cake")
    assert found(memory, "cake", exclude_session_ids=["a", "c"]) == ["b"]
    assert found(memory, "cake", exclude_session_ids=["a", "unknown"], current_session_id="b") == ["c"]


def test_a_search_may_stay_within_a_session_a_source_or_a_role(memory: Memory, said: Said) -> None:
    said("a", "a cake", source="telegram")
    said("b", "a cake", role="assistant")
    said("c", "a cake")
    assert found(memory, "cake", session_id="c") == ["c"]
    assert found(memory, "cake", source="telegram") == ["a"]
    assert found(memory, "cake", role_filter="assistant") == ["b"]
    assert found(memory, "cake", role_filter="tool") == []


def test_a_search_may_stay_within_a_stretch_of_time(memory: Memory, said: Said, clock: FixedClock) -> None:
    start = clock.now
    for name in ("monday", "tuesday", "wednesday"):
        said(name, "a cake")
        clock.advance(86400.0)
    day = 86400.0
    assert found(memory, "cake", since=start + day, until=start + 2 * day) == ["tuesday"]
    assert sorted(found(memory, "cake", since=start + day)) == ["tuesday", "wednesday"]
    assert found(memory, "cake", until=start + day) == ["monday"]
    assert found(memory, "cake", since="2026-01-02", until="2026-01-03") == ["tuesday"]


def test_results_may_be_sorted_by_time(memory: Memory, said: Said) -> None:
    said("old", "a cake among very many other words that make it a poor match")
    said("middle", "cake", source="cron")
    said("new", "a cake among other words")
    assert found(memory, "cake", sort="newest") == ["new", "middle", "old"]
    assert found(memory, "cake", sort="oldest") == ["old", "middle", "new"]


def test_an_answer_that_lacks_words_says_so(memory: Memory, said: Said) -> None:
    said("s", "a lemon cake")
    assert memory.call("session_search", {"query": "lemon cake"})["partial"] is False
    answer = memory.call("session_search", {"query": "lemon cake recipe"})
    assert answer["partial"] is True
    assert [c["session_id"] for c in answer["conversations"]] == ["s"]
    assert "No message has all the words" in answer["text"]


def test_words_inside_a_tool_call_are_found(memory: Memory) -> None:
    memory.sessions.create_session("s", "cli")
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "read_file", "arguments": '{"path": "orders/slots.py"}'},
    }
    memory.sessions.append_message("s", "assistant", None, tool_calls=[call])
    assert found(memory, "slots.py") == ["s"]
    assert "read_file" in memory.call("session_search", {"query": "slots.py"})["text"]


# --- scroll, read, browse -------------------------------------------------------------------


@pytest.mark.parametrize(("window", "expected"), [(0, "5"), (1, "456"), (2, "34567"), (50, "0123456789")])
def test_scrolling_shows_the_window_on_either_side(
    memory: Memory, said: Said, window: int, expected: str
) -> None:
    ids = said("s", *"0123456789")
    said("other", "not this")
    answer = memory.call("session_search", {"around_message_id": ids[5], "window": window})
    assert "".join(m["content"] for m in answer["messages"]) == expected
    assert answer["session"]["session_id"] == "s"


def test_scrolling_keeps_the_message_that_was_asked_for_however_long_its_neighbours(
    memory: Memory, said: Said
) -> None:
    ids = said("s", *["long " * 5000] * 4, "the point", *["long " * 5000] * 4)
    answer = memory.call("session_search", {"around_message_id": ids[4], "window": 4})
    assert "the point" in [m["content"] for m in answer["messages"]]
    assert [m["message_id"] for m in answer["messages"]] == sorted(
        m["message_id"] for m in answer["messages"]
    )


def test_a_short_session_is_read_whole(memory: Memory, said: Said) -> None:
    said("s", *(f"message {number}" for number in range(20)))
    answer = memory.call("session_search", {"session_id": "s"})
    assert [m["content"] for m in answer["messages"]] == [f"message {n}" for n in range(20)]
    assert (answer["left_out"], answer["closing"]) == (0, [])


@pytest.mark.parametrize(("count", "words"), [(5, 2000), (12, 300), (20, 200), (40, 60), (500, 20)])
def test_a_long_session_is_read_from_both_ends(memory: Memory, said: Said, count: int, words: int) -> None:
    ids = said("s", *(f"m{number} " + "word " * words for number in range(count)))
    answer = memory.call("session_search", {"session_id": "s"})
    shown = [m["message_id"] for m in answer["messages"] + answer["closing"]]
    assert shown[0] == ids[0]
    assert shown[-1] == ids[-1]
    assert shown == sorted(set(shown))
    assert answer["left_out"] == count - len(shown)
    assert count_tokens(answer["text"]) <= ROOM


def test_omitted_messages_are_reported_in_their_place(memory: Memory, said: Said) -> None:
    said("s", "the first", *["word " * 300] * 30, "the last")
    text = memory.call("session_search", {"session_id": "s"})["text"]
    assert text.index("the first") < text.index("left out") < text.index("the last")


def test_an_empty_session_can_be_read(memory: Memory) -> None:
    memory.sessions.create_session("s", "cli", title="Nothing yet")
    answer = memory.call("session_search", {"session_id": "s"})
    assert (answer["messages"], answer["left_out"]) == ([], 0)
    assert "Nothing yet" in answer["text"]


def test_browsing_lists_the_newest_with_what_they_began_with(memory: Memory, said: Said) -> None:
    for number in range(5):
        said(f"s{number}", f"question {number}", "answer")
    answer = memory.call("session_search", {"limit": 2})
    assert [(s["session_id"], s["opening"]) for s in answer["sessions"]] == [
        ("s4", "question 4"),
        ("s3", "question 3"),
    ]
    assert "question 4" in answer["text"]


def test_browsing_leaves_out_what_is_archived_excluded_or_going_on(memory: Memory, said: Said) -> None:
    for name in ("a", "b", "c", "d"):
        said(name, "hello")
    memory.sessions.archive("a")
    answer = memory.call("session_search", {"exclude_session_ids": ["b"], "current_session_id": "c"})
    assert [s["session_id"] for s in answer["sessions"]] == ["d"]


def test_browsing_may_stay_within_a_source_and_a_stretch_of_time(
    memory: Memory, said: Said, clock: FixedClock
) -> None:
    start = clock.now
    for name in ("monday", "tuesday", "wednesday"):
        said(name, "hello", source="telegram" if name == "monday" else "cli")
        clock.advance(86400.0)
    between = {"since": start + 86400.0, "until": start + 2 * 86400.0}
    answers = [
        memory.call("session_search", asked)["sessions"] for asked in ({"source": "telegram"}, between)
    ]
    assert [[s["session_id"] for s in sessions] for sessions in answers] == [["monday"], ["tuesday"]]


# --- the budget -----------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        "word ",
        "予約は十二月",
        "émoji \U0001f980\U0001f44d\U0001f3fd ",
        "x" * 90,
        "0123456789",
        "{}[]();:\n",
        "a.b_cD/e\n",
        "ข้อความ",
        "\u200b\u2060",
    ]
)
TEXTS = st.builds(lambda piece, times: piece * times, PIECES, st.sampled_from([1, 20, 300]))
SESSIONS = st.lists(
    st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=8), st.sampled_from(["cli", "cron", "x" * 300])),
    min_size=1,
    max_size=10,
)


@given(
    SESSIONS,
    st.integers(1, 10),
    st.sampled_from([0, 1, 5, 50]),
    st.sampled_from(["needle", "needle word", "予約", "needle OR x*"]),
)
def test_an_answer_fits_the_budget_whatever_is_stored(
    sessions: list[tuple[str, list[str], str]], limit: int, window: int, query: str
) -> None:
    with Memory.at(":memory:", clock=FixedClock()) as memory:
        for number, (title, texts, source) in enumerate(sessions):
            memory.sessions.create_session(f"s{number}", source, title=" ".join(title.split())[:500])
            messages = [{"role": "user", "content": f"needle {text}"} for text in texts]
            ids = memory.sessions.append_messages(f"s{number}", messages)
        for asked in (
            {"query": query, "limit": limit, "window": window},
            {"session_id": f"s{len(sessions) - 1}"},
            {"around_message_id": ids[0], "window": window},
            {"limit": limit},
        ):
            assert count_tokens(memory.call("session_search", asked)["text"]) <= ROOM


def test_a_smaller_budget_is_kept_too(memory: Memory, said: Said) -> None:
    ids = said("s", *["needle " * 300] * 20)
    for budget in (200, 500, 1000):
        for asked in ({"query": "needle"}, {"session_id": "s"}, {"around_message_id": ids[3]}):
            answer = memory.sessions.session_search(**asked, budget=budget)  # type: ignore[arg-type]
            parts = [*answer.get("messages", ()), *answer.get("closing", ())]
            for conversation in answer.get("conversations", ()):
                parts += conversation["best"]["around"]
            assert sum(count_tokens(message["content"]) for message in parts) <= budget


def test_a_hit_deep_in_a_huge_message_is_shown(memory: Memory, said: Said) -> None:
    said("s", "word " * 20_000 + "the needle is here " + "word " * 20_000)
    answer = memory.call("session_search", {"query": "needle"})
    assert ">>>needle<<<" in answer["text"]
    assert count_tokens(answer["text"]) <= ROOM


def test_every_hit_of_many_conversations_fits_the_budget(memory: Memory, said: Said) -> None:
    for number in range(10):
        said(f"s{number}", *["needle " + "word " * 200] * 6)
    answer = memory.call("session_search", {"query": "needle", "limit": 10})
    assert len(answer["conversations"]) == 10
    assert all(f"s{number}" in answer["text"] for number in range(10))
    assert count_tokens(answer["text"]) <= ROOM


def test_an_unknown_id_costs_nothing_else(memory: Memory) -> None:
    with pytest.raises(MnemosError) as raised:
        memory.sessions.session_search(session_id="nobody")
    assert "nobody" in str(raised.value)
