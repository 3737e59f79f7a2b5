"""How an agent host drives memory, turn by turn: the contract of a provider, and the manager of providers.

Nothing is imported before it is used: whoever writes a provider needs the contract and not the database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemos.lazy import lazily

if TYPE_CHECKING:
    from mnemos.providers.builtin import BuiltinMemoryProvider
    from mnemos.providers.contract import MemoryProvider
    from mnemos.providers.manager import MemoryManager
    from mnemos.providers.status import ManagerStatus, ProviderStatus

_HOMES = {
    "BuiltinMemoryProvider": "mnemos.providers.builtin",
    "ManagerStatus": "mnemos.providers.status",
    "MemoryManager": "mnemos.providers.manager",
    "MemoryProvider": "mnemos.providers.contract",
    "ProviderStatus": "mnemos.providers.status",
}

__all__ = ["BuiltinMemoryProvider", "ManagerStatus", "MemoryManager", "MemoryProvider", "ProviderStatus"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
