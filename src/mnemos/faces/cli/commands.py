"""One operation as one command."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import click
import msgspec
from msgspec import inspect

from mnemos.errors import Corrupt, NotFound, StorageError
from mnemos.faces.cli.output import show
from mnemos.memory import Memory
from mnemos.operations import registry
from mnemos.operations.base import Operation
from mnemos.operations.index import Entry

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Chosen:
    """The options that every command takes."""

    home: str | None = None
    space: str | None = None
    json: bool = False

    def memory(self) -> Memory:
        return Memory.at(self.home, space=self.space)


def common(function: F) -> F:
    """The common options; they may stand before or after the command."""
    for option in reversed(_common_options()):
        function = option(function)
    return function


def _common_options() -> list[Callable[[F], F]]:
    def remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        chosen = ctx.obj if isinstance(ctx.obj, Chosen) else Chosen()
        if param.name and value:
            chosen = replace(chosen, **{param.name: value})
        ctx.obj = chosen

    return [
        click.option("--home", expose_value=False, callback=remember, metavar="FOLDER",
                     help="The home; default $MNEMOS_HOME or ~/.mnemos."),
        click.option("--space", expose_value=False, callback=remember, metavar="NAME",
                     help="Whose memory; default $MNEMOS_SPACE or default."),
        click.option("--json", is_flag=True, expose_value=False, callback=remember,
                     help="Answer in JSON."),
    ]  # fmt: skip


def operation_command(entry: Entry) -> click.Command:
    """The command of an operation: positional fields are arguments, the others options."""
    operation = registry.load(entry)
    text = registry.described(operation)
    command = click.Command(
        entry.command.split()[-1],
        callback=_callback(entry, operation),
        params=list(_parameters(operation)),
        help=text,
        short_help=text.split(". ")[0].splitlines()[0].rstrip("."),
    )
    return common_for(command)


def common_for(command: click.Command) -> click.Command:
    def nothing() -> None:
        """Carries the options that click collects on a function."""

    command.params += reversed(getattr(common(nothing), "__click_params__", []))
    return command


def _callback(entry: Entry, operation: type[Operation]) -> Callable[..., int]:
    @click.pass_obj
    def invoke(chosen: Chosen, /, **given: Any) -> int:
        yes = given.pop("yes", False)
        arguments = {
            name.replace("-", "_"): list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if value is not None and value != ()
        }
        if operation.traits.stdin:
            _read_stdin(operation, arguments)
        request = registry.read(entry.name, arguments)
        with chosen.memory() as memory:
            if operation.traits.read_only:
                _check_home(memory)
            if operation.traits.destructive and not yes:
                _ask(request, memory)
            return show(memory, entry.name, request, as_json=chosen.json)

    return invoke


def _check_home(memory: Memory) -> None:
    """Looking at a home that is not there should not make one."""
    if not memory.database.exists():
        raise NotFound(
            f"there is no memory in {memory.settings.home} yet; `mnemos demo` shows what it can do, "
            "`mnemos sessions import FILE` brings conversations in"
        )


def _ask(request: Operation, memory: Memory) -> None:
    try:
        at_stake = request.at_stake(memory)
    except (Corrupt, StorageError):
        at_stake = "the damaged database"
    if at_stake:
        if not sys.stdin.isatty():
            raise click.UsageError(f"this would take away {at_stake}; add --yes to do it")
        click.confirm(f"This takes away {at_stake}. Go on?", abort=True, err=True)


def _read_stdin(operation: type[Operation], arguments: dict[str, Any]) -> None:
    """Fill the field that may come from standard input, when it is - or left out of a pipe."""
    field = operation.traits.stdin
    last = operation.traits.positional[-1]
    if arguments.get(last) == "-" or (last not in arguments and not sys.stdin.isatty()):
        arguments.pop(last, None)
        arguments[field] = sys.stdin.buffer.read().decode("utf-8", "replace")


def _parameters(operation: type[Operation]) -> list[click.Parameter]:
    info = inspect.type_info(operation)
    if not isinstance(info, inspect.StructType):
        raise TypeError(f"{operation} is no struct")
    fields = {field.name: field for field in info.fields}
    positional = operation.traits.positional
    parameters: list[click.Parameter] = [_argument(fields[name]) for name in positional]
    parameters += [_option(field) for name, field in fields.items() if name not in positional]
    if operation.traits.destructive:
        parameters.append(click.Option(["--yes"], is_flag=True, help="Do not ask."))
    return parameters


def _argument(field: inspect.Field) -> click.Argument:
    shape = _shape(field.type)
    return click.Argument([field.name], required=field.required, type=shape.type, nargs=1)


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
        return _shape(several[0]) if len(several) == 1 else _Shape(click.STRING)
    if isinstance(kind, inspect.BoolType):
        return _Shape(click.BOOL, is_flag=True)
    if isinstance(kind, inspect.IntType):
        return _Shape(click.INT)
    if isinstance(kind, inspect.FloatType):
        return _Shape(click.FLOAT)
    if isinstance(kind, inspect.LiteralType):
        return _Shape(click.Choice([str(value) for value in kind.values]))
    if isinstance(kind, inspect.ListType):
        return replace(_shape(kind.item_type), many=True)
    return _Shape(click.STRING)
