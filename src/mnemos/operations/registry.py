"""Finding, describing and calling operations."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import msgspec

from mnemos.errors import InvalidInput, NotFound
from mnemos.operations.base import LongOperation, Operation, Result, builtins, carry_out
from mnemos.operations.border import explained, sound
from mnemos.operations.index import BY_NAME, ENTRIES, SETS, Entry
from mnemos.progress import Progress, no_progress

if TYPE_CHECKING:
    from mnemos.memory import Memory


def load(entry: Entry) -> type[Operation]:
    module, _, name = entry.target.partition(":")
    return cast(type[Operation], getattr(import_module(module), name))


def find(name: str) -> type[Operation]:
    """The operation of that name; an unknown one raises NotFound naming them all."""
    if name not in BY_NAME:
        raise NotFound(f"there is no operation {name!r}; there are {', '.join(sorted(BY_NAME))}")
    return load(BY_NAME[name])


def described(operation: type[Operation]) -> str:
    """The operation's docstring on one margin."""
    return inspect.cleandoc(operation.__doc__ or "")


def read(name: str, arguments: Mapping[str, Any]) -> Operation:
    """An operation filled with arguments; numbers written as text are taken as numbers."""
    kind = find(name)
    given = sound(arguments)
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as exc:
        fields = input_schema(kind)["properties"]
        raise InvalidInput(f"{name}: {explained(str(exc), given, fields)}") from exc


def call(
    memory: Memory,
    name: str,
    arguments: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Run an operation; its result as plain data, with a readable ``text``."""
    operation = read(name, arguments or {})
    if memory.settings.disabled and operation.writes():
        return disabled()
    return builtins(carry_out(operation, memory, progress))


def disabled() -> dict[str, Any]:
    """The answer of an operation that was not run because memory is switched off."""
    return {"disabled": True, "text": "Memory is disabled (MNEMOS_DISABLED): nothing was done."}


def tools(form: str, chosen: str = "default") -> list[dict[str, Any]]:
    """The operations of a set as tools in the shape that an API expects."""
    if form not in _SHAPES:
        raise InvalidInput(f"format is {form!r}; use {', '.join(_SHAPES)}")
    return [_SHAPES[form](entry.name, load(entry)) for entry in chosen_entries(chosen)]


def chosen_entries(chosen: str) -> list[Entry]:
    """The entries of sets and of single tools, separated by commas, in the order of the index."""
    names = {name.strip() for name in chosen.split(",")} - {""}
    unknown = sorted(names - SETS - BY_NAME.keys())
    if unknown or not names:
        raise InvalidInput(
            f"there is no set of tools {unknown[0] if unknown else chosen!r}; "
            f"use {', '.join(sorted(SETS))}, or the names of single tools, separated by commas"
        )
    return [entry for entry in ENTRIES if names & (entry.sets | {entry.name})]


def input_schema(operation: type[Operation]) -> dict[str, Any]:
    """The JSON schema of the input, in one piece and without titles that say nothing."""
    own, definitions = _schema(operation)
    return own | ({"$defs": definitions} if definitions else {})


def tool_schema(operation: type[Operation]) -> dict[str, Any]:
    """The schema of the input as a model reads it: a field that may be left out need not allow null, too.

    Null is still taken for left out. Spelled out, it would double what the tools cost in every prompt.
    """
    schema = input_schema(operation)
    return schema | {"properties": {name: _lean(field) for name, field in schema["properties"].items()}}


def output_schema(operation: type[Operation]) -> dict[str, Any]:
    """The JSON schema of what a call answers: the result with its ``text``, or an ``error``.

    Where memory may be disabled, that it is. All three are in it because some clients hold failures against
    the schema, too. A result may have an ``error`` of its own, which is another one.
    """
    own, definitions = _schema(result_of(operation))
    fields = own.get("properties", {})
    required = [*own.get("required", ()), "text"]
    answers = [required] + ([] if operation.traits.read_only else [["disabled", "text"]])
    failed: dict[str, Any] = {"required": ["error"]}
    properties = {**fields, **_BESIDE}
    if "error" in fields:
        failed["properties"] = {"error": _BESIDE["error"]}
        properties["error"] = {"anyOf": [fields["error"], _BESIDE["error"]]}
    return {
        "type": "object",
        "properties": properties,
        "anyOf": [{"required": list(dict.fromkeys(names))} for names in answers] + [failed],
        **({"$defs": definitions} if definitions else {}),
    }


def result_of(operation: type[Operation]) -> type[Result]:
    """The struct that an operation returns, by the annotation of its method."""
    method = operation.work if issubclass(operation, LongOperation) else operation.run
    answer = method.__annotations__["return"]
    kind = method.__globals__[answer] if isinstance(answer, str) else answer
    return cast(type[Result], kind)


def _lean(field: dict[str, Any]) -> dict[str, Any]:
    if field.get("default", ...) is not None or "anyOf" not in field:
        return field
    rest = {key: value for key, value in field.items() if key not in ("anyOf", "default")}
    kinds = [kind for kind in field["anyOf"] if kind != {"type": "null"}]
    return rest | (kinds[0] if len(kinds) == 1 else {"anyOf": kinds})


_BESIDE: dict[str, Any] = {
    "text": {"type": "string"},
    "disabled": {"type": "boolean"},
    "error": {
        "type": "object",
        "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
        "required": ["code", "message"],
    },
}


def _schema(kind: type[msgspec.Struct]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of a struct itself, and of those that it refers to."""
    schema = msgspec.json.schema(kind)
    definitions: dict[str, Any] = schema.get("$defs", {})
    own: dict[str, Any] = definitions.pop(kind.__name__, schema)
    return {key: value for key, value in own.items() if key not in ("title", "description")}, definitions


def _openai(name: str, operation: type[Operation]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": described(operation),
            "parameters": tool_schema(operation),
        },
    }


def _anthropic(name: str, operation: type[Operation]) -> dict[str, Any]:
    return {
        "name": name,
        "description": described(operation),
        "input_schema": tool_schema(operation),
    }


def _mcp(name: str, operation: type[Operation]) -> dict[str, Any]:
    traits = operation.traits
    return {
        "name": name,
        "title": traits.title,
        "description": described(operation),
        "inputSchema": tool_schema(operation),
        "outputSchema": output_schema(operation),
        "annotations": {
            "title": traits.title,
            "readOnlyHint": traits.read_only,
            "destructiveHint": traits.destructive,
            "idempotentHint": traits.read_only or traits.idempotent,
            "openWorldHint": False,
        },
    }


_SHAPES = {"openai": _openai, "anthropic": _anthropic, "mcp": _mcp}
