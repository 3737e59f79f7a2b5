"""A turn of a host's as messages: with its tools, without what was recalled for it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from mnemos.integrations.providers.conversation import build_turn, extract_text, reduce_turn

BLOCK = "<recalled-memory>\nold\n</recalled-memory>"
CALL = {"id": "c1", "type": "function", "function": {"name": "shell", "arguments": "{}"}}
CONVERSATION: list[dict[str, Any]] = [
    {"role": "user", "content": "earlier"},
    {"role": "assistant", "content": "before"},
    {"role": "user", "content": f"Which port?\n{BLOCK}"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "name": "shell", "content": "5433"},
    {"role": "assistant", "content": "It is 5433."},
]


def turn(user: Any, assistant: Any, messages: Any = None, longest: int = 1_000) -> list[tuple[Any, ...]]:
    made = build_turn(user, assistant, messages, began=1.0, now=2.0, longest=longest)
    return [(message["role"], message["content"], message["timestamp"]) for message in made]


def test_without_the_conversation_a_turn_is_two_messages() -> None:
    assert turn("hello", "hi") == [("user", "hello", 1.0), ("assistant", "hi", 2.0)]


def test_tool_calls_and_results_come_between_the_two_messages() -> None:
    made = build_turn("Which port?", "It is 5433.", CONVERSATION, began=1.0, now=2.0, longest=1_000)
    assert [message["role"] for message in made] == ["user", "assistant", "tool", "assistant"]
    assert made[0]["content"] == "Which port?"
    assert made[1]["tool_calls"] == [CALL]
    assert (made[2]["tool_call_id"], made[2]["tool_name"], made[2]["content"]) == ("c1", "shell", "5433")
    assert made[3]["content"] == "It is 5433."


def test_an_answer_missing_from_the_conversation_is_added() -> None:
    assert turn("Which port?", "It is 5433.", CONVERSATION[:-1])[-1] == ("assistant", "It is 5433.", 2.0)


@pytest.mark.parametrize(
    "messages", [[], None, "odd", [None, 5, {}], [{"role": "assistant", "content": "x"}]]
)
def test_a_conversation_without_a_user_message_is_ignored(messages: Any) -> None:
    assert turn("hello", "hi", messages) == [("user", "hello", 1.0), ("assistant", "hi", 2.0)]


def test_recalled_text_is_not_stored() -> None:
    made = turn(f"one {BLOCK}", f"{BLOCK}\ntwo", [{"role": "user", "content": "x"}])
    assert [content for _, content, _ in made] == ["one", "two"]


def test_messages_are_copied() -> None:
    conversation = copy.deepcopy(CONVERSATION)
    made = build_turn("Which port?", "It is 5433.", conversation, began=1.0, now=2.0, longest=1_000)
    conversation[3]["tool_calls"].clear()
    conversation[4]["content"] = "pruned"
    assert made[1]["tool_calls"] == [CALL]
    assert made[2]["content"] == "5433"


@pytest.mark.parametrize(("user", "assistant"), [("", ""), (None, None), (BLOCK, ""), (5, object())])
def test_an_empty_turn_has_no_messages(user: Any, assistant: Any) -> None:
    assert turn(user, assistant) == []


def test_content_parts_stay_parts() -> None:
    parts = [{"type": "text", "text": f"look {BLOCK}"}, {"type": "image_url", "image_url": {"url": "u"}}]
    assert turn(parts, "a cat")[0][1] == [{"type": "text", "text": "look"}, parts[1]]


def test_a_long_text_is_cut_and_says_so() -> None:
    (message,) = turn("x" * 2_000, "", longest=100)
    assert len(message[1]) == 100
    assert message[1].endswith("[cut]")


def test_a_reduced_turn_has_the_first_and_last_text() -> None:
    made = build_turn("Which port?", "It is 5433.", CONVERSATION, began=1.0, now=2.0, longest=1_000)
    assert [(one["role"], one["content"]) for one in reduce_turn(made)] == [
        ("user", "Which port?"),
        ("assistant", "It is 5433."),
    ]
    assert reduce_turn(made[:1]) == made[:1]


@pytest.mark.parametrize(
    ("content", "expected"),
    [("a", "a"), (f"a {BLOCK}", "a"), ([{"text": "a"}, {"text": "b"}, {}, 5], "a\nb"), (None, ""), (5, "")],
)
def test_extract_text_joins_text_parts(content: Any, expected: str) -> None:
    assert extract_text(content) == expected
