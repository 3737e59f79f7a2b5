"""Finding, describing and calling operations."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import msgspec

from mnemos.errors import InvalidInput, NotFound
from mnemos.operations.base import Operation, Progress, builtins, no_progress
from mnemos.operations.border import explained, sound
from mnemos.operations.index import BY_NAME, ENTRIES, SETS, Entry

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
        raise InvalidInput(f"{name}: {explained(str(exc), given)}") from exc


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
    return builtins(operation.run(memory, progress))


def disabled() -> dict[str, Any]:
    """The answer of an operation that was not run because memory is switched off."""
    return {"disabled": True, "text": "Memory is disabled (MNEMOS_DISABLED): nothing was done."}


def tools(form: str, chosen: str = "default") -> list[dict[str, Any]]:
    """The operations of a set as tools in the shape that an API expects."""
    if form not in _SHAPES:
        raise InvalidInput(f"format is {form!r}; use {', '.join(_SHAPES)}")
    if chosen not in SETS:
        raise InvalidInput(f"there is no set of tools {chosen!r}; there are {', '.join(sorted(SETS))}")
    return [_SHAPES[form](entry.name, load(entry)) for entry in ENTRIES if chosen in entry.sets]


def input_schema(operation: type[Operation]) -> dict[str, Any]:
    """The JSON schema of the input, in one piece and without titles that say nothing."""
    schema = msgspec.json.schema(operation)
    definitions: dict[str, Any] = schema.get("$defs", {})
    own: dict[str, Any] = definitions.pop(operation.__name__, schema)
    own = {key: value for key, value in own.items() if key not in ("title", "description")}
    return own | ({"$defs": definitions} if definitions else {})


def _openai(name: str, operation: type[Operation]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": described(operation),
            "parameters": input_schema(operation),
        },
    }


def _anthropic(name: str, operation: type[Operation]) -> dict[str, Any]:
    return {
        "name": name,
        "description": described(operation),
        "input_schema": input_schema(operation),
    }


def _mcp(name: str, operation: type[Operation]) -> dict[str, Any]:
    traits = operation.traits
    return {
        "name": name,
        "title": traits.title,
        "description": described(operation),
        "inputSchema": input_schema(operation),
        "annotations": {
            "title": traits.title,
            "readOnlyHint": traits.read_only,
            "destructiveHint": traits.destructive,
            "idempotentHint": traits.read_only or traits.idempotent,
            "openWorldHint": False,
        },
    }


_SHAPES = {"openai": _openai, "anthropic": _anthropic, "mcp": _mcp}
