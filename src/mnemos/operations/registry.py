"""The registry: finds, describes and calls operations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import msgspec
import msgspec.inspect

from mnemos.errors import InvalidInput, NotFound, Refused
from mnemos.inputs import find_nearest, suggest
from mnemos.operations.arguments import (
    explain,
    is_person_only,
    is_unlisted,
    replace_surrogates,
)
from mnemos.operations.base import LongOperation, Operation, Result, builtins, carry_out
from mnemos.operations.index import BY_NAME, ENTRIES, SETS, Entry
from mnemos.progress import Progress, no_progress
from mnemos.structs import convert

if TYPE_CHECKING:
    from mnemos.memory import Memory

# Notes and tables belong to a space, not to a user.
_SHARED = frozenset({"notebook", "workspace"})
_ALSO_LONG = frozenset({"doctor", "evaluate"})


def load(entry: Entry) -> type[Operation]:
    module, _, name = entry.target.partition(":")
    return cast(type[Operation], getattr(import_module(module), name))


def find(name: str) -> type[Operation]:
    """Return an operation by name. NotFound suggests similar names."""
    if name not in BY_NAME:
        meant = suggest(name, BY_NAME) or _suggest_by_word(name)
        raise NotFound(f"There is no operation {name!r}.{meant}")
    return load(BY_NAME[name])


def _suggest_by_word(name: str) -> str:
    word = find_nearest(name, {word for one in BY_NAME for word in one.split("_")})
    near = [one for one in BY_NAME if word in one.split("_")]
    return f" Did you mean {', '.join(near)}?" if near else ' `memory.tools("mcp", "all")` lists them.'


@cache
def is_long(name: str) -> bool:
    """True for an operation that may take minutes."""
    return name in _ALSO_LONG or issubclass(load(BY_NAME[name]), LongOperation)


def description(operation: type[Operation]) -> str:
    """Return the description that models read."""
    return inspect.cleandoc(operation.__doc__ or "")


def help_text(operation: type[Operation]) -> str:
    """Return the description that people read, which names fields as they are typed.

    Descriptions write the name of a field in backticks: ``dry_run`` is ``--dry-run`` for a person.
    """
    text = operation.traits.help or description(operation)
    for name in operation.__struct_fields__:
        typed = name.upper() if name in operation.traits.positional else f"--{name.replace('_', '-')}"
        text = text.replace(f"`{name}`", typed)
    return text


def read(name: str, arguments: Mapping[str, Any], *, by_person: bool = False) -> Operation:
    """Fill an operation with arguments; numbers may be written as text.

    Fields that are for people only are unknown unless ``by_person``.
    """
    kind = find(name)
    clean = replace_surrogates(arguments)
    try:
        if not by_person:
            _check_offered(kind, clean)
        return convert(clean, kind, strict=False)
    except msgspec.ValidationError as exc:
        fields = input_schema(kind)["properties"]
        raise InvalidInput(f"{name}: {explain(str(exc), clean, fields)}") from exc


def _check_offered(operation: type[Operation], arguments: Mapping[str, Any]) -> None:
    hidden = {name for name in person_fields(operation) if name in arguments}
    if hidden:
        raise msgspec.ValidationError(f"Object contains unknown field `{min(hidden)}`")


def has_only_offered(operation: Operation) -> bool:
    """True if no field that only people may set is set."""
    hidden = _list_hidden_defaults(type(operation))
    return all(getattr(operation, name) == default for name, default in hidden)


@cache
def _list_hidden_defaults(kind: type[Operation]) -> tuple[tuple[str, Any], ...]:
    hidden = person_fields(kind)
    return tuple((one.name, one.default) for one in msgspec.structs.fields(kind) if one.name in hidden)


def person_fields(operation: type[Operation]) -> frozenset[str]:
    """Return the fields that only the command line offers."""
    return _list_marked_fields(operation, is_person_only)


def unlisted_fields(operation: type[Operation]) -> frozenset[str]:
    """Return the fields that tools accept but do not list."""
    return _list_marked_fields(operation, is_unlisted)


@cache
def _list_marked_fields(
    operation: type[Operation], mark: Callable[[Mapping[str, Any] | None], bool]
) -> frozenset[str]:
    fields = msgspec.inspect.type_info(operation).fields  # type: ignore[attr-defined]
    return frozenset(
        field.name
        for field in fields
        if isinstance(field.type, msgspec.inspect.Metadata) and mark(field.type.extra)
    )


def call(
    memory: Memory,
    name: str,
    arguments: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
    user_id: str | None = None,
) -> dict[str, Any]:
    """Run an operation and return its result as plain data with its ``text``.

    ``user_id``: the user for whom it is run, regardless of the arguments. An operation that can't tell users
    apart raises Refused, unless it works on what all users of a space share.
    """
    return perform(memory, name, read_for(user_id, name, arguments or {}), progress)


def read_for(user_id: str | None, name: str, arguments: Mapping[str, Any]) -> Operation:
    """Fill an operation with a model's arguments, for a user; None for any user."""
    operation = read(name, arguments)
    return operation if user_id is None else _set_user(operation, BY_NAME[name], user_id)


