"""A stored session goes back to the SDK that it came from, or to the other one."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from anthropic.types import Message, MessageParam
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessage, ChatCompletionMessageParam
from pydantic import TypeAdapter, ValidationError

from mnemos import SessionDB
from mnemos.errors import InvalidInput, NotFound

ADAPTERS = {
    "openai": TypeAdapter(list[ChatCompletionMessageParam]),
    "anthropic": TypeAdapter(list[MessageParam]),
}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}

QUESTION = {"role": "user", "content": "Weather and tides in Bergen?"}
OPENAI_TURN = [
    {"role": "system", "content": "Be brief."},
    QUESTION,
    ChatCompletionMessage.model_validate(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": id, "type": "function", "function": {"name": name, "arguments": '{"city": "Bergen"}'}}
                for id, name in (("call_1", "get_weather"), ("call_2", "get_tides"))
            ],
        }
    ),
    {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
    {"role": "tool", "tool_call_id": "call_2", "content": "high at noon"},
    ChatCompletionMessage(role="assistant", content="Rain, and high water at noon."),
    {"role": "user", "content": "Thanks."},
]
CLAUDE_TURN = [
    QUESTION,
    Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-1",
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 10, "output_tokens": 20},
            "content": [
                {"type": "thinking", "thinking": "Two tools.", "signature": "c2ln"},
                {"type": "text", "text": "I'll look."},
                {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Bergen"}},
                {"type": "tool_use", "id": "toolu_2", "name": "get_tides", "input": {"city": "Bergen"}},
            ],
        }
    ),
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "rain"},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": "no data", "is_error": True},
            {"type": "text", "text": "Guess the tides."},
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "High at noon."}]},
]


def consume(value: Any) -> Any:
    """Read every lazy iterable, which is when pydantic validates it."""
    if isinstance(value, dict):
        return {key: consume(inner) for key, inner in value.items()}
    if isinstance(value, list) or type(value).__name__ == "ValidatorIterator":
        return [consume(inner) for inner in value]
    return value


def send(db: SessionDB, format: str, *messages: Any) -> Any:
    """Store the messages and return the conversation, which the SDK's own types accept."""
    session_id = f"s{db.session_count()}"
    db.create_session(session_id, "cli")
    db.append_messages(session_id, messages)
    sent = db.conversation(session_id, format=format)  # type: ignore[arg-type]
    check(format, sent)
    return sent


def check(format: str, sent: list[dict[str, Any]]) -> None:
    assert consume(ADAPTERS[format].validate_python(sent)) == sent
    assert json.loads(json.dumps([*sent], ensure_ascii=False).encode()) == sent
    if format == "anthropic":
        roles = [message["role"] for message in sent]
        assert all(one != two for one, two in pairwise(roles))
        check_tools(sent)


def check_tools(sent: list[dict[str, Any]]) -> None:
    """Every tool_use has a unique id and its result first in the next turn, and nothing else has one."""
    open_ids: list[str] = []
    seen: set[str] = set()
    for message in sent:
        blocks = message["content"] if isinstance(message["content"], list) else []
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert results == open_ids
        assert all(block["type"] == "tool_result" for block in blocks[: len(results)])
        open_ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert seen.isdisjoint(open_ids)
        assert len(set(open_ids)) == len(open_ids)
        seen |= set(open_ids)
    assert open_ids == []


def test_a_conversation_of_openai_comes_back_as_it_was(db: SessionDB) -> None:
    expected = [
        one.model_dump(exclude_none=True) | {"content": one.content}
        if isinstance(one, ChatCompletionMessage)
        else one
        for one in OPENAI_TURN
    ]
    assert send(db, "openai", *OPENAI_TURN) == expected


def test_a_conversation_of_anthropic_comes_back_as_it_was(db: SessionDB) -> None:
    question, calling, results, _ = CLAUDE_TURN
    assert isinstance(calling, Message)
    assert isinstance(results, dict)
    assert send(db, "anthropic", *CLAUDE_TURN) == [
        question,
        {"role": "assistant", "content": [one.model_dump(exclude_none=True) for one in calling.content]},
        results,
        {"role": "assistant", "content": "High at noon."},
    ]


def test_a_conversation_of_openai_goes_to_anthropic(db: SessionDB) -> None:
    sent = send(db, "anthropic", *OPENAI_TURN)
    assert sent.system == "Be brief."
    city = {"city": "Bergen"}
    assert sent == [
        QUESTION,
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "call_1", "name": "get_weather", "input": city},
                {"type": "tool_use", "id": "call_2", "name": "get_tides", "input": city},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "rain"},
                {"type": "tool_result", "tool_use_id": "call_2", "content": "high at noon"},
            ],
        },
        {"role": "assistant", "content": "Rain, and high water at noon."},
        {"role": "user", "content": "Thanks."},
    ]


