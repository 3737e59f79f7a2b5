"""A walk over the index: what is declared once is there everywhere.

Each test looks at all operations and names every one that breaks the rule.
"""

from __future__ import annotations

import json
import pkgutil
import re
import shlex
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest

import mnemos.operations
from mnemos.errors import MnemosError, NotFound
from mnemos.faces.cli.app import cli
from mnemos.operations import registry
from mnemos.operations.base import Info, LongOperation, Operation, Result
from mnemos.operations.index import BY_NAME, ENTRIES, SETS, Entry, part_of
from mnemos.text.tokens import count_tokens

from .calls import CALLS

FORMATS = ("openai", "anthropic", "mcp")
MOST_TOOLS = 7
MOST_TOKENS = 2_000
SHOWN = ("name", "description", "parameters", "input_schema", "inputSchema")
# Rows of SQL and metadata have any shape; so has what models' APIs put into messages.
ANY_SHAPE = {
    "rows",
    "sample",
    "range",
    "values",
    "metadata",
    "content",
    "tool_calls",
    "model_config",
    "arguments",
}
PERSON_ONLY_WORDS = ("standard input", "--", "At a terminal", "your editor")
MODEL_ONLY_WORDS = ("before saying that you don't know", "Use it when", "Call it ", "your private")


def command_of(entry: Entry) -> click.Command:
    found: click.Command = cli
    context = click.Context(cli, info_name="mnemos", **cli.context_settings)
    for word in entry.command.split():
        assert isinstance(found, click.Group)
        below = found.get_command(context, word)
        assert below is not None, f"no command {entry.command!r}"
        assert word in found.list_commands(context)
        found, context = below, click.Context(below, parent=context, info_name=word)
    return found


@cache
def every_tool(form: str) -> dict[str, dict[str, Any]]:
    return {
        (tool["function"] if form == "openai" else tool)["name"]: tool for tool in registry.tools(form, "all")
    }


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


def untyped(schema: dict[str, Any], where: str) -> Iterator[str]:
    """Return the places in the schema of a result that may be anything."""
    for name, field in schema.get("properties", {}).items():
        if name not in ANY_SHAPE:
            yield from _untyped_values(field, f"{where}.{name}")


def _untyped_values(field: dict[str, Any], where: str) -> Iterator[str]:
    if not {"type", "enum", "anyOf", "$ref"} & set(field):
        yield where
    for one in field.get("anyOf", ()):
        yield from _untyped_values(one, where)
    if field.get("type") == "array" and isinstance(field.get("items"), dict):
        yield from _untyped_values(field["items"], f"{where}[]")
    if field.get("type") == "object" and "properties" not in field:
        values = field.get("additionalProperties")
        if isinstance(values, dict):
            yield from _untyped_values(values, f"{where}{{}}")
        else:
            yield where


def offenders(rule: Any) -> list[str]:
    """The operations for which a rule does not hold, with what it says of them."""
    found = []
    for entry in ENTRIES:
        try:
            problem = rule(entry, registry.load(entry))
        except AssertionError as exc:
            problem = str(exc) or "assertion failed"
        if problem:
            found.append(f"{entry.name}: {problem}")
    return found


def test_every_operation_says_what_it_is() -> None:
    def rule(entry: Entry, operation: type[Operation]) -> None:
        assert issubclass(operation, Operation)
        for text in (registry.description(operation), registry.help_text(operation)):
            assert text.endswith("."), text
        assert registry.description(operation) != registry.description(Operation), "no docstring"
        assert operation.traits.title
        assert operation.run is not Operation.run, "no body"
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", entry.name)
        assert re.fullmatch(r"[a-z]+( [a-z]+(-[a-z]+)*)*", entry.command)

    assert offenders(rule) == []


def test_every_field_is_described() -> None:
    def rule(_: Entry, operation: type[Operation]) -> list[str]:
        fields = registry.input_schema(operation)["properties"]
        return [name for name, field in fields.items() if "description" not in json.dumps(field)]

    assert offenders(rule) == []


