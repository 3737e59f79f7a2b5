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
    from mnemos.memory.local_backend import LocalBackend
    from mnemos.memory.process_backend import evaluate_backends, get_memory_backend, reset_backend
    from mnemos.memory.session_templates import SessionTemplates
    from mnemos.settings import Settings

_HOMES = {
    "LocalBackend": "mnemos.memory.local_backend",
    "Memory": "mnemos.memory.memory",
    "MnemosError": "mnemos.errors",
    "SessionDB": "mnemos.memory.memory",
    "SessionTemplates": "mnemos.memory.session_templates",
    "Settings": "mnemos.settings",
    "evaluate_backends": "mnemos.memory.process_backend",
    "get_memory_backend": "mnemos.memory.process_backend",
    "open": "mnemos.memory.memory",
    "reset_backend": "mnemos.memory.process_backend",
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
