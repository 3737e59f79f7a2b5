"""A stored session as a conversation that a chat API accepts."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemos import SessionDB


def call(call_id: str, name: str = "run") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": '{"a": 1}'}}


def talk(db: SessionDB, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    session_id = f"s{db.session_count()}"
    db.create_session(session_id, "cli")
    db.append_messages(session_id, messages)
    return db.get_messages_as_conversation(session_id)


def test_a_conversation_is_in_openai_format(db: SessionDB) -> None:
    assert talk(
        db,
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "hello"}], "metadata": {"x": 1}},
        {"role": "assistant", "content": None, "tool_calls": [call("c1"), call("c2")], "token_count": 3},
        {"role": "tool", "content": "one", "tool_call_id": "c1", "tool_name": "run"},
        {"role": "tool", "content": "two", "tool_call_id": "c2", "tool_name": "run"},
        {"role": "assistant", "content": "done"},
    ) == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        {"role": "assistant", "content": None, "tool_calls": [call("c1"), call("c2")]},
        {"role": "tool", "content": "one", "tool_call_id": "c1"},
        {"role": "tool", "content": "two", "tool_call_id": "c2"},
        {"role": "assistant", "content": "done"},
    ]


def test_an_empty_session_is_an_empty_conversation(db: SessionDB) -> None:
    assert talk(db) == []


def test_a_call_that_was_never_answered_is_left_out(db: SessionDB) -> None:
    assert talk(
        db,
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "wait", "tool_calls": [call("c1"), call("c2")]},
        {"role": "tool", "content": "one", "tool_call_id": "c1"},
        {"role": "user", "content": "hello?"},
    ) == [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "wait", "tool_calls": [call("c1")]},
        {"role": "tool", "content": "one", "tool_call_id": "c1"},
        {"role": "user", "content": "hello?"},
    ]


def test_a_message_of_unanswered_calls_alone_is_left_out(db: SessionDB) -> None:
    assert talk(
        db,
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call("c1")]},
    ) == [{"role": "user", "content": "go"}]


def test_an_answer_without_a_call_is_left_out(db: SessionDB) -> None:
    assert talk(
        db,
        {"role": "tool", "content": "stray", "tool_call_id": "c9"},
        {"role": "tool", "content": "nameless"},
        {"role": "user", "content": "go"},
    ) == [{"role": "user", "content": "go"}]


def test_an_answer_before_its_call_is_left_out(db: SessionDB) -> None:
    assert talk(
        db,
        {"role": "tool", "content": "early", "tool_call_id": "c1"},
        {"role": "assistant", "content": "calling", "tool_calls": [call("c1")]},
    ) == [{"role": "assistant", "content": "calling"}]


def test_a_call_under_a_used_id_needs_an_answer_of_its_own(db: SessionDB) -> None:
    """Some models name their calls call_0 in every turn."""
    assert talk(
        db,
        {"role": "assistant", "content": "first", "tool_calls": [call("call_0")]},
        {"role": "tool", "content": "one", "tool_call_id": "call_0"},
        {"role": "assistant", "content": "second", "tool_calls": [call("call_0")]},
        {"role": "user", "content": "are you there?"},
    ) == [
        {"role": "assistant", "content": "first", "tool_calls": [call("call_0")]},
        {"role": "tool", "content": "one", "tool_call_id": "call_0"},
        {"role": "assistant", "content": "second"},
        {"role": "user", "content": "are you there?"},
    ]


def test_roles_that_apis_do_not_know_are_left_out(db: SessionDB) -> None:
    said = [{"role": "note", "content": "x"}, {"role": "user", "content": "y"}]
    db.import_sessions([{"id": "s", "messages": said}])
    assert db.get_messages_as_conversation("s") == [{"role": "user", "content": "y"}]


def test_a_forgotten_message_keeps_the_conversation_valid(db: SessionDB) -> None:
    db.create_session("s", "cli")
    _, calling, _ = db.append_messages(
        "s",
        [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "secret", "tool_calls": [call("c1", "look")]},
            {"role": "tool", "content": "one", "tool_call_id": "c1"},
        ],
    )
    db.forget_message(calling)
    _, assistant, tool = db.get_messages_as_conversation("s")
    assert assistant["content"] is None
    assert assistant["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    ]
    assert tool["content"] == "one"


TURNS = st.lists(
    st.one_of(
        st.builds(lambda text: {"role": "user", "content": text}, st.sampled_from(["a", "b"])),
        st.builds(
            lambda ids, text: {"role": "assistant", "content": text, "tool_calls": [call(i) for i in ids]},
            st.lists(st.sampled_from("123"), unique=True, max_size=3),
            st.sampled_from([None, "", "text"]),
        ),
        st.builds(lambda i: {"role": "tool", "content": "r", "tool_call_id": i}, st.sampled_from("123")),
    ),
    max_size=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=TURNS)
def test_every_call_has_one_answer_and_every_answer_a_call(
    db: SessionDB, turns: list[dict[str, Any]]
) -> None:
    waiting: Counter[str] = Counter()
    for message in talk(db, *turns):
        if message["role"] == "tool":
            assert waiting[message["tool_call_id"]] == 1, "an answer without a call"
            waiting[message["tool_call_id"]] -= 1
        else:
            # APIs want the answers right after the calls.
            assert waiting.total() == 0, "a call without its answer"
            for one in message.get("tool_calls", ()):
                waiting[one["id"]] += 1
    assert waiting.total() == 0, "a call without its answer"
