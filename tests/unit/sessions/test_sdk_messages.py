"""Messages of the OpenAI and Anthropic SDKs are stored as they are."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import anthropic.types as claude
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionMessage
from openai.types.responses import Response

from mnemos import Memory, SessionDB
from mnemos.errors import InvalidInput, TooLarge

CALLS = [
    {
        "id": "call_1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'},
    },
    {"id": "call_2", "type": "function", "function": {"name": "get_time", "arguments": "{}"}},
]
OPENAI_CALLING = ChatCompletionMessage.model_validate(
    {"role": "assistant", "content": None, "refusal": None, "annotations": [], "tool_calls": CALLS}
)
CLAUDE_CALLING = claude.Message.model_validate(
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-1",
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 10, "output_tokens": 20},
        "content": [
            {"type": "thinking", "thinking": "Two cities.", "signature": "c2ln"},
            {"type": "text", "text": "I'll look."},
            {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "get_tides",
                "input": {"harbour": "Bergen", "day": None},
            },
            {"type": "tool_use", "id": "toolu_2", "name": "get_tides", "input": {"harbour": "Tromsø"}},
        ],
    }
)
CLAUDE_RESULTS = {
    "role": "user",
    "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "high at noon"},
        {
            "type": "tool_result",
            "tool_use_id": "toolu_2",
            "is_error": True,
            "content": [{"type": "text", "text": "no such harbour"}],
        },
        {"type": "text", "text": "Use Bodø instead."},
    ],
}


@pytest.fixture
def talk(db: SessionDB) -> SessionDB:
    db.create_session("s", "cli")
    return db


def stored(db: SessionDB) -> list[dict[str, Any]]:
    """The messages without the fields that are empty or made by the store."""
    return [
        {
            key: value
            for key, value in message.items()
            if value is not None and key not in ("id", "session_id", "timestamp")
        }
        for message in db.get_messages("s")
    ]


def test_objects_and_their_dumps_are_stored_alike(talk: SessionDB) -> None:
    given = [OPENAI_CALLING, CLAUDE_CALLING]
    ids = talk.append_messages("s", [*given, *(one.model_dump() for one in given)])
    assert len(ids) == 4
    first, second, third, fourth = stored(talk)
    assert first == third == {"role": "assistant", "tool_calls": CALLS}
    assert second["tool_calls"] == fourth["tool_calls"]
    assert second["metadata"].items() >= {"id": "msg_1", "stop_reason": "tool_use"}.items()
    assert fourth["metadata"]["usage"]["output_tokens"] == 20
    session = talk.get_session("s")
    assert session is not None
    assert session["tool_call_count"] == 8


def test_tool_use_becomes_a_tool_call_and_the_other_blocks_stay(talk: SessionDB) -> None:
    talk.append_messages("s", [CLAUDE_CALLING])
    (message,) = stored(talk)
    assert message["content"] == [
        {"type": "thinking", "thinking": "Two cities.", "signature": "c2ln"},
        {"type": "text", "text": "I'll look."},
    ]
    assert [call["id"] for call in message["tool_calls"]] == ["toolu_1", "toolu_2"]
    assert {call["type"] for call in message["tool_calls"]} == {"function"}
    functions = [call["function"] for call in message["tool_calls"]]
    assert [function["name"] for function in functions] == ["get_tides", "get_tides"]
    assert json.loads(functions[0]["arguments"]) == {"harbour": "Bergen", "day": None}


@pytest.mark.parametrize("query", ["get_weather", "Oslo", "get_tides", "Tromsø", "harbour"])
def test_tool_calls_of_both_are_found(talk: SessionDB, query: str) -> None:
    openai_id, claude_id = talk.append_messages("s", [OPENAI_CALLING, CLAUDE_CALLING])
    expected = openai_id if query in ("get_weather", "Oslo") else claude_id
    assert [hit["id"] for hit in talk.search_messages(query)] == [expected]


def test_tool_results_become_messages_of_tools_in_order(talk: SessionDB) -> None:
    ids = talk.append_messages("s", [CLAUDE_CALLING, CLAUDE_RESULTS])
    assert len(ids) == 4
    assert stored(talk)[1:] == [
        {"role": "tool", "tool_call_id": "toolu_1", "content": "high at noon"},
        {
            "role": "tool",
            "tool_call_id": "toolu_2",
            "content": [{"type": "text", "text": "no such harbour"}],
            "metadata": {"is_error": True},
        },
        {"role": "user", "content": [{"type": "text", "text": "Use Bodø instead."}]},
    ]
    assert [hit["id"] for hit in talk.search_messages("no such harbour", role_filter="tool")] == [ids[2]]


def test_one_message_with_several_results_answers_the_last_id(talk: SessionDB) -> None:
    last = talk.append_message("s", "user", CLAUDE_RESULTS["content"], token_count=7, timestamp=5.0)
    messages = talk.get_messages("s")
    assert [message["role"] for message in messages] == ["tool", "tool", "user"]
    assert messages[-1]["id"] == last
    assert [message["token_count"] for message in messages] == [None, None, 7]
    assert {message["timestamp"] for message in messages} == {5.0}


def test_calls_of_memory_tools_in_blocks_are_not_found(memory: Memory) -> None:
    memory.call("recall", {"query": "zebra"})
    memory.sessions.create_session("s", "cli")
    uses = [("t1", "recall", "zebra"), ("t2", "list_files", "giraffe")]
    blocks = [{"type": "tool_use", "id": id, "name": name, "input": {"of": of}} for id, name, of in uses]
    results = [{"type": "tool_result", "tool_use_id": id, "content": f"a {of}"} for id, _, of in uses]
    said = [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
    calling, _, listed = memory.sessions.append_messages("s", said)
    assert memory.sessions.search_messages("zebra") == []
    assert {hit["id"] for hit in memory.sessions.search_messages("giraffe")} == {calling, listed}


def test_blocks_and_calls_inside_of_dicts_may_be_objects(talk: SessionDB) -> None:
    """As in the loops of both SDKs' documentation."""
    talk.append_messages(
        "s",
        [
            {"role": "assistant", "content": CLAUDE_CALLING.content},
            {"role": "assistant", "content": None, "tool_calls": OPENAI_CALLING.tool_calls},
        ],
    )
    talk.append_message("s", "assistant", CLAUDE_CALLING.content)
    talk.append_message("s", "assistant", None, tool_calls=OPENAI_CALLING.tool_calls)
    first, second, third, fourth = stored(talk)
    assert first == third
    assert len(first["tool_calls"]) == 2
    assert second == fourth == {"role": "assistant", "tool_calls": CALLS}


