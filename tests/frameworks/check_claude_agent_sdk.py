"""The session store inside the Claude Agent SDK: the kit that the SDK ships, and what it does not ask."""

from __future__ import annotations

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


def test_no_two_keys_are_the_same_session(run: Any, tmp_path: Path) -> None:
    keys: list[Any] = [
        {"project_key": "p/s", "session_id": "x"},
        {"project_key": "p", "session_id": "s/x"},
        {"project_key": "p", "session_id": "s", "subpath": "x"},
    ]

    async def check() -> None:
        store = Counted(tmp_path)
        for number, key in enumerate(keys):
            await store.append(key, [entry(number)])
        assert [await store.load(key) for key in keys] == [[entry(number)] for number in range(3)]
        await store.close()

    run(check)


def test_lines_that_nobody_said_are_kept_and_not_recalled(run: Any, tmp_path: Path) -> None:
    queued = {"type": "queue-operation", "operation": "enqueue", "content": "Where does the parrot live?"}

    async def check() -> None:
        store = Counted(tmp_path)
        await store.append(KEY, [queued, entry(1, "The parrot lives in the garden.")])
        assert (await store.load(KEY) or [])[0] == queued
        await store.close()

    run(check)
    with mnemos.open(tmp_path) as memory:
        assert [hit.text for hit in memory.recall("Where does the parrot live?").hits] == [
            "The parrot lives in the garden."
        ]
        assert memory.search("queue enqueue") == []


def test_a_forgotten_line_is_not_left_in_the_summary_of_its_session(run: Any, tmp_path: Path) -> None:
    async def check() -> None:
        store = Counted(tmp_path)
        await store.append(KEY, [entry(1, "The code is ZEBRAFISH."), entry(2, "And the next?")])
        with mnemos.open(tmp_path) as memory:
            memory.forget(f"message:{memory.search('ZEBRAFISH')[0]['id']}")
        assert not any(b"ZEBRAFISH" in path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
        for _ in range(2):
            [summary] = await store.list_session_summaries(KEY["project_key"])
            assert summary["data"]["first_prompt"] == "[forgotten]"
            await store.append(KEY, [entry(3)])
        await store.close()

    run(check)


def test_a_disabled_memory_keeps_transcripts_in_this_process(run: Any, tmp_path: Path) -> None:
    async def check() -> None:
        for _ in range(2):
            await Counted(tmp_path, disabled=True).append(KEY, [entry(1)])
        assert await Counted(tmp_path, disabled=True).load(KEY) == [entry(1)]
        assert not list(tmp_path.glob("*.db"))

    run(check)
