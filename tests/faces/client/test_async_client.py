"""The client for async code: operations as methods, order, cancellation, changes; under asyncio and trio."""

from __future__ import annotations

import inspect
import runpy
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

import mnemos
from mnemos.client import async_client
from mnemos.client.async_client import AsyncClient
from mnemos.errors import InvalidInput, NotFound, StorageError, Unavailable
from mnemos.operations.index import ENTRIES
from mnemos.operations.recall import Recalled

from ..http.servers import Server, serving

SCRIPTS = Path(__file__).parents[3] / "scripts"
SECONDS = 60.0

Main = Callable[[], Awaitable[None]]
Run = Callable[[Main], None]


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Run:
    return lambda main: anyio.run(main, backend=request.param)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("async") / "home"
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "test")
        memory.sessions.append_message("s", "user", "We take the morning train to Lisbon")
    with serving(home) as one:
        yield one


def client_of(server: Server) -> AsyncClient:
    return AsyncClient(f"http://127.0.0.1:{server.port}", server.token)


def test_the_types_are_those_of_the_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    made = runpy.run_path(str(SCRIPTS / "make_client_stub.py"))["make"]()
    kept = Path(async_client.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    assert kept == made, "run: python scripts/make_client_stub.py"


def test_every_operation_is_a_method() -> None:
    for entry in ENTRIES:
        method = getattr(AsyncClient, entry.name)
        assert inspect.iscoroutinefunction(method) or entry.name == "changes"


def test_methods_return_typed_results_and_call_returns_data(run: Run, server: Server) -> None:
    async def main() -> None:
        async with client_of(server) as client:
            found = await client.recall(query="how do we get to Lisbon?", limit=1)
            assert isinstance(found, Recalled)
            assert found.hits[0].text == "We take the morning train to Lisbon"
            assert (
                found.as_text() == (await client.call("recall", {"query": found.query, "limit": 1}))["text"]
            )
            with pytest.raises(NotFound):
                await client.sessions_show(session="nowhere")
            with pytest.raises(InvalidInput):
                # Arguments of a model, which may not name a user.
                await client.call("recall", {"query": "x", "user_id": "sam"})
            with pytest.raises(NotFound):
                await client.call("no_such_operation")

    run(main)


def test_calls_run_beside_each_other_and_every_write_is_stored_once(run: Run, server: Server) -> None:
    async def main() -> None:
        async with client_of(server) as client:
            session = (await client.sessions_create(session_id="many", ensure=True)).session_id
            ids: list[int] = []

            async def write(number: int) -> None:
                done = await client.sessions_append(session_id=session, role="user", content=f"{number}")
                ids.append(done.message_id)

            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(write, number)
            assert len(set(ids)) == 20
            await client.forget(ref="session:many")

    run(main)


def test_a_closed_client_says_so(run: Run, server: Server) -> None:
    async def main() -> None:
        client = client_of(server)
        await client.memory_status()
        await client.close()
        await client.close()
        with pytest.raises(StorageError, match="closed"):
            await client.memory_status()

    run(main)


def test_nobody_listening_is_said(run: Run) -> None:
    async def main() -> None:
        async with AsyncClient("http://127.0.0.1:1", "mnm_" + "x" * 40) as client:
            with pytest.raises(Unavailable):
                await client.memory_status()
            with pytest.raises(Unavailable):
                async for _ in client.changes():
                    pass

    run(main)


def test_changes_of_another_process_arrive_and_a_stream_can_be_left(run: Run, server: Server) -> None:
    async def main() -> None:
        with mnemos.open(server.home) as other:
            async with client_of(server) as client:
                cursor = (await client.call("changes", {"limit": 1}))["cursor"]
                stored = other.sessions.append_message("s", "user", "something new 🎈")
                with anyio.fail_after(SECONDS):
                    async with aclosing(client.changes(cursor)) as changes:
                        first = await anext(changes)
                        other.sessions.set_title("s", "The trip")
                        second = await anext(changes)
                assert (first.kind, first.ref) == ("message", f"message:{stored}")
                assert (second.kind, second.ref) == ("session", "session:s")

    run(main)


def test_a_stream_that_waits_can_be_cancelled(run: Run, server: Server) -> None:
    async def main() -> None:
        async with client_of(server) as client:
            with anyio.fail_after(SECONDS):
                with anyio.move_on_after(0.2) as scope:
                    async with aclosing(client.changes()) as changes:
                        await anext(changes)
                assert scope.cancelled_caught
                await client.memory_status()

    run(main)


def test_changes_go_on_after_a_restart_and_none_is_missed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "test")
        with serving(home) as first:
            port = first.port
            client = client_of(first)
            cursor = memory.call("changes")["cursor"]

            async def main() -> None:
                with anyio.fail_after(SECONDS):
                    async with client, aclosing(client.changes(cursor)) as changes:
                        memory.sessions.append_message("s", "user", "before")
                        assert (await anext(changes)).text == "user: before"
                        first.process.kill()
                        first.process.wait()
                        memory.sessions.append_message("s", "user", "meanwhile")
                        with serving(home, "--port", str(port)):
                            memory.sessions.append_message("s", "user", "after")
                            texts = [(await anext(changes)).text for _ in range(2)]
                            assert texts == ["user: meanwhile", "user: after"]
                            await changes.aclose()

            anyio.run(main)