def test_texts_for_models_and_for_people_mention_what_their_reader_can_do() -> None:
    def rule(entry: Entry, operation: type[Operation]) -> list[str]:
        schema = json.dumps(registry.tool_schema(operation), ensure_ascii=False)
        for_models = registry.description(operation) + schema
        for_people = registry.help_text(operation)
        found = [word for word in PERSON_ONLY_WORDS if word in for_models and not operation.traits.local]
        return found + [word for word in MODEL_ONLY_WORDS if word in for_people]

    assert offenders(rule) == []


def test_the_fields_of_an_operation_are_options_and_arguments_of_its_command() -> None:
    def rule(entry: Entry, operation: type[Operation]) -> None:
        command = command_of(entry)
        arguments = [p.name for p in command.params if isinstance(p, click.Argument)]
        options = {name for p in command.params if isinstance(p, click.Option) for name in p.opts}
        assert arguments == list(operation.traits.positional)
        expected = {
            f"--{field.replace('_', '-')}" for field in operation.__struct_fields__ if field not in arguments
        }
        expected |= {"--yes"} if operation.traits.destructive or operation.traits.asks else set()
        expected |= {"--watch"} if operation.traits.watches else set()
        assert options == expected | {"--home", "--space", "--json", "--no-color", "--no-pager"}
        assert command.help == registry.help_text(operation)

    assert offenders(rule) == []


def test_the_example_of_an_operation_is_a_command_line_it_takes() -> None:
    def rule(entry: Entry, operation: type[Operation]) -> list[str]:
        command = command_of(entry)
        context = command.make_context(entry.command, shlex.split(operation.traits.example), obj=None)
        return [str(p.name) for p in command.params if p.required and context.params.get(str(p.name)) is None]

    assert offenders(rule) == []


def test_every_operation_answers_with_a_typed_result() -> None:
    def rule(_: Entry, operation: type[Operation]) -> list[str]:
        kind = registry.result_of(operation)
        assert issubclass(kind, Result)
        assert kind.as_text is not Result.as_text, "no text"
        schema = msgspec.json.schema(kind)
        definitions = schema["$defs"]
        return [where for name, one in definitions.items() for where in untyped(one, name)]

    # A document of the caller's, in any form.
    assert offenders(rule) == ["entries_find: ['FoundEntry.value']"]


def test_results_and_their_parts_have_names_of_their_own() -> None:
    kinds = {
        kind
        for found in pkgutil.iter_modules(mnemos.operations.__path__, "mnemos.operations.")
        for kind in vars(import_module(found.name)).values()
        if isinstance(kind, type) and issubclass(kind, Result | Info)
    }
    names = sorted(kind.__name__ for kind in kinds)
    assert names == sorted(set(names))


def test_what_deletes_says_what_is_at_stake() -> None:
    def rule(_: Entry, operation: type[Operation]) -> None:
        assert operation.traits.destructive == (operation.at_stake is not Operation.at_stake)
        assert not (operation.traits.destructive and operation.traits.read_only)

    assert offenders(rule) == []


def test_what_writes_a_file_does_not_call_itself_read_only() -> None:
    for name in ("sessions_export", "backup"):
        assert every_tool("mcp")[name]["annotations"]["readOnlyHint"] is False


def test_names_commands_and_classes_occur_once() -> None:
    for names in (
        [entry.name for entry in ENTRIES],
        [entry.command for entry in ENTRIES],
        [entry.target for entry in ENTRIES],
        [registry.load(entry).__name__ for entry in ENTRIES],
        [registry.load(entry).traits.title for entry in ENTRIES],
    ):
        assert len(names) == len(set(names))


def test_schemas_mean_the_same_to_validators_of_draft_7() -> None:
    for entry in ENTRIES:
        operation = registry.load(entry)
        schemas = json.dumps([registry.output_schema(operation), registry.input_schema(operation)])
        assert "prefixItems" not in schemas, entry.name


