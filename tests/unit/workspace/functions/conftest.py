"""A database that knows the functions, with the settings of the sandbox that bear on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import apsw
import pytest

from mnemos.workspace.functions import register
from mnemos.workspace.functions.function import Value


@pytest.fixture
def connection() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    register(connection)
    yield connection
    connection.close()


@pytest.fixture
def call(connection: apsw.Connection) -> Callable[..., Value]:
    """Call a function through SQL with bound values."""

    def answer(name: str, *values: Value) -> Value:
        marks = ", ".join("?" * len(values))
        return connection.execute(f'SELECT "{name}"({marks})', values).get

    return answer


@pytest.fixture
def call_json(call: Callable[..., Value]) -> Callable[..., Any]:
    """The same, for functions that answer in JSON."""
    return lambda name, *values: json.loads(call(name, *values))


@pytest.fixture
def over(connection: apsw.Connection) -> Callable[..., Value]:
    """Call an aggregate over rows."""

    def answer(name: str, *rows: tuple[Value, ...]) -> Value:
        width = len(rows[0])
        columns = ", ".join(f"column{number}" for number in range(1, width + 1))
        values = ", ".join("(" + ", ".join("?" * width) + ")" for _ in rows)
        bound = [value for row in rows for value in row]
        return connection.execute(f"SELECT {name}({columns}) FROM (VALUES {values})", bound).get

    return answer
