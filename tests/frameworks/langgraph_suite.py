"""Run the store tests of LangGraph with our store in place of its in-memory and SQLite stores."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Self

import langgraph.store.memory
import langgraph.store.sqlite
import langgraph.store.sqlite.aio

from frameworks.counted import watch
from mnemos.integrations.langgraph import MnemosStore
from mnemos.memory import Memory


class _Stand(MnemosStore):
    """Takes the arguments of the other stores: a database file becomes a home beside it."""

    def __init__(self, place: str = ":memory:", *, index: Any = None, ttl: Any = None) -> None:
        super().__init__(Memory.at(place if place == ":memory:" else f"{place}.home"), index=index, ttl=ttl)

    def setup(self) -> None:
        """Nothing to set up."""

    def start_ttl_sweeper(self, *_: Any) -> None:
        """Expired items are not found anyway."""

    def stop_ttl_sweeper(self, *_: Any) -> bool:
        return True

    @classmethod
    @contextmanager
    def from_conn_string(cls, place: str, *, index: Any = None, ttl: Any = None) -> Iterator[Self]:
        store = cls(place, index=index, ttl=ttl)
        try:
            yield store
        finally:
            store._memory.close()


class _AsyncStand(_Stand):
    async def setup(self) -> None:  # type: ignore[override]
        """Nothing to set up."""

    async def start_ttl_sweeper(self, *_: Any) -> None:  # type: ignore[override]
        """Expired items are not found anyway."""

    async def stop_ttl_sweeper(self, *_: Any) -> bool:  # type: ignore[override]
        return True

    async def sweep_ttl(self) -> int:  # type: ignore[override]
        return MnemosStore.sweep_ttl(self)

    @classmethod
    @asynccontextmanager
    async def from_conn_string(  # type: ignore[override]
        cls, place: str, *, index: Any = None, ttl: Any = None
    ) -> AsyncIterator[Self]:
        with super().from_conn_string(place, index=index, ttl=ttl) as store:
            yield store


Counted, AsyncCounted = watch(_Stand, "batch", "abatch"), watch(_AsyncStand, "batch", "abatch")
langgraph.store.memory.InMemoryStore = Counted
for module in (langgraph.store.sqlite, langgraph.store.sqlite.base):
    module.SqliteStore = Counted
for module in (langgraph.store.sqlite, langgraph.store.sqlite.aio):
    module.AsyncSqliteStore = AsyncCounted