def test_every_operation_that_a_module_declares_is_in_the_index() -> None:
    indexed = {registry.load(entry) for entry in ENTRIES}
    declared = {
        kind
        for found in pkgutil.iter_modules(mnemos.operations.__path__, "mnemos.operations.")
        for kind in vars(import_module(found.name)).values()
        if isinstance(kind, type)
        and issubclass(kind, Operation)
        and kind not in (Operation, LongOperation)
        # Shared by several operations and not one itself.
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


def test_a_set_of_tools_is_the_operations_of_that_set() -> None:
    for form in FORMATS:
        for chosen in sorted(SETS):
            tools = registry.tools(form, chosen)
            names = [tool["function"]["name"] if form == "openai" else tool["name"] for tool in tools]
            assert names == [entry.name for entry in ENTRIES if chosen in entry.sets]
            assert json.loads(json.dumps(tools)) == tools


@pytest.mark.parametrize("form", FORMATS)
def test_every_tool_has_a_complete_schema(form: str) -> None:
    def rule(entry: Entry, operation: type[Operation]) -> list[str]:
        schema = schema_of(form, every_tool(form)[entry.name])
        offered = set(operation.__struct_fields__) - registry.person_fields(operation)
        offered -= registry.unlisted_fields(operation)
        assert schema["type"] == "object"
        assert set(schema["properties"]) == offered
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) == {f.name for f in msgspec.structs.fields(operation) if f.required}
        for ref in references(schema):
            assert ref.removeprefix("#/$defs/") in schema.get("$defs", {})
        kinds = {"type", "enum", "anyOf", "$ref"}
        return [f"{name} may be anything" for name, f in schema["properties"].items() if not kinds & set(f)]

    assert offenders(rule) == []


def test_every_mcp_tool_tells_what_it_may_change() -> None:
    def rule(entry: Entry, operation: type[Operation]) -> None:
        tool, traits = every_tool("mcp")[entry.name], operation.traits
        hints = tool["annotations"]
        assert hints["destructiveHint"] is traits.destructive
        assert not (hints["readOnlyHint"] and hints["destructiveHint"])
        assert hints["idempotentHint"] or not hints["readOnlyHint"]
        assert tool["title"] == hints["title"] == traits.title

    assert offenders(rule) == []


@pytest.mark.parametrize("form", FORMATS)
def test_the_default_tools_are_few_and_cheap(form: str) -> None:
    tools = registry.tools(form, "default")
    assert 1 <= len(tools) <= MOST_TOOLS
    # The part of a tool that models see: clients read the rest themselves.
    shown = [
        {key: value for key, value in tool.get("function", tool).items() if key in SHOWN} for tool in tools
    ]
    # Its name, its description and its schema, by whatever name that goes.
    assert all(len(one) == 3 for one in shown)
    assert sum(count_tokens(json.dumps(one, ensure_ascii=False)) for one in shown) <= MOST_TOKENS


def test_every_operation_is_in_a_set_besides_all_and_in_the_reference() -> None:
    folder = Path(__file__).parents[2] / "docs" / "reference" / "operations"

    def rule(entry: Entry, _: type[Operation]) -> None:
        page = (folder / f"{part_of(entry)}.md").read_text(encoding="utf-8")
        assert entry.sets > {"all"}
        assert f"## {entry.command}\n" in page
        assert f"tool `{entry.name}`" in page

    assert offenders(rule) == []


def test_a_field_that_does_not_exist_is_invalid_input() -> None:
    def rule(entry: Entry, _: type[Operation]) -> str:
        try:
            registry.read(entry.name, {"no_such_field": 1})
        except MnemosError as exc:
            return "" if exc.code == "invalid_input" else exc.code
        return "accepted"

    assert offenders(rule) == []


def test_an_unknown_operation_is_answered_with_those_that_have_the_word() -> None:
    for name, meant in {"serch": "sessions_search", "sessions_lst": "sessions_list"}.items():
        with pytest.raises(NotFound, match=meant) as caught:
            registry.find(name)
        assert len(str(caught.value)) < 200
    with pytest.raises(NotFound, match="lists them"):
        registry.find("xyzzy")
