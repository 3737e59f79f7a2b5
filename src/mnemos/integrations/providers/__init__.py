"""Memory for agent hosts, turn by turn: the provider contract and the manager.

Names are imported on first use, because a provider needs the contract, but not the database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemos.lazy import lazily

if TYPE_CHECKING:
    from mnemos.integrations.providers.builtin import BuiltinMemoryProvider
    from mnemos.integrations.providers.contract import MemoryProvider
    from mnemos.integrations.providers.manager import MemoryManager
    from mnemos.integrations.providers.member import ManagerStatus, ProviderStatus

_HOMES = {
    "BuiltinMemoryProvider": "mnemos.integrations.providers.builtin",
    "ManagerStatus": "mnemos.integrations.providers.member",
    "MemoryManager": "mnemos.integrations.providers.manager",
    "MemoryProvider": "mnemos.integrations.providers.contract",
    "ProviderStatus": "mnemos.integrations.providers.member",
}

__all__ = ["BuiltinMemoryProvider", "ManagerStatus", "MemoryManager", "MemoryProvider", "ProviderStatus"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
