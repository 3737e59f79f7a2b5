"""Where memory is kept: the contract (base.py) and the engines that fulfil it.

Databases of other programs and the agent's own history are read through these names; the driver is
imported when one of them is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemos.lazy import lazily

if TYPE_CHECKING:
    from mnemos.storage.sqlite.foreign import HermesState, hermes_memory, hermes_state
    from mnemos.storage.sqlite.history import HISTORY_COLUMNS, read_history

_HOMES = {
    "HISTORY_COLUMNS": "mnemos.storage.sqlite.history",
    "HermesState": "mnemos.storage.sqlite.foreign",
    "hermes_memory": "mnemos.storage.sqlite.foreign",
    "hermes_state": "mnemos.storage.sqlite.foreign",
    "read_history": "mnemos.storage.sqlite.history",
}

__all__ = ["HISTORY_COLUMNS", "HermesState", "hermes_memory", "hermes_state", "read_history"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