def perform(
    memory: Memory, name: str, operation: Operation, progress: Progress = no_progress, *, text: bool = True
) -> dict[str, Any]:
    """Run a filled operation and return plain data, by default with ``text``."""
    if memory.settings.disabled and operation.writes():
        return answer_disabled()
    result = run_for_host(memory, name, operation, progress)
    return builtins(result) if text else cast(dict[str, Any], msgspec.to_builtins(result))


def run_for_host(memory: Memory, name: str, operation: Operation, progress: Progress) -> Result:
    """Run a filled operation and return its result."""
    # From now on, a tool of that name in the host's messages is ours.
    memory.called_tools.add(name)
    return carry_out(operation, memory, progress)


def _set_user(operation: Operation, entry: Entry, user_id: str) -> Operation:
    if "user_id" in operation.__struct_fields__:
        return msgspec.structs.replace(operation, user_id=user_id)
    if not entry.sets & _SHARED:
        raise Refused(f"{entry.name} can't be limited to one user: it reads or changes data of others")
    return operation


def answer_disabled() -> dict[str, Any]:
    """Return the answer of an operation that was not run: memory is disabled."""
    return {"disabled": True, "text": "Memory is disabled (MNEMOS_DISABLED): nothing was done."}


def tools(form: str, chosen: str = "default") -> list[dict[str, Any]]:
    """Return the operations of a set as tools in the format of an API."""
    if form not in _SHAPES:
        raise InvalidInput(f"Unknown format {form!r}.{suggest(form, _SHAPES)} Use {', '.join(_SHAPES)}.")
    return [_SHAPES[form](entry.name, load(entry)) for entry in choose_entries(chosen)]


def choose_entries(chosen: str) -> list[Entry]:
    """Return the entries for sets and tools, separated by commas, in index order."""
    names = {name.strip() for name in chosen.split(",")} - {""}
    unknown = sorted(names - SETS - BY_NAME.keys())
    if unknown or not names:
        first = unknown[0] if unknown else chosen
        raise InvalidInput(
            f"Unknown tool or set of tools {first!r}.{suggest(first, SETS | BY_NAME.keys())} "
            f"Use {', '.join(sorted(SETS))}, or names of tools, separated by commas."
        )
    return [entry for entry in ENTRIES if names & (entry.sets | {entry.name})]


def command_schema(operation: type[Operation]) -> dict[str, Any]:
    """Return the JSON schema of the input with the fields for people."""
    own, definitions = _schema(operation)
    return own | ({"$defs": definitions} if definitions else {})


def input_schema(operation: type[Operation]) -> dict[str, Any]:
    """Return the JSON schema of the input without the fields for people."""
    schema = command_schema(operation)
    hidden = person_fields(operation)
    offered = {name: field for name, field in schema["properties"].items() if name not in hidden}
    return schema | {"properties": offered}


def tool_schema(operation: type[Operation]) -> dict[str, Any]:
    """Return the input's schema for a model: optional fields do not allow null.

    Null is still accepted as left out. Spelled out, it would double the token cost of the tools. Unlisted
    fields are accepted, too.
    """
    schema = input_schema(operation)
    fields = schema["properties"].items()
    unlisted = unlisted_fields(operation)
    return schema | {"properties": {name: _lean(field) for name, field in fields if name not in unlisted}}


def output_schema(operation: type[Operation]) -> dict[str, Any]:
    """Return the schema of an answer: the result, an ``error``, or ``disabled``.

    All three are included because some clients validate failures, too. A result may have an ``error`` field
    of its own.
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
    """Return the result type of an operation."""
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
    """Return the schema of a struct and those it refers to."""
    schema = _strip_prefixes(msgspec.json.schema(kind))
    definitions: dict[str, Any] = schema.get("$defs", {})
    own: dict[str, Any] = definitions.pop(kind.__name__, schema)
    return {key: value for key, value in own.items() if key not in ("title", "description")}, definitions


def _strip_prefixes(schema: Any) -> Any:
    """Return a schema with tuples described as lists of that length.

    Many clients of MCP validate by draft 7 of JSON Schema. It does not know ``prefixItems``, and reads the
    ``items: false`` next to it as a list that must be empty.
    """
    if isinstance(schema, list | tuple):
        return [_strip_prefixes(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {name: _strip_prefixes(value) for name, value in schema.items() if name != "prefixItems"}
    kinds = _strip_prefixes(schema.get("prefixItems"))
    if isinstance(kinds, list):
        different = [kind for number, kind in enumerate(kinds) if kind not in kinds[:number]]
        changed["items"] = different[0] if len(different) == 1 else {"anyOf": different}
    return changed


def _openai(name: str, operation: type[Operation]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description(operation),
            "parameters": tool_schema(operation),
        },
    }


def _anthropic(name: str, operation: type[Operation]) -> dict[str, Any]:
    return {
        "name": name,
        "description": description(operation),
        "input_schema": tool_schema(operation),
    }


def _mcp(name: str, operation: type[Operation]) -> dict[str, Any]:
    traits = operation.traits
    return {
        "name": name,
        "title": traits.title,
        "description": description(operation),
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
