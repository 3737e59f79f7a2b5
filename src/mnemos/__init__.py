"""Mnemos: the memory of an LLM agent.

``with mnemos.open() as memory:`` gives ``memory.sessions`` and the other parts. Nothing is imported
before it is used, so that ``import mnemos`` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemos.lazy import lazily

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mnemos.errors import MnemosError
    from mnemos.memory import Memory, SessionDB, open
    from mnemos.settings import Settings

_HOMES = {
    "Memory": "mnemos.memory",
    "MnemosError": "mnemos.errors",
    "SessionDB": "mnemos.memory",
    "Settings": "mnemos.settings",
    "open": "mnemos.memory",
}

__all__ = ["Memory", "MnemosError", "SessionDB", "Settings", "open"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
