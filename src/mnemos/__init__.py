"""Mnemos: memory for LLM agents.

``with mnemos.open() as memory:`` gives ``memory.sessions`` and the other parts. Modules are
imported on first use, so ``import mnemos`` is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemos.lazy import lazily

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mnemos.client.async_client import AsyncClient
    from mnemos.errors import MnemosError
    from mnemos.facts.fact import Fact
    from mnemos.memory import Memory, SessionDB, open
    from mnemos.memory.async_memory import AsyncMemory, aopen
    from mnemos.memory.backends import LocalBackend, evaluate_backends, get_memory_backend, reset_backend
    from mnemos.memory.erasure import Forgotten
    from mnemos.memory.session_templates import SessionTemplates
    from mnemos.recall.answer import Kind, Recall, RecallHit
    from mnemos.sessions.session_types import Message, MessageHit, Role, Session
    from mnemos.settings import Settings

_HOMES = {
    "AsyncClient": "mnemos.client.async_client",
    "AsyncMemory": "mnemos.memory.async_memory",
    "Fact": "mnemos.facts.fact",
    "Forgotten": "mnemos.memory.erasure",
    "Kind": "mnemos.recall.answer",
    "LocalBackend": "mnemos.memory.backends",
    "Memory": "mnemos.memory.memory",
    "Message": "mnemos.sessions.session_types",
    "MessageHit": "mnemos.sessions.session_types",
    "MnemosError": "mnemos.errors",
    "Recall": "mnemos.recall.answer",
    "RecallHit": "mnemos.recall.answer",
    "Role": "mnemos.sessions.session_types",
    "Session": "mnemos.sessions.session_types",
    "SessionDB": "mnemos.memory.session_db",
    "SessionTemplates": "mnemos.memory.session_templates",
    "Settings": "mnemos.settings",
    "aopen": "mnemos.memory.async_memory",
    "evaluate_backends": "mnemos.memory.backends",
    "get_memory_backend": "mnemos.memory.backends",
    "open": "mnemos.memory.opening",
    "reset_backend": "mnemos.memory.backends",
}

__all__ = [
    "AsyncClient",
    "AsyncMemory",
    "Fact",
    "Forgotten",
    "Kind",
    "LocalBackend",
    "Memory",
    "Message",
    "MessageHit",
    "MnemosError",
    "Recall",
    "RecallHit",
    "Role",
    "Session",
    "SessionDB",
    "SessionTemplates",
    "Settings",
    "aopen",
    "evaluate_backends",
    "get_memory_backend",
    "open",
    "reset_backend",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
