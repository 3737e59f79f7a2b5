"""Parts of a server's memory: the originals' methods, as calls of operations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol

from mnemos.errors import NotFound, Refused
from mnemos.inputs import moment
from mnemos.inputs import name as check_name
from mnemos.inputs import names as check_names

Answer = dict[str, Any]
_MISSING: Any = object()


class Caller(Protocol):
    """The memory on a server that a part belongs to."""

    session_id: str
    """The session whose turns count for facts, as a local memory is one."""

    def ask(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """Run an operation with a program's arguments."""
        ...

    def read_lines(self, name: str, arguments: Mapping[str, Any]) -> Iterator[Answer]:
        """Yield the lines that an operation writes, parsed."""
        ...

    def knows(self, name: str, field: str) -> bool:
        """True if an operation has this field."""
        ...


@dataclass(frozen=True, slots=True)
class Via:
    """The operation that a method calls.

    ``fields``: how the operation calls an argument, where that differs; after ``=`` comes a field that takes
    sessions, of which whole ids are meant. ``fixed``: further fields, unless an argument sets them.
    ``convert`` makes fields of arguments, ``answer`` the method's result; ``absent`` is the result where
    there is no such thing.
    """

    operation: str
    fields: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    answer: Callable[[Answer], Any] = lambda _: None
    convert: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    absent: Any = _MISSING


class RemotePart:
    """A part of a memory on a server."""

    def __init__(self, memory: Caller) -> None:
        self._memory = memory

    def close(self) -> None:
        """Do nothing: the memory closes its connections."""


def make_part(
    name: str, original: type, base: type, table: Mapping[str, Via], advice: Mapping[str, str]
) -> type:
    """Return a class with the public methods of a part.

    Methods of ``base`` are kept, those in ``table`` call an operation, and the others raise Refused with
    ``advice``.
    """
    methods: dict[str, Any] = {}
    for method, function in inspect.getmembers(original, callable):
        if method.startswith("_") or hasattr(base, method):
            continue
        path = f"memory.{name}.{method}" if name else f"memory.{method}"
        if method in table:
            made = make_method(path, inspect.signature(function), table[method])
        else:
            made = _make_refusal(path, advice.get(method, ""))
        made.__name__, made.__qualname__ = method, f"{base.__name__}.{method}"
        made.__doc__ = function.__doc__
        methods[method] = made
    return type(base.__name__, (base,), methods)


def make_method(path: str, signature: inspect.Signature, via: Via) -> Callable[..., Any]:
    """Return a method with this signature that calls an operation."""
    parameters = [one for one in signature.parameters.values() if one.name != "self"]
    plain = signature.replace(parameters=parameters)

    def call(self: RemotePart, *args: Any, **kwargs: Any) -> Any:
        bound = plain.bind(*args, **kwargs)
        bound.apply_defaults()
        fields = dict(via.fixed) | _fill(self._memory, path, via, plain, bound.arguments)
        try:
            answer = self._memory.ask(via.operation, fields)
        except NotFound:
            if via.absent is _MISSING:
                raise
            return via.absent
        return via.answer(answer)

    return call


def _fill(
    memory: Caller, path: str, via: Via, signature: inspect.Signature, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Convert a method's arguments to an operation's fields."""
    fields: dict[str, Any] = {}
    for name, value in given.items():
        default, field = signature.parameters[name].default, via.fields.get(name, name)
        if value is None and default is None:
            if name == "session_id" and memory.knows(via.operation, field):
                fields[field] = memory.session_id
        elif field.startswith("="):
            fields[field[1:]] = name_exactly(name, value)
        elif memory.knows(via.operation, field):
            # A date without a zone is in the caller's zone, which may differ from the server's.
            plain = moment(name, value) if isinstance(value, date) else value
            fields[field] = via.convert[name](plain) if name in via.convert else plain
        elif value != default:
            raise Refused(
                f"{path}: {name} can't be set over HTTP. Leave it out, or open the home of this memory."
            )
    return fields


def drop_none(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are not None."""
    return {name: value for name, value in given.items() if value is not None}


def as_list(value: str | Sequence[str]) -> list[str]:
    """Return one name or several as a list."""
    return [value] if isinstance(value, str) else list(value)


def join_ids(value: str | Sequence[str]) -> str:
    """Join the ids of facts."""
    return ", ".join(as_list(value))


def name_exactly(label: str, value: str | Sequence[str]) -> str | list[str]:
    """Mark session ids as whole, since operations also accept their beginnings."""
    if label.endswith("s"):
        return [f"session:{one}" for one in check_names(label, value) or ()]
    return f"session:{check_name(label, value)}"


def _make_refusal(path: str, advice: str) -> Callable[..., Any]:
    def refuse(self: RemotePart, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG001
        raise Refused(f"{path} does not work over HTTP. {advice or 'Open the home of this memory for it.'}")

    return refuse