def test_a_conversation_of_anthropic_goes_to_openai(db: SessionDB) -> None:
    sent = send(db, "openai", *CLAUDE_TURN)
    assert sent.system == ""
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool", "user", "assistant"]
    assert sent[1]["content"] == [{"type": "text", "text": "I'll look."}]
    assert [call["function"]["name"] for call in sent[1]["tool_calls"]] == ["get_weather", "get_tides"]
    assert [answer["tool_call_id"] for answer in sent[2:4]] == ["toolu_1", "toolu_2"]


@pytest.mark.parametrize(
    ("format", "wrong"),
    [
        ("openai", {"role": "assistant", "content": [IMAGE]}),
        ("openai", {"role": "tool", "content": "no id"}),
        ("anthropic", {"role": "tool", "content": "x"}),
        ("anthropic", {"role": "user", "content": [{"type": "tool_result"}]}),
    ],
)
def test_the_types_of_the_sdks_refuse_what_is_wrong(format: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        consume(ADAPTERS[format].validate_python([wrong]))


def test_the_older_name_gives_the_same(db: SessionDB) -> None:
    sent = send(db, "anthropic", *CLAUDE_TURN)
    assert db.get_messages_as_conversation("s0", "anthropic") == sent
    assert db.get_messages_as_conversation("s0") == db.conversation("s0")


def test_turns_alternate_and_system_messages_go_beside_them(db: SessionDB) -> None:
    sent = send(
        db,
        "anthropic",
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "One."},
        {"role": "user", "content": "Two."},
        {"role": "system", "content": [{"type": "text", "text": "Be kind."}]},
        {"role": "assistant", "content": "Three."},
        {"role": "assistant", "content": " "},
        {"role": "user", "content": ""},
        {"role": "assistant", "content": "Four."},
    )
    assert sent.system == "Be brief.\n\nBe kind."
    assert sent == [
        {"role": "user", "content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Three."}, {"type": "text", "text": "Four."}],
        },
    ]


@pytest.mark.parametrize("format", ["openai", "anthropic"])
def test_empty_and_forgotten_messages_are_left_out(db: SessionDB, format: str) -> None:
    db.create_session("s", "cli")
    said = [
        *OPENAI_TURN,
        {"role": "user"},
        {"role": "user", "content": ""},
        {"role": "assistant", "content": []},
    ]
    ids = db.append_messages("s", said)
    for place in (0, 1, 2, 3, 5):
        db.forget_message(ids[place])
    sent = db.conversation("s", format=format)  # type: ignore[arg-type]
    check(format, sent)
    assert "Be brief." not in json.dumps([*sent, sent.system])
    assert "Bergen" not in json.dumps(sent)
    # The calls of a forgotten message keep their names, for the answers that were not forgotten.
    assert "high at noon" in json.dumps(sent)
    assert [message["role"] for message in sent] == (
        ["assistant", "tool", "tool", "user"] if format == "openai" else ["assistant", "user"]
    )
    assert "Thanks." in json.dumps(sent[-1])


def test_calls_under_a_used_id_get_ids_that_anthropic_accepts(db: SessionDB) -> None:
    call = {"id": "functions.look:0", "type": "function", "function": {"name": "web.look", "arguments": "x"}}
    turn = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "functions.look:0", "content": None},
    ]
    sent = send(db, "anthropic", *turn, *turn)
    used = [block for message in sent[::2] for block in message["content"]]
    assert [block["id"] for block in used] == ["functions_look_0", "functions_look_0_2"]
    assert {block["name"] for block in used} == {"web_look"}
    assert used[0]["input"] == {"arguments": "x"}
    assert send(db, "openai", *turn)[1]["content"] == ""


