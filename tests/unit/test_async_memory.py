"""The memory for async code: order, cancellation, closing, loops and processes, under asyncio and trio."""

from __future__ import annotations

import asyncio
import inspect
import os
import runpy
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

import mnemos
from mnemos.entries.backend import MemoryBackend
from mnemos.errors import MnemosError, NotFound, StorageError
from mnemos.memory.async_memory import ITERATORS, METHODS, AsyncMemory
from mnemos.memory.call_lanes import PAGE, READS, WRITES

ROOT = Path(__file__).parents[2]
STUB = ROOT / "src" / "mnemos" / "memory" / "async_memory.pyi"
SECONDS = 60.0

# Public methods without an async form: other ways to open or close, and steps of the background.
OMITTED = {
    "": {"at", "call", "close"},
    "embedding": {"catch_up_if_fast", "in_background", "serve", "step"},
    "workspace": {"close"},
    "entries": {"close"},
    "backend": {"close"},
}

Main = Callable[[], Awaitable[None]]
Run = Callable[[Main], None]


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Run:
    return lambda main: anyio.run(main, backend=request.param)


class Gate:
    """Holds up a call until it is released."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.released = threading.Event()
        self.is_left = False

    def pass_through(self) -> None:
        self.entered.set()
        assert self.released.wait(SECONDS)
        self.is_left = True

    async def is_entered(self) -> None:
        assert await anyio.to_thread.run_sync(self.entered.wait, SECONDS)


def hold(memory: AsyncMemory, part: str, name: str) -> Gate:
    """Make a method wait after its work and before it returns."""
    gate, owner = Gate(), getattr(memory.sync, part)
    original = getattr(owner, name)

    def held(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        finally:
            gate.pass_through()

    setattr(owner, name, held)
    return gate


async def said(memory: AsyncMemory) -> list[Any]:
    return [message["content"] for message in await memory.sessions.get_messages("s")]


# --- what there is --------------------------------------------------------------------------


def _classes() -> dict[str, type]:
    with mnemos.open(":memory:") as memory:
        parts = {part: type(getattr(memory, part)) for part in METHODS if part}
    return parts | {"": mnemos.Memory, "backend": MemoryBackend}


def test_every_public_method_has_a_lane() -> None:
    for part, kind in _classes().items():
        public = {n for n, value in inspect.getmembers(kind) if not n.startswith("_") and callable(value)}
        listed = [name for names in METHODS[part].values() for name in names.split()]
        assert len(listed) == len(set(listed)), part
        assert set(listed) | OMITTED.get(part, set()) == public, part


def test_methods_that_iterate_are_async_iterators() -> None:
    found = {
        name
        for part, kind in _classes().items()
        for names in METHODS[part].values()
        for name in names.split()
        if str(inspect.signature(getattr(kind, name)).return_annotation).startswith("Iterator")
    }
    assert found == ITERATORS
    assert inspect.iscoroutinefunction(AsyncMemory.recall)


def test_no_method_in_the_lane_of_reads_writes() -> None:
    for part, kind in _classes().items():
        for name in METHODS[part].get(READS, "").split():
            source = inspect.getsource(getattr(kind, name))
            assert "storage.write(" not in source, f"{part}.{name}"


def test_the_stub_is_up_to_date() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "make_async_stub.py"))["make"]()
    assert STUB.read_text(encoding="utf-8") == made, "run: python scripts/make_async_stub.py"


def test_only_the_library_that_runs_the_program_is_imported() -> None:
    program = """
import asyncio, sys
import mnemos

async def main():
    async with mnemos.aopen(":memory:") as memory:
        await memory.sessions.session_count()

asyncio.run(main())
print(sorted({"anyio", "sniffio", "trio"} & set(sys.modules)))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


# --- calls ----------------------------------------------------------------------------------


