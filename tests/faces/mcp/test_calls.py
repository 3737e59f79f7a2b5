"""What the face does with a call before and after the operation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import anyio
import pytest

from mnemos.errors import Unavailable
from mnemos.faces.mcp import pipe
from mnemos.faces.mcp.calls import Calls
from mnemos.memory import Memory
from mnemos.operations import registry
from mnemos.operations.base import Operation, Result, Traits
from mnemos.operations.index import BY_NAME, ENTRIES, Entry

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


def test_a_home_that_cannot_be_opened_is_told_by_every_call(home: Path) -> None:
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
def test_a_pipe_that_is_not_there_is_told(stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, None)
    with pytest.raises(Unavailable):
        pipe.claim()
