"""Mnemos: the memory of an LLM agent.

``with mnemos.open() as memory:`` gives ``memory.sessions`` and the other parts. Nothing is imported
before it is used, so that ``import mnemos`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mnemos' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