def test_unknown_fields_are_kept_in_the_metadata(talk: SessionDB) -> None:
    talk.append_messages(
        "s",
        [
            {"role": "user", "content": "hi", "name": "Ada", "metadata": {"page": 3}, "audio": None},
            {"role": "assistant", "content": "ho", "finish": "stop", "metadata": {"finish": "mine"}},
            {"role": "tool", "content": "out", "name": "run", "tool_call_id": "c"},
            {"role": "developer", "content": "Be brief.", "refusal": None},
            {"role": "user", "content": "hm", "mood": "fine", "metadata": ["a list"]},
        ],
    )
    assert stored(talk) == [
        {"role": "user", "content": "hi", "metadata": {"name": "Ada", "page": 3}},
        {"role": "assistant", "content": "ho", "metadata": {"finish": "mine"}},
        {"role": "tool", "content": "out", "tool_name": "run", "tool_call_id": "c"},
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "hm", "metadata": {"mood": "fine", "metadata": ["a list"]}},
    ]


def test_secrets_in_unknown_fields_and_tool_blocks_are_redacted(talk: SessionDB) -> None:
    key = "sk-" + "a1B2c3D4" * 6
    talk.append_messages(
        "s",
        [
            {"role": "user", "content": "x", "note": f"key {key}"},
            {
                "role": "assistant",
                "content": [
                    claude.ToolUseBlock(id="t", name="login", type="tool_use", input={"key": key}),
                ],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t", "content": f"sent {key}"}],
            },
            {"role": "tool", "content": {"key": key}},
        ],
    )
    assert key not in json.dumps(talk.get_messages("s"))
    assert json.loads(talk.get_messages("s")[1]["tool_calls"][0]["function"]["arguments"]).keys() == {"key"}


def test_a_refusal_is_what_was_said(talk: SessionDB) -> None:
    (one,) = talk.append_messages(
        "s", [ChatCompletionMessage(role="assistant", refusal="I can't help with lockpicking.")]
    )
    assert stored(talk)[0]["content"] == [{"type": "refusal", "refusal": "I can't help with lockpicking."}]
    assert [hit["id"] for hit in talk.search_messages("lockpicking")] == [one]


def test_the_transcript_of_audio_is_what_was_said(talk: SessionDB) -> None:
    audio = {"id": "audio_1", "data": "AAAA", "expires_at": 5, "transcript": "Good morning, Lisbon."}
    message = ChatCompletionMessage.model_validate({"role": "assistant", "audio": audio})
    talk.append_messages("s", [message])
    assert stored(talk)[0]["content"] == "Good morning, Lisbon."
    assert stored(talk)[0]["metadata"] == {"audio": audio}


def completion(*contents: str) -> ChatCompletion:
    return ChatCompletion.model_validate(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_767_225_600,
            "model": "gpt-5",
            "usage": {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21},
            "choices": [
                {
                    "index": number,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": content},
                }
                for number, content in enumerate(contents)
            ],
        }
    )


def test_a_completion_or_its_choice_is_its_message(talk: SessionDB) -> None:
    answer = completion("Hello!")
    talk.append_messages("s", [answer, answer.model_dump(), answer.choices[0]])
    first, second, third = stored(talk)
    assert {message["content"] for message in (first, second, third)} == {"Hello!"}
    assert first["metadata"].keys() == second["metadata"].keys()
    assert (first["metadata"]["model"], first["metadata"]["finish_reason"]) == ("gpt-5", "stop")
    assert "model" not in third["metadata"]


