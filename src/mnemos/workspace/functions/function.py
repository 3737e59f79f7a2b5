"""Declaration of a SQL function, and conversion of SQLite's values to what it works on.

A family is a module with a list ``FUNCTIONS``. SQLite calls plain Python over its own values (``None``,
``int``, ``float``, ``str``, ``bytes``), so that functions are tested without a database.

The worker imports every family when it starts. Functions therefore import what they need of the standard
library and beyond when they are called, except for modules that are loaded anyway, and compile regular
expressions on first use with ``expression``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from math import isfinite
from typing import NamedTuple, Protocol, TypeVar

Value = None | int | float | str | bytes

# The longest text or blob of the workspace. A test compares it with the limit of the sandbox.
LONGEST = 4_000_000
LARGEST = 2**63 - 1
SMALLEST = -(2**63)
_LONGEST_IN_MESSAGE = 60
_TAKES_ANY_NUMBER = 0x04  # inspect.CO_VARARGS


class FunctionFailed(ValueError):
    """An argument makes no sense. The message says which one, and what to use."""


class Aggregate(Protocol):
    """An aggregate over a group of rows, or over the moving frame of a window."""

    def step(self, *values: Value) -> None: ...

    def inverse(self, *values: Value) -> None:
        """Remove the oldest values, which were stepped before."""

    def value(self) -> Value:
        """Return the current result."""


# Not a dataclass: importing `dataclasses` would cost the worker as much as all families together.
class Function(NamedTuple):
    """A SQL function: a scalar (``call``), an aggregate (``make``) or one of SQLite's own."""

    name: str
    signature: str
    """As in the documentation: ``split_part(text, separator, number)``."""
    doc: str
    """One line of documentation."""
    example: str = ""
    """An expression, to be written after SELECT."""
    gives: str = ""
    """Result of the example as a SQL literal. Empty if it depends on the clock."""
    call: Callable[..., Value] | None = None
    make: Callable[[], Aggregate] | None = None
    """Makes the aggregate for a group of rows."""
    arity: tuple[int, ...] = (1,)
    """Possible numbers of arguments; -1 for any."""
    pure: bool = True
    """The same arguments always give the same result, so that indexes may use it."""
    wants_null: bool = False
    """It handles NULL itself. Any other scalar function returns NULL if an argument is NULL."""
    builtin: bool = False
    """SQLite's own: listed, but not registered."""


_Call = TypeVar("_Call", bound=Callable[..., Value])


def declare(family: list[Function], signature: str, example: str, gives: str) -> Callable[[_Call], _Call]:
    """Return a decorator that adds a pure scalar function, documented by its docstring, to the family."""

    def add(call: _Call) -> _Call:
        doc = " ".join((call.__doc__ or "").split())
        family.append(
            Function(call.__name__, signature, doc, example, gives, call=call, arity=count_arguments(call))
        )
        return call

    return add


def count_arguments(call: Callable[..., Value]) -> tuple[int, ...]:
    """Return the numbers of arguments that a Python function takes, or -1 for any."""
    code = call.__code__
    if code.co_flags & _TAKES_ANY_NUMBER:
        return (-1,)
    return tuple(range(code.co_argcount - len(call.__defaults__ or ()), code.co_argcount + 1))


@cache
def expression(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return the compiled expression, cached for good. Not for expressions made of data."""
    return re.compile(source, flags)


def quote_value(value: Value) -> str:
    """Return a value for an error message, shortened."""
    if isinstance(value, str | bytes) and len(value) > _LONGEST_IN_MESSAGE:
        return f"{value[:_LONGEST_IN_MESSAGE]!r}... ({len(value):,} long)"
    return repr(value)


def as_text(value: Value) -> str:
    """Convert a value to text: numbers as SQLite writes them, blobs as UTF-8."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and not isfinite(value):
        return "Inf" if value > 0 else "-Inf"
    return str(value)


def as_whole(value: Value, name: str) -> int:
    """Convert a value to an integer. Text must be digits with an optional sign."""
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer() and SMALLEST <= value <= LARGEST:
        return int(value)
    # Stripped here: int() and float() take fewer characters for blanks than expressions do.
    text = as_text(value).strip()
    if isinstance(value, str | bytes) and expression("[+-]?[0-9]{1,18}").fullmatch(text):
        return int(text)
    raise FunctionFailed(f"{name} is {quote_value(value)}; give a whole number")


def as_number(value: Value) -> float:
    """Convert a value to a float. Text must be a plain number and nothing else."""
    if isinstance(value, int | float):
        return float(value)
    text = as_text(value).strip()
    if expression(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?").fullmatch(text):
        return float(text)
    raise FunctionFailed(
        f"{quote_value(value)} is not a number; filter it out or convert it with parse_number(...)"
    )


def as_json(value: object) -> str:
    """Return compact JSON, with characters of other scripts unescaped."""
    text: str = _json_encoder()(value)
    return text


@cache
def _json_encoder() -> Callable[[object], str]:
    # json: loaded by the first function that needs it.
    from json import JSONEncoder

    return JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def refuse_constant(name: str) -> None:
    """Refuse ``NaN`` and ``Infinity``, which Python's JSON decoder would accept."""
    raise ValueError(f"{name} is not JSON")


def refuse_longer(length: int, what: str) -> None:
    """Raise FunctionFailed for a result that would not fit in a value."""
    if length > LONGEST:
        raise FunctionFailed(f"{what} would be over {LONGEST:,} characters long; ask for less of it")


def storable(value: Value) -> Value:
    """Return a value that SQLite can hold: a float for integers over 64 bits, NULL for not-a-number."""
    if isinstance(value, str):
        refuse_longer(len(value), "the result")
        return value
    if isinstance(value, int) and not SMALLEST <= value <= LARGEST:
        return float(value)
    if isinstance(value, float) and value != value:
        return None
    return value