IMAGE_URL = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
WEB_IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
WEB_IMAGE_URL = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
PDF = {
    "type": "document",
    "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
    "title": "plan.pdf",
}
FILE = {"type": "file", "file": {"filename": "plan.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}}
TEXT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Plan A"}}
AUDIO = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}


def words(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


@pytest.mark.parametrize(
    ("part", "openai", "anthropic"),
    [
        (IMAGE, IMAGE_URL, IMAGE),
        (IMAGE_URL, IMAGE_URL, IMAGE),
        (WEB_IMAGE, WEB_IMAGE_URL, WEB_IMAGE),
        (WEB_IMAGE_URL, WEB_IMAGE_URL, WEB_IMAGE),
        ({"type": "input_image", "image_url": "https://example.com/a.png"}, WEB_IMAGE_URL, WEB_IMAGE),
        (PDF, FILE, PDF),
        (TEXT, words("Plan A"), TEXT),
        (AUDIO, AUDIO, words("[audio]")),
        ({"type": "image", "name": "a.png"}, words("[image: a.png]"), words("[image: a.png]")),
        (
            {"type": "image_url", "image_url": {"url": "[image/png, 70 bytes]"}},
            words("[image]"),
            words("[image]"),
        ),
        ({"type": "input_text", "text": "hi"}, words("hi"), words("hi")),
        (words("hi") | {"cache_control": {"type": "ephemeral"}, "citations": None}, words("hi"), words("hi")),
        ("hi", words("hi"), words("hi")),
    ],
)
def test_parts_are_translated(db: SessionDB, part: Any, openai: Any, anthropic: Any) -> None:
    message = {"role": "user", "content": [words("See:"), part]}
    assert send(db, "openai", message) == [{"role": "user", "content": [words("See:"), openai]}]
    assert send(db, "anthropic", message) == [{"role": "user", "content": [words("See:"), anthropic]}]


def test_a_file_of_openai_goes_to_anthropic(db: SessionDB) -> None:
    (message,) = send(db, "anthropic", {"role": "user", "content": [words("See:"), FILE]})
    assert message["content"][1] == {key: PDF[key] for key in ("type", "source")}


def test_results_with_images_keep_them_where_they_can(db: SessionDB) -> None:
    call = {"type": "tool_use", "id": "t", "name": "shoot", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [words("Here."), IMAGE]}
    turn = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    assert send(db, "anthropic", *turn) == turn
    assert send(db, "openai", *turn)[1]["content"] == [words("Here."), words("[image]")]


def test_thinking_goes_back_only_with_its_proof_and_an_answer(db: SessionDB) -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    hidden = {"type": "redacted_thinking", "data": "ZGF0YQ=="}
    unsigned = {"type": "thinking", "thinking": "Hm."}
    said = [thought, hidden, unsigned, words("Yes.")]
    ask = {"role": "user", "content": "Really?"}
    (_, answer) = send(db, "anthropic", ask, {"role": "assistant", "content": said})
    assert answer["content"] == [thought, hidden, words("Yes.")]
    assert send(db, "anthropic", ask, {"role": "assistant", "content": [thought]}) == [ask]
    assert send(db, "openai", ask, {"role": "assistant", "content": said})[1]["content"] == [words("Yes.")]


def test_a_refusal_goes_back_as_one(db: SessionDB) -> None:
    refusal = ChatCompletionMessage(role="assistant", refusal="I can't.")
    assert send(db, "openai", refusal) == [
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I can't."}]}
    ]
    assert send(db, "anthropic", refusal) == [{"role": "assistant", "content": "I can't."}]


def test_other_formats_and_sessions_are_refused(db: SessionDB) -> None:
    db.create_session("s", "cli")
    for wrong in ("gemini", "", None, 5):
        with pytest.raises(InvalidInput):
            db.conversation("s", format=wrong)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        db.conversation("nobody", format="anthropic")


LETTERS = st.sampled_from(["", " ", "hi", "日本語", "👋", "\0", "\ud800"])
NAMES = st.sampled_from(["a", "b", "c d", "e.f"])
PARTS = st.one_of(
    LETTERS,
    st.builds(words, LETTERS),
    st.sampled_from([IMAGE, IMAGE_URL, PDF, FILE, TEXT, AUDIO, 5, None, {}, {"type": 5}, {"type": "x"}]),
    st.builds(lambda call: {"type": "tool_use", "id": call, "name": "n", "input": {}}, NAMES),
    st.builds(
        lambda call, text: {"type": "tool_result", "tool_use_id": call, "content": text}, NAMES, LETTERS
    ),
)
CALL = st.builds(
    lambda call: {"id": call, "type": "function", "function": {"name": "f", "arguments": "{}"}}, NAMES
)
MESSAGES = st.one_of(
    st.builds(
        lambda role, content: {"role": role, "content": content},
        st.sampled_from(["user", "assistant", "system", "developer", "function"]),
        st.none() | LETTERS | st.lists(PARTS, max_size=4),
    ),
    st.builds(lambda calls: {"role": "assistant", "tool_calls": calls}, st.lists(CALL, max_size=3)),
    st.builds(lambda call: {"role": "tool", "tool_call_id": call, "content": "out"}, NAMES),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turn=st.lists(MESSAGES, max_size=10))
def test_any_session_is_accepted_by_both_sdks(db: SessionDB, turn: list[dict[str, Any]]) -> None:
    for format in ("openai", "anthropic"):
        send(db, format, *turn)
