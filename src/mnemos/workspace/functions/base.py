"""What a SQL function of the workspace is, and how the values of SQLite are read.

A family is a module with ``FUNCTIONS``: what SQLite calls is plain Python over the values it has (``None``,
``int``, ``float``, ``str``, ``bytes``), so that it is tested without a database.

The worker imports every family when it starts. What a family needs of the standard library and beyond is
therefore imported by the functions that use it, except the modules that are loaded anyway; expressions are
compiled when first used, by ``expression``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from math import isfinite
from typing import NamedTuple, Protocol

Value = None | int | float | str | bytes

# No text or blob of the workspace is longer (a test holds it to the limit of the sandbox); what would grow
# past it is refused before it is made.
LONGEST = 4_000_000

LARGEST = 2**63 - 1
SMALLEST = -(2**63)

_SHOWN = 60


class FunctionFailed(ValueError):
    """An argument makes no sense; the message says which and what to use."""


class Gathering(Protocol):
    """An aggregate at work on one group of rows."""

    def step(self, *values: Value) -> None: ...

    def final(self) -> Value: ...


class Sliding(Gathering, Protocol):
    """An aggregate that can also follow the frame of a window."""

    def inverse(self, *values: Value) -> None:
        """Take back the oldest values that were stepped."""

    def value(self) -> Value:
        """What ``final`` would give now."""


# A tuple and not a dataclass: `dataclasses` alone would cost the worker as much as all the families.
class Function(NamedTuple):
    """A function that SQL can call. It has ``call``, ``gather`` or ``slide``, or SQLite brings it."""

    name: str
    signature: str
    """As the documentation writes it: ``split_part(text, separator, number)``."""
    doc: str
    """One line: what it gives."""
    example: str = ""
    """What follows SELECT in a query of one value."""
    gives: str = ""
    """The answer to the example, as SQL writes it; empty where it depends on the clock."""
    call: Callable[..., Value] | None = None
    gather: Callable[[], Gathering] | None = None
    """Makes the aggregate."""
    slide: Callable[[], Sliding] | None = None
    """Makes an aggregate that works as a window function too."""
    arity: tuple[int, ...] = (1,)
    """The numbers of arguments it takes; -1 for any."""
    pure: bool = True
    """The same values give the same answer, so that views and indexes may use it."""
    wants_null: bool = False
    """It decides what NULL means; for every other scalar function NULL in is NULL out."""
    builtin: bool = False
    """SQLite has it already: it is listed, not registered."""

    @property
    def line(self) -> str:
        """Its documentation in one line."""
        example = f" {self.example} = {self.gives}" if self.gives else ""
        return f"{self.signature}: {self.doc}{example}"


@cache
def expression(source: str, flags: int = 0) -> re.Pattern[str]:
    """The compiled expression, kept for good: for expressions of the code, not for those made of data."""
    return re.compile(source, flags)


def shown(value: Value) -> str:
    """The value for a message, long ones cut."""
    if isinstance(value, str | bytes) and len(value) > _SHOWN:
        return f"{value[:_SHOWN]!r}... ({len(value):,} long)"
    return repr(value)


def as_text(value: Value) -> str:
    """A value where text is wanted: numbers as SQLite writes them, blobs as UTF-8."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and not isfinite(value):
        return "Inf" if value > 0 else "-Inf"
    return str(value)


def as_whole(value: Value, name: str) -> int:
    """A value where a whole number is wanted; text of digits will do."""
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer() and SMALLEST <= value <= LARGEST:
        return int(value)
    # Stripped here: int() and float() take fewer characters for blanks than expressions do.
    text = as_text(value).strip()
    if isinstance(value, str | bytes) and expression("[+-]?[0-9]{1,18}").fullmatch(text):
        return int(text)
    raise FunctionFailed(f"{name} is {shown(value)}; give a whole number")


def as_number(value: Value) -> float:
    """A value where a number is wanted; text is read only when all of it is a plain number."""
    if isinstance(value, int | float):
        return float(value)
    text = as_text(value).strip()
    if expression(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?").fullmatch(text):
        return float(text)
    raise FunctionFailed(f"{shown(value)} is not a number; filter it out or read it with parse_number(...)")


def as_json(value: object) -> str:
    """JSON without blanks, other scripts as they are."""
    text: str = _json_encoder()(value)
    return text


@cache
def _json_encoder() -> Callable[[object], str]:
    # json: only for those who use it.
    from json import JSONEncoder

    return JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def no_constant(name: str) -> None:
    """For the reader of JSON, which takes ``NaN`` and ``Infinity`` although they are none."""
    raise ValueError(f"{name} is not JSON")


def refuse_longer(length: int, what: str) -> None:
    """Fail where a result would not fit in a value."""
    if length > LONGEST:
        raise FunctionFailed(f"{what} would be over {LONGEST:,} characters long; ask for less of it")


def storable(value: Value) -> Value:
    """The value as SQLite can hold it: numbers past 64 bits as floating point, not-a-number as NULL."""
    if isinstance(value, str):
        refuse_longer(len(value), "the result")
        return value
    if isinstance(value, int) and not SMALLEST <= value <= LARGEST:
        return float(value)
    if isinstance(value, float) and value != value:
        return None
    return value
