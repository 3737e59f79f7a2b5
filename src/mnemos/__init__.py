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
    from mnemos.memory.backends import LocalBackend, evaluate_backends, get_memory_backend, reset_backend
    from mnemos.memory.session_templates import SessionTemplates
    from mnemos.settings import Settings

_HOMES = {
    "LocalBackend": "mnemos.memory.backends",
    "Memory": "mnemos.memory.memory",
    "MnemosError": "mnemos.errors",
    "SessionDB": "mnemos.memory.session_db",
    "SessionTemplates": "mnemos.memory.session_templates",
    "Settings": "mnemos.settings",
    "evaluate_backends": "mnemos.memory.backends",
    "get_memory_backend": "mnemos.memory.backends",
    "open": "mnemos.memory.memory",
    "reset_backend": "mnemos.memory.backends",
}

__all__ = [
    "LocalBackend",
    "Memory",
    "MnemosError",
    "SessionDB",
    "SessionTemplates",
    "Settings",
    "evaluate_backends",
    "get_memory_backend",
    "open",
    "reset_backend",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
