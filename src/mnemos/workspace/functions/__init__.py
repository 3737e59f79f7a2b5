"""The functions that SQL of the workspace can call: the catalog of all families, and their registration.

Names that other databases use are one row of a table each. Further ones are in ``hints/equivalents.txt``,
with what SQLite has in their place.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from mnemos.workspace.functions import dates, numbers, patterns, statistics, text, web
from mnemos.workspace.functions.function import (
    Aggregate,
    Function,
    FunctionFailed,
    Value,
    as_text,
    as_whole,
    count_arguments,
    refuse_longer,
    storable,
)

if TYPE_CHECKING:
    import apsw

# --- names of other databases -------------------------------------------------------------------


def _right(text: Value, count: Value) -> Value:
    whole, size = as_text(text), as_whole(count, "count")
    return whole[max(len(whole) - size, 0) :] if size >= 0 else whole[-size:]


def _lpad(text: Value, length: Value, fill: Value = " ") -> Value:
    whole, padding = _cut_and_fill(text, length, fill)
    return padding + whole


def _rpad(text: Value, length: Value, fill: Value = " ") -> Value:
    whole, padding = _cut_and_fill(text, length, fill)
    return whole + padding


def _cut_and_fill(text: Value, length: Value, fill: Value) -> tuple[str, str]:
    """Return the text cut to the length, and the padding that it lacks."""
    wanted = max(as_whole(length, "length"), 0)
    refuse_longer(wanted, "the result")
    whole, unit = as_text(text)[:wanted], as_text(fill)
    missing = wanted - len(whole)
    return whole, (unit * (missing // len(unit) + 1))[:missing] if unit else ""


def _now() -> Value:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())


# Signature, documentation, example, its result, what is called.
_Row = tuple[str, str, str, str, Callable[..., Value]]
_PURE: tuple[_Row, ...] = (
    ("len(text)", "Number of characters.", "len('naïve')", "5", lambda text: len(as_text(text))),
    ("left(text, count)", "The first characters; a negative count leaves out the last ones.",
     "left('abcdef', 2)", "'ab'", lambda text, count: as_text(text)[: as_whole(count, "count")]),
    ("right(text, count)", "The last characters; a negative count leaves out the first ones.",
     "right('abcdef', 2)", "'ef'", _right),
    ("reverse(text)", "The characters in reverse order.", "reverse('abc')", "'cba'",
     lambda text: as_text(text)[::-1]),
    ("lpad(text, length [, fill])", "Padded on the left, or cut, to the length.", "lpad(7, 3, '0')",
     "'007'", _lpad),
    ("rpad(text, length [, fill])", "Padded on the right, or cut, to the length.", "rpad('ab', 4, '.')",
     "'ab..'", _rpad),
)  # fmt: skip
_OF_THE_CLOCK: tuple[_Row, ...] = (
    ("now()", "Date and time in UTC, YYYY-MM-DD HH:MM:SS.", "now()", "", _now),
    ("getdate()", "Same as now().", "getdate()", "", _now),
    ("curdate()", "Today in UTC, YYYY-MM-DD.", "curdate()", "",
     lambda: time.strftime("%Y-%m-%d", time.gmtime())),
)  # fmt: skip
_OF_NULL: _Row = (
    "nvl(value, other)", "The value, or the other one if it is NULL.", "nvl(NULL, 'none')", "'none'",
    lambda value, other: other if value is None else value,
)  # fmt: skip
# Listed, because models look for them.
_OF_SQLITE = (
    ("concat(value, ...)", "All values as one text; NULL is left out.", "concat('a', NULL, 1)", "'a1'"),
    ("concat_ws(separator, value, ...)", "The values that are not NULL, with the separator between them.",
     "concat_ws(', ', 'a', NULL, 'b')", "'a, b'"),
    ("if(condition, value, other)", "The value if the condition is true, otherwise the other; also iif().",
     "if(1 < 2, 'yes', 'no')", "'yes'"),
)  # fmt: skip


def _make(row: _Row) -> Function:
    signature, doc, example, gives, call = row
    name = signature.partition("(")[0]
    return Function(name, signature, doc, example, gives, call=call, arity=count_arguments(call))


_ALIASES = (
    *map(_make, _PURE),
    *(_make(row)._replace(pure=False) for row in _OF_THE_CLOCK),
    _make(_OF_NULL)._replace(wants_null=True),
    *(
        Function(signature.partition("(")[0], signature, doc, example, gives, builtin=True)
        for signature, doc, example, gives in _OF_SQLITE
    ),
)


# --- all of them --------------------------------------------------------------------------------

FUNCTIONS: tuple[Function, ...] = (
    *text.FUNCTIONS,
    *patterns.FUNCTIONS,
    *web.FUNCTIONS,
    *numbers.FUNCTIONS,
    *dates.FUNCTIONS,
    *_ALIASES,
    *statistics.FUNCTIONS,
)


def register(connection: apsw.Connection) -> None:
    """Make the functions available on a connection.

    All are INNOCUOUS: none has an effect, so that views, defaults and triggers may use them although the
    schema is not trusted. Pure ones are deterministic, so that indexes may use them, too. A failure raises
    FunctionFailed, with the name of the function in front.
    """
    # apsw: whoever has a connection has loaded it.
    from apsw import SQLITE_DETERMINISTIC, SQLITE_INNOCUOUS

    for function in FUNCTIONS:
        flags = SQLITE_INNOCUOUS | (SQLITE_DETERMINISTIC if function.pure else 0)
        for count in function.arity:
            if function.call:
                connection.create_scalar_function(function.name, scalar(function), count, flags=flags)
            elif function.make:
                window = partial(_Window, function.name, function.make)
                connection.create_window_function(function.name, window, count, flags=flags)


def scalar(function: Function) -> Callable[..., Value]:
    """Return what SQLite calls: NULL in, NULL out, and a result that it can hold."""
    call, wants_null = function.call, function.wants_null
    if call is None:
        raise TypeError(f"{function.name} is not a scalar function")

    def answer(*values: Value) -> Value:
        if not wants_null and None in values:
            return None
        try:
            return storable(call(*values))
        except FunctionFailed as failed:
            raise _with_name(failed, function.name) from failed

    return answer


def _with_name(failed: FunctionFailed, name: str) -> FunctionFailed:
    return FunctionFailed(f"{name}: {failed}")


class _Window:
    """An aggregate as SQLite calls it, also over the frame of a window."""

    def __init__(self, name: str, make: Callable[[], Aggregate]) -> None:
        aggregate = make()
        self._name = name
        self._step, self._value, self.inverse = aggregate.step, aggregate.value, aggregate.inverse

    def step(self, *values: Value) -> None:
        try:
            self._step(*values)
        except FunctionFailed as failed:
            raise _with_name(failed, self._name) from failed

    def value(self) -> Value:
        return storable(self._value())

    final = value