def test_what_is_stored_is_recalled(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with mnemos.aopen(tmp_path / "home") as memory:
            await memory.sessions.create_session("s", "test")
            await memory.sessions.append_message("s", "user", "鹦鹉 the parrot 🦜 is green")
            assert [hit.session_id for hit in await memory.recall("parrot")] == ["s"]
            assert [one["id"] async for one in memory.sessions.export_all()] == ["s"]
            assert all([check.ok async for check in memory.doctor()])
            assert memory.database == memory.sync.database

    run(main)
    with mnemos.open(tmp_path / "home") as memory:
        assert memory.sessions.message_count("s") == 1


def test_writes_of_many_tasks_keep_the_order_of_their_calls(run: Run) -> None:
    called: list[str] = []

    async def main() -> None:
        async with mnemos.aopen(":memory:") as memory:
            await memory.sessions.create_session("s", "test")

            async def append(text: str) -> None:
                called.append(text)
                if len(called) % 3:
                    await memory.sessions.append_message("s", "user", text)
                else:
                    message = {"session_id": "s", "role": "user", "content": text}
                    await memory.call("sessions_append", message)

            async with anyio.create_task_group() as tasks:
                for n in range(200):
                    tasks.start_soon(append, str(n))
            assert await said(memory) == called

    run(main)
    assert len(called) == 200


def test_four_reads_run_at_once_beside_a_write(run: Run) -> None:
    together = threading.Barrier(4)

    async def main() -> None:
        async with mnemos.aopen(":memory:") as memory:
            await memory.sessions.create_session("s", "test")
            gate = hold(memory, "sessions", "set_title")

            def meet(session_id: str) -> int:
                together.wait(SECONDS)
                return len(session_id)

            memory.sync.sessions.message_count = meet  # type: ignore[method-assign,assignment] - a stand-in
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(memory.sessions.set_title, "s", "held")
                await gate.is_entered()
                async with anyio.create_task_group() as reads:
                    for _ in range(8):
                        reads.start_soon(memory.sessions.message_count, "s")
                gate.released.set()

    run(main)
    assert not together.broken


def test_an_append_does_not_wait_for_long_work(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with mnemos.aopen(tmp_path / "home") as memory:
            await memory.sessions.create_session("s", "test")
            gate = hold(memory, "home", "backup")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(memory.backup, tmp_path / "copy.db")
                await gate.is_entered()
                await memory.sessions.append_message("s", "user", "meanwhile")
                gate.released.set()

    run(main)


def test_errors_arrive_as_they_were_raised(run: Run) -> None:
    async def main() -> None:
        async with mnemos.aopen(":memory:") as memory:
            with pytest.raises(NotFound):
                await memory.sessions.append_message("nobody", "user", "x")
            for _ in range(2):
                with pytest.raises(NotFound):
                    await memory.call("no_such_operation")
            with pytest.raises(TypeError):
                await memory.recall()  # type: ignore[call-arg] - the mistake is what is tested

    run(main)


def test_a_home_that_cannot_be_opened_raises(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mnemos.db").write_bytes(b"not a database at all" * 100)

    async def main() -> None:
        with pytest.raises(StorageError):
            async with mnemos.aopen(tmp_path):
                pass

    run(main)


def test_an_operation_is_called_in_the_lane_that_its_traits_name(run: Run) -> None:
    async def main() -> None:
        async with mnemos.aopen(":memory:") as memory:
            gate = hold(memory, "sessions", "create_session")
            await memory.call("stats")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(memory.sessions.create_session, "s", "test")
                await gate.is_entered()
                await memory.call("stats")
                gate.released.set()
            assert memory._call_lanes == {"stats": READS}
            await memory.call("remember", {"text": "We deploy on Fridays."})
            assert memory._call_lanes["remember"] == WRITES

    run(main)


def test_context_variables_travel(run: Run) -> None:
    request: ContextVar[str] = ContextVar("request", default="")
    seen: list[str] = []

    def clock() -> float:
        seen.append(request.get())
        return 1_767_225_600.0

    async def main() -> None:
        async with mnemos.aopen(":memory:", clock=clock) as memory:
            request.set("r-1")
            await memory.recall("anything")

    run(main)
    assert "r-1" in seen


# --- cancellation ---------------------------------------------------------------------------


def test_a_cancelled_write_is_finished_once_before_it_raises(run: Run) -> None:
    async def main() -> None:
        async with mnemos.aopen(":memory:") as memory:
            await memory.sessions.create_session("s", "test")
            gate = hold(memory, "sessions", "append_message")
            ended = anyio.Event()

            async def append(scope: anyio.CancelScope) -> None:
                with scope:
                    try:
                        await memory.sessions.append_message("s", "user", "once")
                    finally:
                        ended.set()

            scope = anyio.CancelScope()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(append, scope)
                await gate.is_entered()
                scope.cancel()
                for _ in range(10):
                    await anyio.lowlevel.checkpoint()
                assert not ended.is_set()
                gate.released.set()
            assert scope.cancelled_caught
            assert await said(memory) == ["once"]

    run(main)


def test_a_cancelled_write_that_has_not_begun_is_never_done(run: Run) -> None:
    async def main() -> None:
        async with mnemos.aopen(":memory:") as memory:
            await memory.sessions.create_session("s", "test")
            gate = hold(memory, "sessions", "set_title")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(memory.sessions.set_title, "s", "held")
                await gate.is_entered()
                with anyio.move_on_after(0):
                    await memory.sessions.append_message("s", "user", "too late")
                gate.released.set()
            assert await said(memory) == []

    run(main)


def test_a_cancelled_read_is_let_go(run: Run) -> None:
    async def main() -> None:
        async with mnemos.aopen(":memory:") as memory:
            gate = hold(memory, "sessions", "session_count")
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(memory.sessions.session_count)
                    await gate.is_entered()
                    scope.cancel()
            assert scope.cancelled_caught
            assert gate.entered.is_set()
            assert not gate.is_left
            gate.released.set()
        assert gate.is_left

    run(main)


def test_a_task_that_is_cancelled_twice_still_waits_for_its_write() -> None:
    async def main() -> None:
        async with mnemos.aopen(":memory:") as memory:
            await memory.sessions.create_session("s", "test")
            gate = hold(memory, "sessions", "append_message")
            task = asyncio.ensure_future(memory.sessions.append_message("s", "user", "once"))
            await gate.is_entered()
            for _ in range(3):
                task.cancel()
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                assert not task.done()
            gate.released.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await said(memory) == ["once"]

    asyncio.run(main())


def test_a_time_out_is_raised_when_the_write_is_done() -> None:
    async def main() -> None:
        async with mnemos.aopen(":memory:") as memory:
            await memory.sessions.create_session("s", "test")
            gate = hold(memory, "sessions", "append_message")

            limit = asyncio.timeout(None)

            async def append() -> None:
                async with limit:
                    await memory.sessions.append_message("s", "user", "once")

            task = asyncio.ensure_future(append())
            await gate.is_entered()
            limit.reschedule(0.0)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert not task.done()
            gate.released.set()
            with pytest.raises(TimeoutError):
                await task
            assert await said(memory) == ["once"]

    asyncio.run(main())


def test_an_abandoned_event_loop_leaves_the_write_done(tmp_path: Path) -> None:
    async def open_and_append(memory: AsyncMemory) -> None:
        await memory.sessions.append_message("s", "user", "once")

    with mnemos.open(tmp_path / "home") as sync:
        sync.sessions.create_session("s", "test")
        memory = AsyncMemory(sync)
        gate = hold(memory, "sessions", "append_message")
        coroutine = open_and_append(memory)
        loop = asyncio.new_event_loop()
        task = loop.create_task(coroutine)
        loop.run_until_complete(gate.is_entered())
        loop.run_until_complete(loop.shutdown_default_executor())
        coroutine.close()
        gate.released.set()
        loop.close()
        task._log_destroy_pending = False  # type: ignore[attr-defined] - that it is abandoned is the test
        del task
        asyncio.run(memory.close())
    with mnemos.open(tmp_path / "home") as again:
        assert again.sessions.message_count("s") == 1


# --- closing --------------------------------------------------------------------------------


def test_closing_does_not_wait_forever(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemos.memory.call_lanes.CLOSE_SECONDS", 0.0)

    async def main() -> None:
        memory = mnemos.AsyncMemory(mnemos.open(tmp_path))
        await memory.sessions.create_session("s", "test")
        gate = hold(memory, "sessions", "message_count")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_ignore, memory.sessions.message_count, "s")
            await gate.is_entered()
            await memory.close()
            gate.released.set()

    run(main)


async def _ignore(call: Callable[..., Any], *args: Any) -> None:
    with suppress(MnemosError):
        await call(*args)


def test_closing_waits_for_calls_and_refuses_further_ones(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with mnemos.aopen(tmp_path) as memory:
            await memory.sessions.create_session("s", "test")
            gate = hold(memory, "sessions", "append_message")
            pool, is_shut = memory._lanes._pools[WRITES], threading.Event()
            shut = pool.shutdown

            def shutdown(**kwargs: Any) -> None:
                shut(**kwargs)
                is_shut.set()

            pool.shutdown = shutdown  # type: ignore[method-assign,assignment] - it says how far it is
            async with anyio.create_task_group() as tasks:
                for text in ("begun", "waiting"):
                    tasks.start_soon(memory.sessions.append_message, "s", "user", text)
                tasks.start_soon(memory.sessions.message_count, "s")
                await gate.is_entered()
                tasks.start_soon(memory.close)
                tasks.start_soon(memory.close)
                assert await anyio.to_thread.run_sync(is_shut.wait, SECONDS)
                with pytest.raises(StorageError):
                    await memory.recall("parrot")
                with pytest.raises(StorageError):
                    _ = [one async for one in memory.sessions.export_all()]
                gate.released.set()
            await memory.close()

    run(main)
    with mnemos.open(tmp_path) as memory:
        assert memory.sessions.message_count("s") == 2


def test_a_cancelled_block_is_closed_all_the_same(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        with anyio.CancelScope() as scope:
            async with mnemos.aopen(tmp_path) as memory:
                await memory.sessions.create_session("s", "test")
                scope.cancel()
                await memory.sessions.append_message("s", "user", "never begun")
        assert scope.cancelled_caught
        assert memory._lanes.is_closed
        with pytest.raises(StorageError):
            memory.sync.sessions.session_count()

    run(main)


def test_an_iterator_that_is_left_early_is_closed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []

    def numbers() -> Iterator[int]:
        try:
            yield from range(1_000_000)
        finally:
            events.append(threading.current_thread().name)

    async def main() -> None:
        async with mnemos.aopen(":memory:") as memory:
            monkeypatch.setattr(memory.sync.sessions, "export_all", numbers, raising=False)
            async with aclosing(memory.sessions.export_all()) as items:
                async for item in items:
                    if item == PAGE + 1:  # type: ignore[comparison-overlap] - a stand-in
                        break
            assert [name.startswith("mnemos-reads") for name in events] == [True]

    run(main)


def test_an_iterator_that_fails_yields_what_came_before(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def numbers() -> Iterator[int]:
        yield from range(PAGE + 2)
        raise NotFound("gone")

    async def main() -> None:
        seen = []
        async with mnemos.aopen(":memory:") as memory:
            monkeypatch.setattr(memory.sync.sessions, "export_all", numbers, raising=False)

            async def read() -> None:
                async for item in memory.sessions.export_all():
                    seen.append(item)

            with pytest.raises(NotFound):
                await read()
        assert seen == list(range(PAGE + 2))

    run(main)


# --- loops and processes --------------------------------------------------------------------


def test_one_memory_serves_several_event_loops(tmp_path: Path) -> None:
    memory = AsyncMemory(mnemos.open(tmp_path / "home"))
    failures: list[BaseException] = []

    async def append(name: str) -> None:
        for n in range(20):
            await memory.sessions.append_message("s", "user", f"{name} {n}")
            assert await memory.sessions.message_count("s") > n

    def loop(backend: str, name: str) -> None:
        try:
            anyio.run(append, name, backend=backend)
        except BaseException as exc:
            failures.append(exc)

    asyncio.run(memory.sessions.create_session("s", "test"))
    threads = [
        threading.Thread(target=loop, args=(backend, f"{backend}{n}"))
        for backend in ("asyncio", "trio")
        for n in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(asyncio.run(said(memory))) == 80
    anyio.run(memory.close, backend="trio")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(tmp_path: Path) -> None:
    memory = AsyncMemory(mnemos.open(tmp_path / "home"))
    asyncio.run(memory.sessions.create_session("s", "test"))
    asyncio.run(memory.sessions.append_message("s", "user", "of the parent"))

    async def work() -> None:
        await memory.sessions.append_message("s", "user", "of the child")
        assert await memory.sessions.message_count("s") == 2
        await memory.close()

    child = os.fork()
    if child == 0:
        status = 1
        try:
            asyncio.run(work())
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    asyncio.run(memory.sessions.append_message("s", "user", "of the parent again"))
    assert asyncio.run(said(memory)) == ["of the parent", "of the child", "of the parent again"]
    asyncio.run(memory.close())
