"""The official client, of both eras of the protocol, over a pipe and over HTTP."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest
from mcp.shared.exceptions import MCPError

from mnemos.operations import registry
from mnemos.operations.index import ENTRIES

from .connections import Connected, Served, connected, over_pipe, serving

WAYS = ("pipe, 2025", "pipe, 2026", "http, 2025", "http, 2026")
LOCAL = {entry.name for entry in ENTRIES if registry.load(entry).traits.local}


@pytest.fixture(scope="module")
def served(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("served") / "home"
    shutil.copytree(filled / "home", home)
    with serving(home, "--tools", "all") as one:
        yield one


@pytest.fixture(scope="module", params=WAYS)
def client(
    request: pytest.FixtureRequest, filled: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Connected]:
    transport, era = request.param.split(", ")
    mode = "legacy" if era == "2025" else "auto"
    with ExitStack() as stack:
        if transport == "pipe":
            home = tmp_path_factory.mktemp("piped") / "home"
            shutil.copytree(filled / "home", home)
            yield stack.enter_context(connected(over_pipe(home, "--tools", "all"), mode))
        else:
            yield stack.enter_context(connected(request.getfixturevalue("served"), mode))


@pytest.fixture
def way(request: pytest.FixtureRequest) -> str:
    name: str = request.node.callspec.params["client"]
    return name


def test_the_client_speaks_the_protocol_of_its_era(client: Connected, way: str) -> None:
    assert client.client.protocol_version.startswith(way[-4:])
    assert client.client.server_info.name == "mnemos"
    assert "Mnemos" in str(client.client.instructions)


def test_the_tools_are_those_of_the_registry(client: Connected, way: str) -> None:
    listed = client.list_tools().tools
    expected = [
        tool for tool in registry.tools("mcp", "all") if way.startswith("pipe") or tool["name"] not in LOCAL
    ]
    assert [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed] == expected


def test_what_is_written_is_found(client: Connected) -> None:
    client.list_tools()
    session = f"trip-{uuid4().hex}"
    assert client.call_tool("sessions_create", {"session_id": session}).structured_content == {
        "session_id": session,
        "ensured": False,
        "text": f"Created session {session}.",
    }
    written = client.call_tool(
        "sessions_append", {"session_id": session, "role": "user", "content": f"The code is {session}"}
    )
    assert not written.is_error
    found = client.call_tool("recall", {"query": f"what is {session}?", "session": [session]})
    assert found.structured_content["hits"][0]["text"] == f"The code is {session}"
    assert found.content[0].text == found.structured_content["text"]


def test_empty_values_arrive_as_such(client: Connected) -> None:
    client.list_tools()
    (first, *_) = client.call_tool("sessions_list", {"limit": 1}).structured_content["sessions"]
    assert {"title", "ended_at", "parent_session_id"} <= set(first)


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("no_such_tool", {}, "not_found"),
        ("recall", {}, "invalid_input"),
        ("recall", None, "invalid_input"),
        ("recall", {"query": ["x"]}, "invalid_input"),
        ("recall", {"query": "x", "limit": -1}, "invalid_input"),
        ("recall", {"query": "x", "nonsense": 1}, "invalid_input"),
        ("sessions_show", {"session": "never heard of"}, "not_found"),
        ("sessions_create", {"session_id": "slot-bug"}, "already_exists"),
    ],
)
def test_a_failure_is_a_result_that_the_client_takes(
    client: Connected, tool: str, arguments: dict[str, object] | None, code: str
) -> None:
    # With the schemas at hand, against which results are held.
    client.list_tools()
    result = client.call_tool(tool, arguments)
    assert result.is_error
    error = result.structured_content["error"]
    assert error["code"] == code
    assert result.content[0].text == f"{code}: {error['message']}"


def test_what_would_touch_files_is_not_offered_over_http(client: Connected, way: str, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    result = client.call_tool("backup", {"path": str(target)})
    assert result.is_error is way.startswith("http")
    assert target.exists() is way.startswith("pipe")


def test_conversations_are_resources(client: Connected) -> None:
    listed = {str(resource.uri) for resource in client.list_resources().resources}
    assert {"mnemos://sessions", "mnemos://notebook"} <= listed
    for uri in listed:
        (content,) = client.read_resource(uri).contents
        assert content.mime_type == "text/plain"
    assert "slot-bug" in client.read_resource("mnemos://sessions").contents[0].text
    (template,) = client.list_resource_templates().resource_templates
    (session,) = client.read_resource(template.uri_template.replace("{id}", "slot-bug")).contents
    assert session.text.startswith("Pick-up slots off by an hour")
    (by_title,) = client.read_resource("mnemos://sessions/Product%20search").contents
    assert "Product search" in by_title.text.splitlines()[0]


@pytest.mark.parametrize(
    "uri", ["mnemos://nothing", "mnemos://sessions/", "mnemos://sessions/never", "file:///etc/hosts", "x"]
)
def test_a_resource_that_is_not_there_is_an_error_that_says_so(client: Connected, uri: str) -> None:
    with pytest.raises(MCPError) as raised:
        client.read_resource(uri)
    assert raised.value.error.message.startswith("not_found: ")


def test_a_prompt_brings_what_the_memory_holds(client: Connected) -> None:
    listed = {prompt.name for prompt in client.list_prompts().prompts}
    assert "recall" in listed
    (message,) = client.get_prompt("recall", {"question": "when did we move the database?"}).messages
    assert message.role == "user"
    assert "<recalled-memory>" in message.content.text
    assert message.content.text.endswith("when did we move the database?")


@pytest.mark.parametrize(("name", "arguments"), [("recall", {}), ("recall", {"question": " "}), ("x", {})])
def test_a_prompt_that_cannot_be_made_is_an_error(
    client: Connected, name: str, arguments: dict[str, str]
) -> None:
    with pytest.raises(MCPError):
        client.get_prompt(name, arguments)
