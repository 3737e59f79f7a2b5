"""A walk over the index: what is declared once is there everywhere."""

from __future__ import annotations

import json
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import click
import msgspec
import pytest

import mnemos.operations
from mnemos.errors import MnemosError
from mnemos.faces.cli.app import cli
from mnemos.operations import reference, registry
from mnemos.operations.base import LongOperation, Operation, Result
from mnemos.operations.index import BY_NAME, ENTRIES, SETS, Entry
from mnemos.text.tokens import count_tokens

from .calls import CALLS

FORMATS = ("openai", "anthropic", "mcp")
MOST_TOOLS = 7
MOST_TOKENS = 2_000
SHOWN = ("name", "description", "parameters", "input_schema", "inputSchema")

every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)


def command_of(entry: Entry) -> click.Command:
    found: click.Command = cli
    context = click.Context(cli, info_name="mnemos")
    for word in entry.command.split():
        assert isinstance(found, click.Group)
        below = found.get_command(context, word)
        assert below is not None, f"no command {entry.command!r}"
        assert word in found.list_commands(context)
        found, context = below, click.Context(below, parent=context, info_name=word)
    return found


@cache
def every_tool(form: str) -> tuple[dict[str, Any], ...]:
    return tuple(registry.tools(form, "all"))


@cache
def reference_page() -> str:
    return reference.page()


def schema_of(form: str, tool: dict[str, Any]) -> dict[str, Any]:
    where = {"openai": ("function", "parameters"), "anthropic": ("input_schema",), "mcp": ("inputSchema",)}
    for key in where[form]:
        tool = tool[key]
    return tool


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for below in value.values():
            yield from references(below)
    elif isinstance(value, list):
        for below in value:
            yield from references(below)


@every_entry
def test_an_operation_says_what_it_is(entry: Entry) -> None:
    operation = registry.load(entry)
    assert issubclass(operation, Operation)
    described = registry.described(operation)
    assert described.endswith(".")
    assert described != registry.described(Operation)
    assert operation.traits.title
    assert operation.run is not Operation.run
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", entry.name)
    assert re.fullmatch(r"[a-z]+( [a-z]+(-[a-z]+)*)*", entry.command)


@every_entry
def test_a_list_of_commands_has_the_whole_first_sentence_of_each(entry: Entry) -> None:
    told = " ".join(registry.described(registry.load(entry)).split())
    short = command_of(entry).short_help
    assert short
    assert told.startswith(f"{short}.")


@every_entry
def test_the_fields_of_an_operation_are_options_and_arguments_of_its_command(entry: Entry) -> None:
    operation = registry.load(entry)
    command = command_of(entry)
    arguments = [p.name for p in command.params if isinstance(p, click.Argument)]
    options = {name for p in command.params if isinstance(p, click.Option) for name in p.opts}
    assert arguments == list(operation.traits.positional)
    expected = {
        f"--{field.replace('_', '-')}" for field in operation.__struct_fields__ if field not in arguments
    }
    asks = {"--yes"} if operation.traits.destructive else set()
    asks |= {"--watch"} if operation.traits.watches else set()
    assert options == expected | asks | {"--home", "--space", "--json"}
    assert command.help == registry.described(operation)


@every_entry
def test_the_example_of_an_operation_is_a_command_line_it_takes(entry: Entry) -> None:
    command = command_of(entry)
    given = list(registry.load(entry).traits.example)
    context = command.make_context(entry.command, given, obj=None)
    missing = [p.name for p in command.params if p.required and context.params.get(str(p.name)) is None]
    assert not missing


@every_entry
def test_an_operation_answers_with_a_result(entry: Entry) -> None:
    operation = registry.load(entry)
    kind = registry.result_of(operation)
    assert issubclass(kind, Result)
    assert kind.as_text is not Result.as_text


@every_entry
def test_what_takes_something_away_says_what_is_at_stake(entry: Entry) -> None:
    operation = registry.load(entry)
    assert operation.traits.destructive == (operation.at_stake is not Operation.at_stake)
    assert not (operation.traits.destructive and operation.traits.read_only)


@pytest.mark.parametrize("name", ["sessions_export", "backup"])
def test_what_writes_a_file_does_not_call_itself_read_only(name: str) -> None:
    (tool,) = [tool for tool in every_tool("mcp") if tool["name"] == name]
    assert tool["annotations"]["readOnlyHint"] is False


