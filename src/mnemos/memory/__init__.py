"""The composition root: opens a home in a space and owns the parts.

Nothing is imported before it is used, so that a hook that only needs the storage doesn't load everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemos.lazy import lazily

if TYPE_CHECKING:
    from mnemos.memory.memory import Memory
    from mnemos.memory.opening import open
    from mnemos.memory.session_db import SessionDB

_HOMES = {
    "Memory": "mnemos.memory.memory",
    "SessionDB": "mnemos.memory.session_db",
    "open": "mnemos.memory.opening",
}

__all__ = ["Memory", "SessionDB", "open"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
