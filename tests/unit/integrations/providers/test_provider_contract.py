"""The contract that is shipped for third parties, run on the built-in provider and on small ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from mnemos.integrations.providers import BuiltinMemoryProvider, MemoryManager, MemoryProvider
from mnemos.memory import Memory
from mnemos.testing import ProviderContract


class TestBuiltin(ProviderContract):
    calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "recall": {"query": "port"},
        "sessions_read": {},
        "remember": {"text": "The port is 5433."},
        "forget": {"ref": "the port"},
        "memory": {"action": "add", "content": "Tests run with make test"},
        "memory_write": {"content": "V[srv.port]: 5433"},
        "memory_search": {"query": "port"},
        "sqlite_query": {"query": "SELECT 1"},
        "sqlite_schema": {},
    }

    def make(self, home: Path) -> MemoryProvider:
        return BuiltinMemoryProvider(Memory.at(":memory:", embedder="none"))

    def make_manager(self, home: Path) -> MemoryManager:
        # It is there already.
        return MemoryManager(memory=Memory.at(home, embedder="none"))


class Smallest(MemoryProvider):
    """Nothing but what is required."""

    @property
    def name(self) -> str:
        return "smallest"

    def is_available(self) -> bool:
        return True

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        pass

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return []


class TestSmallest(ProviderContract):
    def make(self, home: Path) -> MemoryProvider:
        return Smallest()


class Older:
    """Written for an older contract: fewer methods, with fewer arguments."""

    name = "older"

    def is_available(self) -> bool:
        return True

    def initialize(self, session_id: str) -> None:
        pass

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return []

    def prefetch(self, query: str) -> str:
        return ""

    def sync_turn(self, user_content: str, assistant_content: str, session_id: str) -> None:
        pass

    def on_turn_start(self, turn_number: int, message: str) -> None:
        pass

    def on_memory_write(self, action: str, target: str, content: str) -> None:
        pass

    def on_session_switch(self, new_session_id: str) -> None:
        pass


class TestOlder(ProviderContract):
    def make(self, home: Path) -> MemoryProvider:
        return cast(MemoryProvider, Older())


def test_a_provider_that_breaks_the_contract_fails_it(tmp_path: Path) -> None:
    class Restless(Smallest):
        turns = 0

        def system_prompt_block(self) -> str:
            self.turns += 1
            return f"turn {self.turns}"

    contract, provider = TestSmallest(), Restless()
    contract.begin(provider, tmp_path)
    with pytest.raises(AssertionError):
        contract.test_its_prompt_block_stays_the_same_during_a_session(provider)


def test_an_unknown_tool_is_not_implemented() -> None:
    with pytest.raises(NotImplementedError):
        Smallest().handle_tool_call("anything", {})


def test_the_package_exports_these_names() -> None:
    import mnemos.integrations.providers

    assert mnemos.integrations.providers.__all__ == [
        "BuiltinMemoryProvider", "ManagerStatus", "MemoryManager", "MemoryProvider", "ProviderStatus"
    ]  # fmt: skip
    for name in mnemos.integrations.providers.__all__:
        assert getattr(mnemos.integrations.providers, name).__name__ == name
    with pytest.raises(AttributeError):
        _ = mnemos.integrations.providers.nothing_of_the_kind
