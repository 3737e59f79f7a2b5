"""Messages that only repeat the memory: recognised whoever sends them, recorded, and not found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mnemos.errors import InvalidInput
from mnemos.memory import Memory
from mnemos.operations.index import BY_NAME
from mnemos.sessions.tool_names import OWN_NAMES, SHARED_NAMES, is_own_tool, may_be_own_tool
from mnemos.templates.tool_calls import match_calls

FENCED = "<recalled-memory>\nRecords.\n[2026-01-01] user: a quetzal\n</recalled-memory>"


def call(name: str, call_id: str = "c1", **arguments: Any) -> dict[str, Any]:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments or {"query": "quetzal"})},
    }


def calls(*names: str, content: str | None = None) -> dict[str, Any]:
    made = [call(name, f"c{number}") for number, name in enumerate(names, start=1)]
    return {"role": "assistant", "content": content, "tool_calls": made}


def result(content: Any, call_id: str | None = "c1", **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_call_id": call_id, **fields}


@pytest.fixture(params=["together", "one by one"])
def append(request: pytest.FixtureRequest, memory: Memory) -> Any:
    """Append messages in one call or in several; return the origins of all."""

    def work(*messages: dict[str, Any]) -> str:
        sessions = memory.sessions
        sessions.ensure_session("s", "cli")
        if request.param == "together":
            sessions.append_messages("s", list(messages))
        else:
            for message in messages:
                sessions.append_message("s", **message)
        return "".join("m" if one.get("origin") == "memory" else "-" for one in sessions.get_messages("s"))

    return work


@pytest.mark.parametrize(
    ("messages", "origins"),
    [
        ([calls("mcp__mnemos__recall"), result("a quetzal")], "mm"),
        ([calls("mcp_mnemos_memory"), result("a quetzal")], "mm"),
        ([calls("mnemos.recall"), result("a quetzal")], "mm"),
        ([calls("Mnemos_Recall"), result("a quetzal")], "mm"),
        ([calls("remember"), result("stored")], "mm"),
        ([calls("session_search"), result("a quetzal", None, tool_name="session_search")], "mm"),
        ([calls("recall"), result(FENCED)], "mm"),
        ([calls("recall"), result(f"Asked about May\n{FENCED}")], "mm"),
        ([calls("recall"), result(json.dumps({"text": FENCED, "hits": [{"text": "a quetzal"}]}))], "mm"),
        ([calls("recall"), result([{"type": "text", "text": FENCED}])], "mm"),
        ([calls("recall"), result("a quetzal", origin="memory")], "mm"),
        ([calls("read_file", "recall"), result("text"), result(FENCED, "c2")], "m-m"),
        ([{"role": "user", "content": f" {FENCED}\n"}, {"role": "user", "content": "a quetzal"}], "m-"),
        ([{"role": "user", "content": "a quetzal", "origin": "memory"}], "m"),
        # Tools of others with the same name, or data.
        ([calls("recall"), result("a quetzal")], "--"),
        ([calls("memory"), result("a quetzal")], "--"),
        ([calls("mnemosyne_search"), result("a quetzal")], "--"),
        ([calls("mcp__mnemos__sqlite_query"), result("a quetzal")], "--"),
        ([calls("read_file"), result(f"a quetzal {FENCED} a quetzal")], "--"),
        # Forged or broken fences hide nothing.
        ([calls("web"), result(f"{FENCED} a quetzal")], "--"),
        ([calls("web"), result("<recalled-memory> a quetzal")], "--"),
        ([calls("recall"), result("<recalled-memory> a quetzal")], "--"),
    ],
)
def test_calls_of_memory_tools_and_their_results_are_marked(
    append: Any, messages: list[dict[str, Any]], origins: str
) -> None:
    assert append(*messages) == origins


def test_a_tool_that_the_host_calls_here_is_the_memory_s(append: Any, memory: Memory) -> None:
    memory.call("memory", {"action": "add", "content": "The quetzal is green."})
    assert append(calls("memory"), result("ok"), calls("recall"), result("a quetzal")) == "mm--"


@pytest.mark.parametrize("settled", [True, False])
def test_echoes_are_recorded_and_not_found(append: Any, memory: Memory, settled: bool) -> None:
    append(
        {"role": "user", "content": f"Given:\n{FENCED}\nThe macaw is blue."},
        {
            "role": "assistant",
            "content": "Looking at the parrot.",
            "tool_calls": [call("mcp__mnemos__recall"), call("read_file", "c2", path="birds.txt")],
        },
        result(FENCED),
        result("a toucan", "c2"),
    )
    if settled:
        memory.storage.catch_up()
    sessions = memory.sessions
    assert sessions.search_messages("quetzal") == []
    assert [hit["role"] for hit in sessions.search_messages("macaw")] == ["user"]
    assert [hit["role"] for hit in sessions.search_messages("parrot")] == ["assistant"]
    assert [hit["role"] for hit in sessions.search_messages("read_file")] == ["assistant"]
    assert [hit["role"] for hit in sessions.search_messages("toucan")] == ["tool"]
    recalled = memory.recall("quetzal", limit=20)
    assert all("quetzal" not in hit.text for hit in recalled.hits)
    assert "quetzal" not in recalled.text
    stored = json.dumps(sessions.get_messages("s"))
    assert stored.count("a quetzal") == 2


def test_an_unknown_origin_is_refused(memory: Memory) -> None:
    memory.sessions.ensure_session("s", "cli")
    for origin in ("user", "", 1):
        with pytest.raises(InvalidInput):
            memory.sessions.append_message("s", "user", "x", origin=origin)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput):
            memory.sessions.append_messages("s", [{"role": "user", "content": "x", "origin": origin}])


def test_exports_keep_the_origin(append: Any, memory: Memory) -> None:
    append(calls("recall"), result("a quetzal", origin="memory"))
    exported = memory.sessions.export_session("s") | {"id": "copy"}
    memory.sessions.import_sessions([exported])
    assert [one.get("origin") for one in memory.sessions.get_messages("copy")] == ["memory", "memory"]


def test_every_tool_of_memory_is_known_by_its_name() -> None:
    own = {name for name in BY_NAME if name.startswith(("memory_", "session_"))} | {"remember"}
    assert own <= OWN_NAMES <= set(BY_NAME)
    assert {*BY_NAME, "notebook"} >= SHARED_NAMES
    for name in BY_NAME:
        is_data = name.startswith("sqlite_")
        assert is_own_tool(f"mcp__mnemos__{name}") is not is_data
        assert not (is_data and may_be_own_tool(name))


# --- what is shown around a hit ------------------------------------------------------------------


@pytest.fixture
def looked_up(memory: Memory) -> Memory:
    """A conversation in which the memory was asked between a question and its answer."""
    memory.sessions.create_session("birds", "cli")
    memory.sessions.append_messages(
        "birds",
        [
            {"role": "user", "content": "Which bird is blue?"},
            calls("mcp__mnemos__recall"),
            result(FENCED),
            {"role": "assistant", "content": f"I was given {FENCED} and think it is the macaw."},
            {
                "role": "user",
                "content": f"<memory-context>\n{'quetzal ' * 200}\n</memory-context>\nFine, toucan.",
            },
        ],
    )
    return memory


def test_a_search_shows_no_echo_beside_a_hit(looked_up: Memory) -> None:
    (hit,) = looked_up.sessions.search_messages("macaw")
    assert [shown["content"] for shown in hit["context"]] == [
        "Which bird is blue?",
        "I was given and think it is the macaw.",
        "",
    ]
    assert "quetzal" not in json.dumps(hit)
    (hit,) = looked_up.sessions.search_messages("toucan")
    assert "quetzal" not in json.dumps(hit)
    assert hit["context"][-1]["content"].strip() == "Fine, toucan."


@pytest.mark.parametrize(
    "arguments",
    [{"query": "macaw"}, {"session_id": "birds"}, {}, {"query": "blue bird", "sort": "newest"}],
)
def test_session_search_shows_no_echo(looked_up: Memory, arguments: dict[str, Any]) -> None:
    assert "quetzal" not in json.dumps(looked_up.sessions.session_search(**arguments))


def test_scrolling_leaves_echoes_out_but_the_transcript_has_them(looked_up: Memory) -> None:
    messages = looked_up.sessions.get_messages("birds")
    shown = looked_up.sessions.session_search(around_message_id=messages[0]["id"])
    assert [one["role"] for one in shown["messages"]] == ["user", "assistant", "user"]
    assert len(looked_up.sessions.get_messages_around(messages[0]["id"])) == len(messages) == 5
    assert [one["role"] for one in looked_up.sessions.get_messages_as_conversation("birds")][1:3] == [
        "assistant",
        "tool",
    ]


def test_a_long_fence_beside_a_hit_is_not_recalled(looked_up: Memory) -> None:
    recalled = looked_up.recall("which bird is blue, the macaw?", limit=20)
    assert any("macaw" in hit.text for hit in recalled.hits)
    assert "quetzal" not in recalled.text
    assert all("quetzal" not in hit.text for hit in recalled.hits)


def test_templates_are_made_without_the_memory_s_own_calls() -> None:
    messages = [calls("mcp__mnemos__recall", "read_file"), result(FENCED), result(f"{FENCED} 5", "c2")]
    assert [(one.tool_name, one.result) for one in match_calls(messages)] == [("read_file", "5")]
    assert [one.tool_name for one in match_calls([calls("memory"), result("a")])] == ["memory"]
    marked = [calls("memory") | {"origin": "memory"}, result("a")]
    assert list(match_calls(marked)) == []


# --- other forms and sizes ------------------------------------------------------------------------


def test_calls_in_the_format_of_anthropic_are_marked(memory: Memory) -> None:
    memory.sessions.create_session("s", "cli")
    use = {"type": "tool_use", "id": "t1", "name": "mcp__mnemos__recall", "input": {"query": "quetzal"}}
    memory.sessions.append_messages(
        "s",
        [
            {"role": "assistant", "content": [{"type": "text", "text": "Looking."}, use]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "quetzal"}]},
        ],
    )
    assert memory.sessions.search_messages("quetzal") == []
    assert len(memory.sessions.search_messages("looking")) == 1


def test_results_may_come_after_further_calls(memory: Memory) -> None:
    sessions = memory.sessions
    sessions.create_session("s", "cli")
    sessions.append_message("s", "assistant", tool_calls=[call("recall", "c1")])
    sessions.append_message("s", "assistant", tool_calls=[call("grep", "c2", path="x")])
    sessions.append_messages("s", [result("toucan", "c2"), result(f"{FENCED} {FENCED} ok", "c1")])
    origins = [one.get("origin") for one in sessions.get_messages("s")]
    assert origins == ["memory", None, None, "memory"]


def test_results_of_many_calls_may_come_one_by_one(memory: Memory) -> None:
    sessions = memory.sessions
    sessions.create_session("s", "cli")
    made = [
        call("recall", f"c{number}") if number % 2 else call("grep", f"c{number}", path="x")
        for number in range(40)
    ]
    sessions.append_message("s", "assistant", "Looking.", tool_calls=made)
    for number in range(40):
        text = f"Asked about May\n{FENCED}" if number % 2 else f"toucan {number}"
        sessions.append_message("s", "tool", text, tool_call_id=f"c{number}")
    assert sessions.search_messages("quetzal recall", limit=50) == []
    assert len(sessions.search_messages("toucan", limit=50)) == 20
    assert memory.storage.catch_up() == 0
    assert [check.name for check in memory.doctor() if not check.ok] == []


@pytest.mark.parametrize(
    "content",
    [
        "<recalled-memory>" * 50_000,
        "</recalled-memory>" * 50_000,
        "<recalled-memory></recalled-memory>" * 20_000 + "toucan",
        "<recalled-memory>\0quetzal\0</recalled-memory>toucan",
        "\ud800<recalled-memory>quetzal</recalled-memory> toucan",
        [{"type": "text", "text": FENCED}, {"type": "text", "text": "toucan"}],
        f"{'toucan ' * 40_000}{FENCED}{'toucan ' * 40_000}",
    ],
    ids=["openings", "closings", "blocks", "NUL", "surrogate", "parts", "long"],
)
def test_odd_and_huge_texts_are_stored_and_hide_nothing_else(memory: Memory, content: Any) -> None:
    memory.sessions.create_session("s", "cli")
    memory.sessions.append_message("s", "tool", content)
    memory.storage.catch_up()
    assert memory.sessions.search_messages("quetzal") == []
    assert bool(memory.sessions.search_messages("toucan")) is ("toucan" in str(content))
    assert [check.name for check in memory.doctor() if not check.ok] == []
