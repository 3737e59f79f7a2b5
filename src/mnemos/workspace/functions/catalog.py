"""Every function of the workspace in one list, and how SQLite gets to know them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from mnemos.workspace.functions import (
    aliases,
    cleaning,
    date_formats,
    dates,
    extraction,
    moments,
    numbers,
    patterns,
    statistics,
    tables,
    text,
)
from mnemos.workspace.functions.base import Function, FunctionFailed, Gathering, Sliding, Value, storable

if TYPE_CHECKING:
    import apsw

FUNCTIONS: tuple[Function, ...] = (
    *text.FUNCTIONS,
    *patterns.FUNCTIONS,
    *tables.FUNCTIONS,
    *cleaning.FUNCTIONS,
    *numbers.FUNCTIONS,
    *dates.FUNCTIONS,
    *extraction.FUNCTIONS,
    *aliases.FUNCTIONS,
    *moments.FUNCTIONS,
    *date_formats.FUNCTIONS,
    *statistics.FUNCTIONS,
)


def register(connection: apsw.Connection) -> None:
    """Let SQL on this connection call the functions.

    All are INNOCUOUS: none has an effect, so that views, defaults and triggers may use them where the schema
    is not trusted. The pure ones are deterministic, so that indexes may too. What fails raises
    FunctionFailed with the name of the function in front.
    """
    # apsw: whoever has a connection has loaded it.
    from apsw import SQLITE_DETERMINISTIC, SQLITE_INNOCUOUS

    for function in FUNCTIONS:
        flags = SQLITE_INNOCUOUS | (SQLITE_DETERMINISTIC if function.pure else 0)
        for count in function.arity:
            if function.call:
                connection.create_scalar_function(function.name, scalar(function), count, flags=flags)
            elif function.slide:
                window = partial(_make_window, function.name, function.slide)
                connection.create_window_function(function.name, window, count, flags=flags)
            elif function.gather:
                aggregate = partial(_make_aggregate, function.name, function.gather)
                connection.create_aggregate_function(function.name, aggregate, count, flags=flags)


def scalar(function: Function) -> Callable[..., Value]:
    """What SQLite calls: NULL in is NULL out, and the answer is one that it can hold."""
    call, named = function.call, _naming(function.name)
    if call is None:
        raise TypeError(f"{function.name} is not a scalar function")
    wants_null = function.wants_null

    def answer(*values: Value) -> Value:
        if not wants_null and None in values:
            return None
        try:
            return storable(call(*values))
        except FunctionFailed as failed:
            raise named(failed) from failed

    return answer


def _naming(name: str) -> Callable[[FunctionFailed], FunctionFailed]:
    return lambda failed: FunctionFailed(f"{name}: {failed}")


def _make_aggregate(name: str, gather: Callable[[], Gathering]) -> _Aggregate:
    return _Aggregate(name, gather())


def _make_window(name: str, slide: Callable[[], Sliding]) -> _Window:
    return _Window(name, slide())


class _Aggregate:
    """An aggregate as SQLite calls it."""

    def __init__(self, name: str, gathering: Gathering) -> None:
        self._named = _naming(name)
        self._step, self._final = gathering.step, gathering.final

    def step(self, *values: Value) -> None:
        try:
            self._step(*values)
        except FunctionFailed as failed:
            raise self._named(failed) from failed

    def final(self) -> Value:
        return storable(self._final())


class _Window(_Aggregate):
    """An aggregate that follows the frame of a window, as SQLite calls it."""

    def __init__(self, name: str, sliding: Sliding) -> None:
        super().__init__(name, sliding)
        # What is taken back was stepped before, so it cannot fail.
        self.inverse, self._value = sliding.inverse, sliding.value

    def value(self) -> Value:
        return storable(self._value())