def test_names_commands_and_classes_occur_once() -> None:
    for names in (
        [entry.name for entry in ENTRIES],
        [entry.command for entry in ENTRIES],
        [entry.target for entry in ENTRIES],
        [registry.load(entry).__name__ for entry in ENTRIES],
        [registry.load(entry).traits.title for entry in ENTRIES],
    ):
        assert len(names) == len(set(names))


def test_every_operation_that_a_module_declares_is_in_the_index() -> None:
    indexed = {registry.load(entry) for entry in ENTRIES}
    declared = {
        kind
        for found in pkgutil.iter_modules(mnemos.operations.__path__, "mnemos.operations.")
        for kind in vars(import_module(found.name)).values()
        if isinstance(kind, type)
        and issubclass(kind, Operation)
        and kind not in (Operation, LongOperation)
        # What several have in common is none itself.
        and not kind.__name__.startswith("_")
    }
    assert declared == indexed


def test_no_command_is_a_group_of_others() -> None:
    commands = {entry.command for entry in ENTRIES}
    groups = {" ".join(entry.command.split()[:-1]) for entry in ENTRIES} - {""}
    assert not commands & groups
    for group in groups:
        found = cli.get_command(click.Context(cli), group)
        assert isinstance(found, click.Group)
        assert found.help


def test_every_operation_is_called_through_every_face() -> None:
    assert set(CALLS) == set(BY_NAME)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("chosen", sorted(SETS))
def test_a_set_of_tools_is_the_operations_of_that_set(form: str, chosen: str) -> None:
    tools = registry.tools(form, chosen)
    names = [tool["function"]["name"] if form == "openai" else tool["name"] for tool in tools]
    assert names == [entry.name for entry in ENTRIES if chosen in entry.sets]
    assert json.loads(json.dumps(tools)) == tools


@every_entry
@pytest.mark.parametrize("form", FORMATS)
def test_a_tool_has_a_schema_that_stands_alone(form: str, entry: Entry) -> None:
    (tool,) = [
        t for t in every_tool(form) if (t["function"] if form == "openai" else t)["name"] == entry.name
    ]
    schema = schema_of(form, tool)
    operation = registry.load(entry)
    assert schema["type"] == "object"
    assert set(schema["properties"]) == set(operation.__struct_fields__)
    assert set(schema["required"]) <= set(schema["properties"])
    assert schema["additionalProperties"] is False
    required = {f.name for f in msgspec.structs.fields(operation) if f.required}
    assert set(schema["required"]) == required
    for ref in references(schema):
        assert ref.removeprefix("#/$defs/") in schema.get("$defs", {})
    for name, field in schema["properties"].items():
        assert {"type", "enum", "anyOf", "$ref"} & set(field), f"{name} may be anything"


@every_entry
def test_an_mcp_tool_tells_what_it_may_change(entry: Entry) -> None:
    traits = registry.load(entry).traits
    (tool,) = [tool for tool in every_tool("mcp") if tool["name"] == entry.name]
    hints = tool["annotations"]
    assert hints["destructiveHint"] is traits.destructive
    assert not (hints["readOnlyHint"] and hints["destructiveHint"])
    assert hints["idempotentHint"] or not hints["readOnlyHint"]
    assert tool["title"] == hints["title"] == traits.title


@pytest.mark.parametrize("form", FORMATS)
def test_the_default_tools_are_few_and_cheap(form: str) -> None:
    tools = registry.tools(form, "default")
    assert 1 <= len(tools) <= MOST_TOOLS
    # What models are shown of a tool: clients read the rest themselves.
    shown = [
        {key: value for key, value in tool.get("function", tool).items() if key in SHOWN} for tool in tools
    ]
    # Its name, its description and its schema, by whatever name that goes.
    assert all(len(one) == 3 for one in shown)
    assert sum(count_tokens(json.dumps(one, ensure_ascii=False)) for one in shown) <= MOST_TOKENS


@every_entry
def test_an_operation_is_in_a_set_besides_all_and_in_the_reference(entry: Entry) -> None:
    assert entry.sets > {"all"}
    page = reference_page()
    assert f"## {entry.command}\n" in page
    assert f"tool `{entry.name}`" in page


@every_entry
def test_a_field_that_does_not_exist_is_invalid_input(entry: Entry) -> None:
    with pytest.raises(MnemosError) as raised:
        registry.read(entry.name, {"no_such_field": 1})
    assert raised.value.code == "invalid_input"
