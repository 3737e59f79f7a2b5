"""Calling operations by name: what goes in, what comes out, and that only our errors leave."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemos.errors import InvalidInput, MnemosError, NotFound
from mnemos.memory import Memory
from mnemos.operations import registry
from mnemos.operations.base import Operation, builtins
from mnemos.operations.index import BY_NAME, ENTRIES
from mnemos.operations.session_records import Created
from mnemos.operations.sessions import ListSessions
from mnemos.testing import FixedClock

# Those that touch files of this machine are called in tests/faces, in a folder of their own.
ON_MEMORY_ONLY = sorted(entry.name for entry in ENTRIES if not registry.load(entry).traits.local)

TEXTS = st.one_of(
    st.sampled_from(
        ["s", "A title", "hello", "message:1", "session:s", "null", "", " ", "\x00", "*", '"', "NOT"]
    ),
    st.sampled_from(["\ud800", "caf\udcff", "\u2028", "x" * 600, "message:" + "9" * 30, "nan", "1e400"]),
    st.text(max_size=20),
)
NUMBERS = st.one_of(
    st.sampled_from([0, 1, -1, 10, 2**31, 2**63 - 1, 2**63, 2**70, -(2**63) - 1]), st.floats(), st.integers()
)
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    NUMBERS,
    TEXTS,
    st.lists(TEXTS, max_size=3),
    st.dictionaries(TEXTS, NUMBERS, max_size=2),
)


def values(field: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Mostly what the schema asks for, however odd; sometimes anything."""
    kinds = json.dumps(field)
    fitting = [
        strategy
        for kind, strategy in (
            ('"string"', TEXTS),
            ('"integer"', NUMBERS),
            ('"number"', NUMBERS),
            ('"boolean"', st.booleans()),
            ('"array"', st.lists(TEXTS, max_size=3)),
        )
        if f'"type": {kind}' in kinds
    ]
    return st.one_of(*fitting, *fitting, ANYTHING)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with filled() as opened:
        yield opened


def filled() -> Memory:
    memory = Memory.at(":memory:", clock=FixedClock())
    memory.sessions.create_session("s", "cli", title="A title")
    memory.sessions.append_message("s", "user", "hello there")
    return memory


@pytest.fixture(scope="module")
def read() -> Iterator[Memory]:
    """For operations that change nothing: one memory outlasts all that is asked of it."""
    with filled() as opened:
        yield opened


def memory_for(name: str, read: Memory) -> AbstractContextManager[Memory]:
    return nullcontext(read) if registry.find(name).traits.read_only else filled()


def test_a_result_is_plain_data_with_a_text(memory: Memory) -> None:
    result = memory.call("sessions_list")
    assert result["total"] == 1
    assert "A title" in result["text"]
    assert json.loads(json.dumps(result)) == result


def test_a_call_without_arguments_takes_the_defaults(memory: Memory) -> None:
    assert memory.call("sessions_list") == memory.call("sessions_list", {})
    assert registry.read("sessions_list", {}) == ListSessions()


@pytest.mark.parametrize(
    ("name", "meant"), [("session_list", "sessions_list"), ("nothing_like_it", "tools(")]
)
def test_an_unknown_operation_is_answered_with_similar_names_or_how_to_list_them(
    memory: Memory, name: str, meant: str
) -> None:
    with pytest.raises(NotFound) as raised:
        memory.call(name)
    assert meant in str(raised.value)


@pytest.mark.parametrize(
    ("name", "given_arguments"),
    [
        ("sessions_list", {"limit": 0}),
        ("sessions_list", {"limit": "many"}),
        ("sessions_list", {"limits": 3}),
        ("sessions_show", {}),
        ("sessions_show", {"session": None}),
        ("sessions_show", {"session": ["s"]}),
        ("session_search", {"sort": "best"}),
        ("session_search", {"limit": 11}),
        ("session_search", {"limit": 0}),
        ("session_search", {"window": -1}),
        ("session_search", {"query": "x", "since": "someday"}),
        ("sessions_prune", {"older_than_days": -1}),
        ("sessions_prune", {"older_than_days": float("nan")}),
    ],
)
def test_arguments_that_make_no_sense_are_invalid_input(
    memory: Memory, name: str, given_arguments: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput) as raised:
        memory.call(name, given_arguments)
    assert raised.value.code == "invalid_input"


@pytest.mark.parametrize(("written", "meant"), [("3", 3), (3, 3), (3.0, 3)])
def test_a_number_may_be_written_as_text(written: Any, meant: int) -> None:
    assert registry.read("sessions_list", {"limit": written}) == ListSessions(limit=meant)


@pytest.mark.parametrize("text", ["null", "Null", "true", "12", "1e3", ""])
def test_a_text_stays_a_text(text: str) -> None:
    assert registry.read("session_search", {"query": text}).query == text  # type: ignore[attr-defined]


