"""The face's part of a call, before and after the operation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, ClassVar

import anyio
import anyio.to_thread
import pytest

from mnemos.errors import Unavailable
from mnemos.faces.mcp import pipe
from mnemos.faces.mcp.calls import Calls
from mnemos.memory import Memory
from mnemos.operations import registry
from mnemos.operations.base import LongOperation, Operation, Result, Traits
from mnemos.operations.index import BY_NAME, ENTRIES, Entry
from mnemos.progress import Progress

from .wire import code_of


class Whereabouts(Result, frozen=True, kw_only=True):
    session_id: str | None

    def as_text(self) -> str:
        return str(self.session_id)


class TellSession(Operation, frozen=True, kw_only=True):
    """Answers in which session it happens."""

    traits: ClassVar[Traits] = Traits(title="Tell the session", read_only=True)

    session_id: str | None = None

    def run(self, memory: Memory) -> Whereabouts:
        if self.session_id == "bug":
            raise ZeroDivisionError
        return Whereabouts(session_id=self.session_id)


@pytest.fixture(params=["facts", "sessions"])
def entry(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Entry:
    entry = Entry("tell", "tell", f"{__name__}:TellSession", frozenset({request.param, "all"}))
    monkeypatch.setitem(BY_NAME, "tell", entry)
    return entry


def called(memory: Memory, name: str, arguments: Mapping[str, Any] | None, *more: Entry) -> dict[str, Any]:
    async def call() -> dict[str, Any]:
        calls = Calls(memory, [*ENTRIES, *more])
        await calls.warm_up()
        return await calls.tool(name, arguments, "connection")

    return anyio.run(call)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(None, "connection"), ({"session_id": None}, "connection"), ({"session_id": "own"}, "own")],
)
def test_a_connection_is_the_session_of_who_names_none(
    entry: Entry, home: Path, arguments: Mapping[str, Any] | None, told: str
) -> None:
    with Memory.at(home) as memory:
        result = called(memory, "tell", arguments, entry)["structuredContent"]
    # In the tools about sessions of the past, an id that is left out means all of them.
    expected = told if "facts" in entry.sets or told == "own" else None
    assert result["session_id"] == expected


def test_a_tool_that_takes_no_session_is_given_none(home: Path) -> None:
    with Memory.at(home) as memory:
        assert "isError" not in called(memory, "stats", {})


def test_what_nobody_foresaw_is_a_failure_too(
    entry: Entry, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Memory.at(home) as memory:
        assert code_of(called(memory, "tell", {"session_id": "bug"}, entry)) == "internal"
    assert caplog.records[-1].exc_info is not None


def test_a_tool_that_is_not_offered_cannot_be_called(home: Path) -> None:
    async def call(memory: Memory) -> dict[str, Any]:
        return await Calls(memory, registry.choose_entries("recall")).tool("stats", {}, "s")

    with Memory.at(home) as memory:
        assert code_of(anyio.run(call, memory)) == "not_found"


def test_a_home_that_is_not_there_is_made_by_the_first_call(home: Path) -> None:
    async def call(memory: Memory) -> dict[str, Any]:
        calls = Calls(memory, ENTRIES)
        await calls.warm_up()
        assert not home.exists()
        return await calls.tool("recall", {"query": "anything?"}, "s")

    with Memory.at(home) as memory:
        assert "isError" not in anyio.run(call, memory)
    assert home.exists()


def test_every_call_reports_a_home_that_cannot_be_opened(home: Path) -> None:
    home.mkdir()
    (home / "mnemos.db").write_bytes(b"no database at all" * 1000)
    with Memory.at(home) as memory:
        for _ in range(2):
            assert code_of(called(memory, "stats", {})) == "not_a_database"


def test_a_disabled_memory_says_so_in_a_result(home: Path) -> None:
    with Memory.at(home, disabled=True) as memory:
        result = called(memory, "sessions_create", {"session_id": "a"})
    assert "isError" not in result
    assert result["structuredContent"]["disabled"] is True


@pytest.mark.parametrize("stream", ["sys.stdin", "sys.stdout"])
def test_a_pipe_that_is_not_there_is_reported(stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, None)
    with pytest.raises(Unavailable):
        pipe.claim()


# --- cancelled -------------------------------------------------------------------------------------

HAS_BEGUN, MAY_GO_ON = Event(), Event()
STEPS: list[str] = []


class Work(LongOperation, frozen=True, kw_only=True):
    """Waits in the middle to be cancelled."""

    traits: ClassVar[Traits] = Traits(title="Work")

    reports: bool

    def work(self, memory: Memory, progress: Progress) -> Whereabouts:
        STEPS.append("first")
        HAS_BEGUN.set()
        assert MAY_GO_ON.wait(30)
        if self.reports:
            progress(0.5)
        STEPS.append("last")
        return Whereabouts(session_id=None)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Entry:
    HAS_BEGUN.clear()
    MAY_GO_ON.clear()
    STEPS.clear()
    entry = Entry("work", "work", f"{__name__}:Work", frozenset({"all"}))
    monkeypatch.setitem(BY_NAME, "work", entry)
    return entry


async def cancelled_halfway(calls: Calls, *, by_leaving: bool, reports: bool) -> None:
    """Cancel a call that has begun, or have its client leave."""
    gone = anyio.Event()

    async def call() -> None:
        await calls.tool("work", {"reports": reports}, "s", gone.wait)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await anyio.to_thread.run_sync(HAS_BEGUN.wait)
        if by_leaving:
            gone.set()
        else:
            tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await anyio.wait_all_tasks_blocked()
        MAY_GO_ON.set()


@pytest.mark.parametrize("by_leaving", [True, False])
@pytest.mark.parametrize(("reports", "steps"), [(True, ["first"]), (False, ["first", "last"])])
def test_a_cancelled_call_stops_where_it_reports_progress_and_is_finished_otherwise(
    work: Entry, home: Path, *, by_leaving: bool, reports: bool, steps: list[str]
) -> None:
    with Memory.at(home) as memory:
        calls = Calls(memory, [work])
        anyio.run(partial(cancelled_halfway, calls, by_leaving=by_leaving, reports=reports))
        calls.settle()
    assert steps == STEPS


def test_a_call_that_is_cancelled_before_it_begins_is_not_run(work: Entry, home: Path) -> None:
    async def call(calls: Calls) -> dict[str, Any]:
        gone = anyio.Event()
        gone.set()
        async with anyio.create_task_group() as tasks:
            # All threads are at work.
            for _ in range(8):
                tasks.start_soon(calls.tool, "work", {"reports": False}, "s")
            await anyio.to_thread.run_sync(HAS_BEGUN.wait)
            await anyio.wait_all_tasks_blocked()
            answers: list[dict[str, Any]] = []

            async def keep() -> None:
                answers.append(await calls.tool("work", {"reports": False}, "s", gone.wait))

            tasks.start_soon(keep)
            await anyio.wait_all_tasks_blocked()
            MAY_GO_ON.set()
        return answers[0]

    with Memory.at(home) as memory:
        assert code_of(anyio.run(call, Calls(memory, [work]))) == "cancelled"
    assert STEPS.count("last") == 8
