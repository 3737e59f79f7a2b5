"""The session store inside the Claude Agent SDK: the kit that the SDK ships, and what it does not ask."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk.testing import run_session_store_conformance

import mnemos
from frameworks.counted import watch
from mnemos.integrations.claude_agent_sdk import MnemosSessionStore

Counted = watch(MnemosSessionStore, "append", "load", "list_sessions", "delete")
KEY: Any = {"project_key": "p", "session_id": "s"}


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Any:
    """Run an async function in a loop of its own."""
    if request.param == "asyncio":
        import asyncio

        return lambda work: asyncio.run(work())
    import trio

    return trio.run


def entry(number: int, text: str = "hello") -> Any:
    return {"type": "user", "uuid": f"u{number}", "message": {"role": "user", "content": text}}


def test_the_kit_of_the_sdk_passes(run: Any, tmp_path: Path) -> None:
    made = iter(range(1_000))

    async def check() -> None:
        await run_session_store_conformance(lambda: Counted(tmp_path / str(next(made))))

    run(check)


def test_a_repeated_batch_is_stored_once_and_recall_finds_it(run: Any, tmp_path: Path) -> None:
    async def check() -> None:
        store = Counted(tmp_path)
        for _ in range(2):
            await store.append(KEY, [entry(1, "The parrot lives in the garden."), entry(2)])
        assert len(await store.load(KEY) or ()) == 2
        await store.close()

    run(check)
    with mnemos.open(tmp_path) as memory:
        assert "garden" in memory.recall("Where does the parrot live?").text


def test_ten_thousand_lines_come_back_in_order(run: Any, tmp_path: Path) -> None:
    async def check() -> None:
        store = Counted(tmp_path)
        for start in range(0, 10_000, 500):
            await store.append(KEY, [entry(number) for number in range(start, start + 500)])
        loaded = await store.load(KEY) or []
        assert [one["uuid"] for one in loaded] == [f"u{number}" for number in range(10_000)]
        await store.close()

    run(check)


def test_another_project_is_another_store(run: Any, tmp_path: Path) -> None:
    async def check() -> None:
        store = Counted(tmp_path)
        await store.append(KEY, [entry(1)])
        assert await store.load({**KEY, "project_key": "q"}) is None
        assert await store.list_sessions("q") == []
        await store.close()

    run(check)


_CHILD = """
import asyncio, os, sys
from mnemos.integrations.claude_agent_sdk import MnemosSessionStore
async def main():
    store = MnemosSessionStore(sys.argv[1])
    for number in range(int(sys.argv[2]), int(sys.argv[2]) + 20):
        await store.append({"project_key": "p", "session_id": "s"}, [{"type": "user", "uuid": f"u{number}"}])
        print(number, flush=True)
asyncio.run(main())
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

    import asyncio

    async def check() -> None:
        store = Counted(tmp_path)
        loaded = {one["uuid"] for one in await store.load(KEY) or ()}
        assert loaded == {f"u{number}" for number in acknowledged}
        assert len(acknowledged) == 40
        await store.close()

    asyncio.run(check())
