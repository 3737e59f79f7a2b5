"""A manager over a memory of its own for each test, and a provider that records its calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mnemos import Memory
from mnemos.integrations.providers import BuiltinMemoryProvider, MemoryManager, MemoryProvider
from mnemos.testing import FixedClock


class Notes(MemoryProvider):
    """Answers with what it was made with, and keeps every call."""

    def __init__(self, name: str = "notes", **answers: Any) -> None:
        self._name = name
        self.answers = answers
        self.calls: list[tuple[Any, ...]] = []

    @property
    def name(self) -> str:
        return self._name

    def is_available(self) -> bool:
        return bool(self.answers.get("is_available", True))

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        self.calls.append(("initialize", session_id, kwargs))

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return list(self.answers.get("tools", ()))

    def system_prompt_block(self) -> str:
        self.calls.append(("system_prompt_block",))
        return str(self.answers.get("block", ""))

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        self.calls.append(("prefetch", query, session_id))
        return str(self.answers.get("recalled", ""))

    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        self.calls.append(("queue_prefetch", query, session_id))

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
    ) -> None:
        self.calls.append(("sync_turn", user_content, assistant_content, session_id, messages))

    def on_turn_start(self, turn_number: int, message: str, **kwargs: Any) -> None:
        self.calls.append(("on_turn_start", turn_number, message, kwargs))

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        self.calls.append(("handle_tool_call", tool_name, args, kwargs))
        return self.answers["answer"]  # type: ignore[no-any-return]

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        self.calls.append(("on_session_end", messages))

    def on_session_switch(
        self, new_session_id: str, *, parent_session_id: str = "", reset: bool = False, **kwargs: Any
    ) -> None:
        self.calls.append(("on_session_switch", new_session_id, parent_session_id, reset, kwargs))

    def on_pre_compress(self, messages: list[dict[str, Any]]) -> str:
        self.calls.append(("on_pre_compress", messages))
        return str(self.answers.get("lines", ""))

    def on_memory_write(
        self, action: str, target: str, content: str, metadata: dict[str, Any] | None = None
    ) -> None:
        self.calls.append(("on_memory_write", action, target, content, metadata))

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **kwargs: Any) -> None:
        self.calls.append(("on_delegation", task, result, child_session_id, kwargs))

    def shutdown(self) -> None:
        self.calls.append(("shutdown",))

    def told(self, hook: str) -> list[tuple[Any, ...]]:
        return [call[1:] for call in self.calls if call[0] == hook]


def tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": "A tool.", "parameters": {"type": "object", "properties": {}}}


@pytest.fixture
def memory(clock: FixedClock) -> Iterator[Memory]:
    """In memory, by words alone: what is near in meaning is a matter of recall."""
    with Memory.at(":memory:", clock=clock, actor="tester", embedder="none") as opened:
        yield opened


@pytest.fixture
def past(memory: Memory) -> Memory:
    """With a conversation from before."""
    memory.sessions.create_session("past", title="Databases")
    memory.sessions.append_message("past", "user", "The staging database listens on port 5433.")
    return memory


@pytest.fixture
def manager(memory: Memory) -> Iterator[MemoryManager]:
    """Not begun yet."""
    made = MemoryManager(memory=memory)
    yield made
    made.shutdown_all()


@pytest.fixture
def builtin(memory: Memory) -> Iterator[BuiltinMemoryProvider]:
    """The built-in provider in session ``s1``."""
    provider = BuiltinMemoryProvider(memory)
    provider.initialize("s1", platform="cli")
    yield provider
    provider.shutdown()


@pytest.fixture
def make_notes() -> type[Notes]:
    return Notes


@pytest.fixture
def make_tool() -> Any:
    return tool
