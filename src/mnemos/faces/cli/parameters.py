"""The fields of an operation as arguments and options of a command."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import click
import msgspec
from msgspec import inspect

from mnemos.operations.base import Operation


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a command takes; ``described`` are its arguments with what they are for."""

    parameters: list[click.Parameter]
    described: list[tuple[str, str]]


def parameters_of(operation: type[Operation]) -> Parameters:
    info = inspect.type_info(operation)
    if not isinstance(info, inspect.StructType):
        raise TypeError(f"{operation} is no struct")
    fields = {field.name: field for field in info.fields}
    positional = [fields[name] for name in operation.traits.positional]
    piped = operation.traits.stdin
    parameters: list[click.Parameter] = [
        _argument(field, required=field.required and field.name != piped) for field in positional
    ]
    parameters += [_option(field) for field in info.fields if field not in positional]
    if operation.traits.watches:
        parameters.append(
            click.Option(["--watch"], is_flag=True, help="Go on as there is more, until Ctrl-C.")
        )
    if operation.traits.destructive:
        parameters.append(click.Option(["--yes"], is_flag=True, help="Do not ask."))
    return Parameters(
        parameters, [(field.name.upper(), _argument_help(field, operation)) for field in positional]
    )


def _argument(field: inspect.Field, *, required: bool) -> click.Argument:
    return click.Argument([field.name], required=required, type=_shape(field.type).type, nargs=1)


def _argument_help(field: inspect.Field, operation: type[Operation]) -> str:
    traits = operation.traits
    notes = [_shape(field.type).help]
    if traits.stdin and field.name == traits.positional[-1]:
        notes.append("- or nothing reads standard input")
    if field.name == traits.edited:
        notes.append("at a terminal, nothing opens an editor")
    if field.name == traits.stdout:
        notes.append("- writes to standard output")
    return "; ".join(filter(None, notes))


def _option(field: inspect.Field) -> click.Option:
    shape = _shape(field.type)
    name = f"--{field.name.replace('_', '-')}"
    if shape.is_flag:
        return click.Option([name], is_flag=True, default=None, help=shape.help)
    default = None if field.default in (msgspec.NODEFAULT, None) else field.default
    return click.Option(
        [name],
        type=shape.type,
        multiple=shape.many,
        required=field.required,
        help=shape.help + (f" [default: {default}]" if default is not None else ""),
    )


class Json(click.ParamType[Any]):
    """An object or a list of anything, typed as JSON."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError as exc:
            self.fail(f"{value[:80]!r} is no JSON: {exc}", param, ctx)


@dataclass(frozen=True, slots=True)
class _Shape:
    type: click.ParamType[Any] | None
    help: str = ""
    many: bool = False
    is_flag: bool = False


def _shape(kind: inspect.Type) -> _Shape:
    """How a field is typed on a command line."""
    if isinstance(kind, inspect.Metadata):
        described = (kind.extra_json_schema or {}).get("description", "")
        return replace(_shape(kind.type), help=described)
    if isinstance(kind, inspect.UnionType):
        several = [t for t in kind.types if not isinstance(t, inspect.NoneType)]
        if any(isinstance(t, inspect.ListType | inspect.DictType) for t in several[1:]):
            return _Shape(Json())
        return _shape(several[0]) if len(several) == 1 else _Shape(click.STRING)
    if isinstance(kind, inspect.BoolType):
        return _Shape(click.BOOL, is_flag=True)
    if isinstance(kind, inspect.IntType):
        return _Shape(click.INT)
    if isinstance(kind, inspect.FloatType):
        return _Shape(click.FLOAT)
    if isinstance(kind, inspect.LiteralType):
        return _Shape(click.Choice([str(value) for value in kind.values]))
    if isinstance(kind, inspect.DictType):
        return _Shape(Json())
    if isinstance(kind, inspect.ListType) and isinstance(kind.item_type, inspect.AnyType):
        return _Shape(Json())
    if isinstance(kind, inspect.ListType):
        return replace(_shape(kind.item_type), many=True)
    return _Shape(click.STRING)
