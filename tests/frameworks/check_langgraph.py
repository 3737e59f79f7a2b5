"""The store inside LangGraph: what its own tests don't ask."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import mnemos
from frameworks.counted import watch
from mnemos.integrations.langgraph import MnemosStore

Counted = watch(MnemosStore, "batch", "abatch")


def test_ten_thousand_items_are_filtered_and_paged(tmp_path: Path) -> None:
    with mnemos.open(tmp_path) as memory:
        store = Counted(memory)
        for number in range(10_000):
            store.put(("a", str(number % 7)), str(number), {"n": number}, index=False)
        found = store.search(("a",), filter={"n": {"$gte": 9_990}}, limit=20)
        assert [item.value["n"] for item in found] == list(range(9_999, 9_989, -1))
        assert len(store.search(("a", "3"), limit=2_000)) == 1_429
        assert store.list_namespaces(max_depth=1) == [("a",)]


def test_a_read_does_not_wait_for_writes(tmp_path: Path) -> None:
    async def check() -> None:
        store, may_write = Counted(tmp_path), threading.Event()
        await store.aput(("ada",), "k", {"n": 1})
        put = store._put

        def put_late(*given: Any) -> None:
            may_write.wait()
            put(*given)

        store._put = put_late
        writing = asyncio.create_task(store.aput(("ada",), "k", {"n": 2}))
        await asyncio.sleep(0)
        assert (await store.aget(("ada",), "k")).value == {"n": 1}
        may_write.set()
        await writing
        assert (await store.aget(("ada",), "k")).value == {"n": 2}
        store.close()

    asyncio.run(check())


def test_a_disabled_memory_keeps_items_in_this_process(tmp_path: Path) -> None:
    Counted(tmp_path, disabled=True).put(("ada",), "k", {"n": 1})
    assert Counted(tmp_path, disabled=True).get(("ada",), "k").value == {"n": 1}
    assert not list(tmp_path.glob("*.db"))


def test_async_calls_see_what_sync_calls_stored(tmp_path: Path) -> None:
    async def check() -> None:
        store = Counted(tmp_path)
        await store.aput(("ada",), "k", {"text": "a parrot in the garden"})
        assert (await store.aget(("ada",), "k")).value == {"text": "a parrot in the garden"}
        assert [item.key for item in await store.asearch(("ada",), query="parrot")] == ["k"]
        assert await store.asearch(("bob",), query="parrot") == []
        store.close()

    asyncio.run(check())