def test_an_input_is_not_changed_by_a_call(memory: Memory) -> None:
    given_arguments = {"query": "hello", "exclude": ["a"]}
    memory.call("sessions_search", given_arguments)
    assert given_arguments == {"query": "hello", "exclude": ["a"]}


@pytest.mark.parametrize("form", ["", "OpenAI", "json", "gemini"])
def test_an_unknown_format_of_tools_is_invalid_input(memory: Memory, form: str) -> None:
    with pytest.raises(InvalidInput):
        memory.tools(format=form)


def test_an_unknown_set_of_tools_is_invalid_input_and_the_known_are_named(memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        memory.tools(tools="no_such_set")


def test_the_tools_of_a_memory_can_be_called_by_their_names(memory: Memory) -> None:
    for tool in memory.tools("anthropic", "sessions"):
        assert tool["name"] in BY_NAME
    (found,) = [t for t in memory.tools("openai", "all") if t["function"]["name"] == "sessions_list"]
    assert memory.call(found["function"]["name"], {})["total"] == 1


def test_a_schema_leaves_out_titles_and_the_description_that_the_tool_has_already() -> None:
    schema = registry.input_schema(registry.find("session_search"))
    assert "title" not in schema
    assert "description" not in schema
    assert schema["properties"]["limit"]["maximum"] == 10


def test_schemas_are_made_afresh_so_that_no_caller_can_spoil_them() -> None:
    registry.input_schema(registry.find("session_search"))["properties"].clear()
    assert registry.input_schema(registry.find("session_search"))["properties"]


def test_a_result_says_itself_once() -> None:
    done = {"session_id": "s", "ensured": False, "text": "Created session s."}
    assert builtins(Created(session_id="s")) == done


def test_an_operation_without_a_body_cannot_be_run() -> None:
    with pytest.raises(NotImplementedError):
        Operation().run(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ON_MEMORY_ONLY)
@settings(max_examples=6)
@given(st.data())
def test_whatever_is_given_only_our_errors_leave_a_call(name: str, read: Memory, data: st.DataObject) -> None:
    schema = registry.input_schema(registry.find(name))
    optional = sorted(set(schema["properties"]) - set(schema["required"]))
    chosen = data.draw(st.sets(st.sampled_from(optional), max_size=3)) if optional else set()
    given_arguments = {
        field: data.draw(values(schema["properties"][field]), label=field)
        for field in [*schema["required"], *sorted(chosen)]
    }
    with memory_for(name, read) as memory:
        try:
            result = memory.call(name, given_arguments)
        except MnemosError as exc:
            str(exc).encode()
        else:
            assert msgspec.json.decode(msgspec.json.encode(result))["text"] == result["text"]


@pytest.mark.parametrize("name", ON_MEMORY_ONLY)
@pytest.mark.parametrize("value", ["half a character \ud83d", "not UTF-8 \udcff", 2**70, -(2**70)], ids=repr)
def test_a_value_that_no_database_can_store_is_refused_or_repaired_in_every_field(
    name: str, value: Any, read: Memory
) -> None:
    schema = registry.input_schema(registry.find(name))
    sound = dict.fromkeys(schema["required"], "s")
    for field in schema["properties"]:
        with memory_for(name, read) as memory:
            try:
                result = memory.call(name, sound | {field: value})
            except MnemosError as exc:
                str(exc).encode()
            else:
                msgspec.json.encode(result)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("memory_export", {"status": "live"}, ("hot", "everything")),
        ("memory", {"action": "delete"}, ("add", "replace", "remove")),
        ("remember", {"text": "x", "kind": "memo"}, ("fact", "note")),
    ],
)
def test_an_error_about_a_fixed_set_lists_its_values(
    memory: Memory, name: str, arguments: dict[str, Any], words: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidInput) as raised:
        memory.call(name, arguments)
    assert all(word in str(raised.value) for word in words)


@pytest.mark.parametrize("empty", [{"source": ""}, {"kinds": []}, {"session": []}, {"exclude": []}])
def test_what_a_model_leaves_empty_does_not_hide_everything_from_recall(
    memory: Memory, empty: dict[str, Any]
) -> None:
    memory.facts.write("V[office.city]: Lisbon")
    assert memory.call("recall", {"query": "office city", **empty})["hits"]


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("memory_backend", {"action": "zap"}, "action must be one of delete, evaluate, info"),
        ("sqlite_import", {"table": "t", "mode": "zap"}, "mode must be one of append, create, replace"),
        ("sqlite_query", {"sql": "SELECT 1"}, "there is no argument 'sql'. Use query, params"),
        ("sqlite_delete", {"database": "default"}, "the argument 'confirm' is missing"),
    ],
)
def test_an_error_about_a_type_names_the_expected_one(name, arguments, told):
    with pytest.raises(InvalidInput) as refused:
        registry.read(name, arguments)
    assert told in str(refused.value)
