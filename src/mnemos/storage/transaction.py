"""The transaction that stores use to run named queries. Each engine implements it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Protocol

from mnemos.storage.queries import Queries
from mnemos.storage.space import Space


def write_ids(ids: Iterable[int]) -> str:
    """Encode a list of ids as JSON for queries."""
    return f"[{','.join(map(str, ids))}]"


def write_names(names: Iterable[str] | None) -> str | None:
    """Encode a list of names as JSON. None means no restriction."""
    return None if names is None else json.dumps(list(names))


class Transaction(Protocol):
    """A connection inside a transaction.

    Values are bound in order to ``?`` or by name to ``:name``. Lists of ids and names are bound as JSON.
    """

    def rows(self, sql: str, bindings: Any = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        ...

    def value(self, sql: str, bindings: Any = ()) -> Any:
        """Return the only value of a query's row, or None if there is no row."""
        ...

    def change(self, sql: str, bindings: Any = ()) -> int:
        """Run an INSERT, UPDATE or DELETE and return the number of changed rows."""
        ...

    def change_many(self, sql: str, bindings: Iterable[Any]) -> None:
        """Run a change once for each set of bindings."""
        ...


class Store:
    """The rows of one part in one space, inside the caller's transaction."""

    def __init__(self, tx: Transaction, space: Space, sql: Queries) -> None:
        self._tx = tx
        self._space = space
        self._sql = sql
