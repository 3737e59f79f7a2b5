"""Storage: the contract (base.py) and the engines that implement it.

The names exported here read other programs' databases and the agent's own history, and clean up after them.
The driver is imported when one of them is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemos.lazy import lazily

if TYPE_CHECKING:
    from mnemos.storage.sqlite.connection import sweep_log
    from mnemos.storage.sqlite.readonly import (
        HISTORY_COLUMNS,
        AgentDatabase,
        HermesState,
        agent_database,
        hermes_memory,
        hermes_state,
        read_history,
    )

_HOMES = {
    "AgentDatabase": "mnemos.storage.sqlite.readonly",
    "agent_database": "mnemos.storage.sqlite.readonly",
    "HISTORY_COLUMNS": "mnemos.storage.sqlite.readonly",
    "HermesState": "mnemos.storage.sqlite.readonly",
    "hermes_memory": "mnemos.storage.sqlite.readonly",
    "hermes_state": "mnemos.storage.sqlite.readonly",
    "read_history": "mnemos.storage.sqlite.readonly",
    "sweep_log": "mnemos.storage.sqlite.connection",
}

__all__ = [
    "HISTORY_COLUMNS",
    "AgentDatabase",
    "HermesState",
    "agent_database",
    "hermes_memory",
    "hermes_state",
    "read_history",
    "sweep_log",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
