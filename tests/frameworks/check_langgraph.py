"""The store inside LangGraph: what its own tests don't ask."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import mnemos
from frameworks.counted import watch
from mnemos.integrations.langgraph import MnemosStore

Counted = watch(MnemosStore, "batch", "abatch")

_CHILD = """
import os, sys
from mnemos.integrations.langgraph import MnemosStore
store = MnemosStore(sys.argv[1])
for number in range(int(sys.argv[2]), int(sys.argv[2]) + 20):
    store.put(("a", "b"), str(number), {"n": number})
    print(number, flush=True)
os.kill(os.getpid(), 9)
"""


def test_two_processes_that_are_killed_lose_nothing_they_acknowledged(tmp_path: Path) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(tmp_path), str(start)], stdout=subprocess.PIPE, text=True
        )
        for start in (0, 100)
    ]
    acknowledged = [line for child in children for line in child.communicate()[0].split()]
    assert [child.returncode for child in children] == [-signal.SIGKILL] * 2
    store = Counted(tmp_path)
    assert sorted(item.key for item in store.search(("a",), limit=99)) == sorted(acknowledged)
    store.close()


def test_ten_thousand_items_are_filtered_and_paged(tmp_path: Path) -> None:
    with mnemos.open(tmp_path) as memory:
        store = Counted(memory)
        for number in range(10_000):
            store.put(("a", str(number % 7)), str(number), {"n": number}, index=False)
        found = store.search(("a",), filter={"n": {"$gte": 9_990}}, limit=20)
        assert [item.value["n"] for item in found] == list(range(9_999, 9_989, -1))
        assert len(store.search(("a", "3"), limit=2_000)) == 1_429
        assert store.list_namespaces(max_depth=1) == [("a",)]


def test_async_calls_see_what_sync_calls_stored(tmp_path: Path) -> None:
    async def check() -> None:
        store = Counted(tmp_path)
        await store.aput(("ada",), "k", {"text": "a parrot in the garden"})
        assert (await store.aget(("ada",), "k")).value == {"text": "a parrot in the garden"}
        assert [item.key for item in await store.asearch(("ada",), query="parrot")] == ["k"]
        assert await store.asearch(("bob",), query="parrot") == []
        store.close()

    asyncio.run(check())