@pytest.mark.parametrize("contents", [(), ("one", "two")], ids=len)
def test_a_completion_without_exactly_one_choice_is_refused(
    talk: SessionDB, contents: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidInput):
        talk.append_messages("s", [completion(*contents)])
    assert talk.message_count() == 0


RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "gpt-5",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look twice."}]},
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "get_weather",
            "arguments": '{"city": "Oslo"}',
        },
        {"type": "function_call", "id": "fc_2", "call_id": "call_2", "name": "get_time", "arguments": "{}"},
    ],
}


@pytest.mark.parametrize("as_items", [False, True], ids=["the response", "its items"])
def test_function_calls_of_a_response_are_one_message(talk: SessionDB, *, as_items: bool) -> None:
    response = Response.model_validate(RESPONSE)
    answers = [
        {"type": "function_call_output", "call_id": "call_1", "output": "rain"},
        {"type": "function_call_output", "call_id": "call_2", "output": "noon"},
    ]
    talk.append_messages("s", [*(response.output if as_items else [response]), *answers])
    calling, one, two = stored(talk)
    assert calling["tool_calls"] == CALLS
    assert calling["content"][0]["type"] == "reasoning"
    assert [(answer["role"], answer["tool_call_id"], answer["content"]) for answer in (one, two)] == [
        ("tool", "call_1", "rain"),
        ("tool", "call_2", "noon"),
    ]


def test_the_text_of_a_response_is_found(talk: SessionDB) -> None:
    text = {"type": "output_text", "text": "It rains in Oslo.", "annotations": []}
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}
    (one,) = talk.append_messages("s", [Response.model_validate(RESPONSE | {"output": [item]})])
    assert [hit["id"] for hit in talk.search_messages("rains")] == [one]
    assert stored(talk)[0]["metadata"]["model"] == "gpt-5"


def test_what_the_caller_gave_is_left_as_it_is(talk: SessionDB) -> None:
    given = [
        {"role": "assistant", "content": "Looking.", "tool_calls": CALLS[:1]},
        {"type": "function_call", "call_id": "call_2", "name": "get_time", "arguments": "{}"},
        CLAUDE_RESULTS,
        MappingProxyType({"role": "user", "content": "read-only", "name": "Ada"}),
    ]
    before = [json.dumps(dict(message)) for message in given]
    talk.append_messages("s", given)
    assert [json.dumps(dict(message)) for message in given] == before
    assert stored(talk)[0]["tool_calls"] == CALLS


class Model:
    """An object of a library that is not pydantic."""

    def __init__(self, dumped: Any) -> None:
        self._dumped = dumped

    def model_dump(self) -> Any:
        return self._dumped


def test_any_object_with_a_dump_is_a_message(talk: SessionDB) -> None:
    talk.append_messages("s", [Model({"role": "user", "content": "hello"})])
    assert stored(talk) == [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize(
    "wrong",
    [
        Model(5),
        Model({"content": "no role"}),
        Model({"role": "user", "content": object()}),
        Model,
        ChatCompletionMessage,
        {"type": "human", "content": "no role"},
        {"role": "user", "text": "misspelt"},
        {"role": ["user"], "content": [{"type": "tool_result", "tool_use_id": "x"}]},
        {"choices": [{"choices": []}]},
        {"choices": 5},
        {"object": "response", "output": [{"type": "message"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "y", "input": {1, 2}}]},
    ],
    ids=map(str, range(12)),
)
def test_what_is_not_a_message_of_an_sdk_is_refused(talk: SessionDB, wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        talk.append_messages("s", [{"role": "user", "content": "good"}, wrong])
    assert talk.message_count() == 0


def test_tool_blocks_that_cannot_be_matched_stay_parts(talk: SessionDB) -> None:
    odd = [{"type": "tool_use"}, {"type": "tool_result"}, {"type": ["x"]}, 5, None, "text"]
    talk.append_messages("s", [{"role": "user", "content": odd}, {"role": "assistant", "content": odd}])
    assert [message["content"] for message in stored(talk)] == [odd, odd]


def test_nesting_beyond_reason_is_refused_wherever_it_is(talk: SessionDB) -> None:
    deep: dict[str, Any] = {}
    for _ in range(50_000):
        deep = {"message": deep}
    for message in (
        deep,
        {"role": "user", "content": [deep]},
        {"role": "user", "content": "x", "extra": deep},
    ):
        with pytest.raises(InvalidInput):
            talk.append_messages("s", [message])
    # Taken apart by hand: the interpreter would go as deep as it was nested.
    while deep:
        deep = deep.pop("message")


def test_the_limit_of_size_holds_for_what_a_message_becomes(open_db: Any) -> None:
    db = open_db(max_message_bytes=1000)
    db.create_session("s", "cli")
    block = {"type": "tool_use", "id": "t", "name": "write", "input": {"text": "x" * 1000}}
    with pytest.raises(TooLarge):
        db.append_messages("s", [{"role": "assistant", "content": [block]}])
    with pytest.raises(TooLarge):
        db.append_messages("s", [{"role": "assistant", "content": "x", "extra": "y" * 1000}])
    assert db.message_count() == 0
