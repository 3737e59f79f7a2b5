"""The catalog of SQL functions, and their registration with SQLite."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from mnemos.workspace.functions import aliases, dates, numbers, patterns, statistics, text, web
from mnemos.workspace.functions.function import Aggregate, Function, FunctionFailed, Value, storable

if TYPE_CHECKING:
    import apsw

FUNCTIONS: tuple[Function, ...] = (
    *text.FUNCTIONS,
    *patterns.FUNCTIONS,
    *web.FUNCTIONS,
    *numbers.FUNCTIONS,
    *dates.FUNCTIONS,
    *aliases.FUNCTIONS,
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
