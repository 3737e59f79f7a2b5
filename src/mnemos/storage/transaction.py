"""A transaction as the stores see it: named queries run, rows come back. Each engine has its own."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Protocol

from mnemos.storage.queries import Queries
from mnemos.storage.space import Space


def write_ids(ids: Iterable[int]) -> str:
    """Write a list of ids as JSON, as queries take it."""
    return f"[{','.join(map(str, ids))}]"


def write_names(names: Iterable[str] | None) -> str | None:
    """Write a list of names as JSON; None restricts nothing."""
    return None if names is None else json.dumps(list(names))


class Transaction(Protocol):
    """A connection inside a transaction.

    Values are bound in order to ``?`` or by name to ``:name``. Lists of ids and names are bound as JSON.
    """

    def rows(self, sql: str, bindings: Any = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        ...

    def value(self, sql: str, bindings: Any = ()) -> Any:
        """Return the only value of a query's row; None if there is no row."""
        ...

    def change(self, sql: str, bindings: Any = ()) -> int:
        """Run an INSERT, UPDATE or DELETE; return the number of rows it changed."""
        ...

    def change_many(self, sql: str, bindings: Iterable[Any]) -> None:
        """Run a change once for each of these bindings."""
        ...


class Store:
    """The rows of one part in one space, inside the caller's transaction."""

    def __init__(self, tx: Transaction, space: Space, sql: Queries) -> None:
        self._tx = tx
        self._space = space
        self._sql = sql
