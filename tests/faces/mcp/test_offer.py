"""The offer of tools: sets, cost, instructions, and results."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from mnemos.errors import InvalidInput
from mnemos.faces.mcp import prompts
from mnemos.faces.mcp.prompts import instructions
from mnemos.faces.mcp.resources import READABLE
from mnemos.memory import Memory
from mnemos.operations import registry
from mnemos.operations.index import BY_NAME, ENTRIES, SETS, Entry
from mnemos.text.tokens import count_tokens

from ..calls import arguments
from ..test_starting import HEAVY, loaded_by

MOST_TOOLS = 7
MOST_TOKENS = 2_000
MOST_INSTRUCTIONS = 300


def validator(entry: Entry) -> jsonschema.protocols.Validator:
    schema = registry.output_schema(registry.load(entry))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


# --- tools ---------------------------------------------------------------------------------------


def test_the_default_tools_are_few_and_cheap() -> None:
    tools = registry.tools("mcp", "default")
    assert 1 <= len(tools) <= MOST_TOOLS
    read = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
    assert count_tokens(json.dumps(read, ensure_ascii=False)) <= MOST_TOKENS


def test_sets_and_single_tools_can_be_named_together() -> None:
    chosen = registry.choose_entries(" stats ,recall,, default ")
    expected = [entry for entry in ENTRIES if {"recall", "default"} & entry.sets or entry.name == "stats"]
    assert chosen == expected


@pytest.mark.parametrize("chosen", ["", ",", "no_such", "recall,no_such", "Recall"])
def test_a_set_that_is_not_there_is_reported(chosen: str) -> None:
    with pytest.raises(InvalidInput):
        registry.choose_entries(chosen)


def test_what_may_be_left_out_is_not_written_as_null() -> None:
    schemas = {entry.name: json.dumps(registry.tool_schema(registry.load(entry))) for entry in ENTRIES}
    # Sessions that are archived or not, and a value of JSON.
    meant = ["sessions_list", "entries_put"]
    assert [name for name, schema in schemas.items() if "null" in schema] == meant


def test_what_a_field_says_is_kept() -> None:
    fields = registry.tool_schema(registry.find("session_search"))["properties"]
    assert fields["query"]["type"] == "string"
    assert "phrase" in fields["query"]["description"]
    assert fields["around_message_id"]["minimum"] == 0
    assert fields["since"]["anyOf"] == [{"type": "string"}, {"type": "number"}]
    assert fields["window"]["default"] == 5


def test_every_set_is_explained_to_who_connects_a_client() -> None:
    page = (Path(__file__).parents[3] / "docs/how-to/mcp.md").read_text(encoding="utf-8")
    assert [chosen for chosen in sorted(SETS) if f"| `{chosen}` |" not in page] == []


def test_what_takes_the_name_of_a_file_is_not_for_a_network() -> None:
    operations = {entry.name: registry.load(entry) for entry in ENTRIES}
    takes_file = {name for name, one in operations.items() if "path" in one.__struct_fields__}
    assert [name for name in takes_file if not operations[name].traits.local] == []


# --- what they answer ----------------------------------------------------------------------------


def test_every_result_is_what_its_schema_says(filled: Path, tmp_path: Path) -> None:
    wrong = {}
    for entry in ENTRIES:
        root = tmp_path / entry.name
        shutil.copytree(filled, root)
        with Memory.at(root / "home") as memory:
            result = memory.call(entry.name, arguments(entry.name, str(root)))
        shutil.rmtree(root)
        errors = list(validator(entry).iter_errors(json.loads(json.dumps(result))))
        if errors:
            wrong[entry.name] = errors[0].message
    assert wrong == {}


def test_what_a_backend_refuses_is_what_its_schema_says(tmp_path: Path) -> None:
    with Memory.at(tmp_path / "home", backend="local") as memory:
        refused = memory.call("memory_backend", {"action": "retrieve", "key": "nothing"})
    assert not refused["success"]
    validator(BY_NAME["memory_backend"]).validate(json.loads(json.dumps(refused)))


def test_a_failure_and_a_refusal_are_in_every_schema_and_nothing_is_not() -> None:
    for entry in ENTRIES:
        check = validator(entry)
        assert check.is_valid({"error": {"code": "busy", "message": "try again"}}), entry.name
        if not registry.load(entry).traits.read_only:
            assert check.is_valid(registry.answer_disabled()), entry.name
        for wrong in ({}, {"text": "done"}, {"error": "busy"}, {"error": {}}):
            assert not check.is_valid(wrong), entry.name


# --- the words -----------------------------------------------------------------------------------


def test_the_instructions_are_short_and_name_only_what_is_offered() -> None:
    for chosen in (*sorted(SETS), *sorted(BY_NAME)):
        offered = {entry.name for entry in registry.choose_entries(chosen)}
        text = instructions(offered)
        assert count_tokens(text) < MOST_INSTRUCTIONS, chosen
        named = {name for name in _tools_of_the_product() if f"`{name}`" in text}
        assert named <= offered, chosen
        assert all(prompt.description for prompt in prompts.list_all(offered).prompts)


def test_the_instructions_are_short_with_every_tool_there_will_be() -> None:
    assert count_tokens(instructions(_tools_of_the_product())) < MOST_INSTRUCTIONS


def test_instructions_say_when_to_recall() -> None:
    assert "`recall`" in instructions({"recall"})
    assert "`recall`" not in instructions({"remember"})


@pytest.mark.parametrize(
    ("offered", "tool"),
    [(("remember",), "remember"), (("memory_write",), "memory_write"), (("recall", "stats"), "")],
)
def test_wrapping_up_is_offered_with_a_tool_that_writes(offered: tuple[str, ...], tool: str) -> None:
    names = [prompt.name for prompt in prompts.list_all(offered).prompts]
    assert ("wrap-up" in names) is bool(tool)
    if tool:
        assert f"`{tool}`" in prompts.note(offered)


def test_only_operations_that_there_are_can_be_read() -> None:
    assert READABLE
    for one in READABLE:
        assert registry.find(one.operation).traits.read_only
        assert not registry.find(one.operation).traits.local


# --- what is not loaded --------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("mcp", "--help"), ("serve", "--help"), ("recall", "--help"), ("stats",)])
def test_the_sdk_is_loaded_by_nothing_but_serving(words: tuple[str, ...], shop: Path) -> None:
    loaded = loaded_by(*words)
    for module in (*HEAVY, "anyio", "starlette", "uvicorn", "mnemos.faces.mcp"):
        assert module not in loaded


def _tools_of_the_product() -> set[str]:
    """Those that there are, and those that the texts know of."""
    facts = {"remember", "memory_write", "memory_search", "memory_status", "memory_tick"}
    return {*BY_NAME, *facts}
