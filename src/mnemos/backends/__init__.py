"""What is known about users, as keys and values behind one interface: null, local, Honcho, and plug-ins.

Nothing is imported before it is used: the null backend needs no database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemos.lazy import lazily

if TYPE_CHECKING:
    from mnemos.backends.contract import MemoryBackend, MemoryEntry
    from mnemos.backends.evaluation.model import BackendEvaluation
    from mnemos.backends.evaluation.trial import evaluate_backend
    from mnemos.backends.honcho import HonchoBackend
    from mnemos.backends.local import LocalBackend
    from mnemos.backends.null import NullBackend
    from mnemos.backends.process import evaluate_backends, get_memory_backend, reset_backend

_HOMES = {
    "BackendEvaluation": "mnemos.backends.evaluation.model",
    "HonchoBackend": "mnemos.backends.honcho",
    "LocalBackend": "mnemos.backends.local",
    "MemoryBackend": "mnemos.backends.contract",
    "MemoryEntry": "mnemos.backends.contract",
    "NullBackend": "mnemos.backends.null",
    "evaluate_backend": "mnemos.backends.evaluation.trial",
    "evaluate_backends": "mnemos.backends.process",
    "get_memory_backend": "mnemos.backends.process",
    "reset_backend": "mnemos.backends.process",
}

__all__ = [
    "BackendEvaluation",
    "HonchoBackend",
    "LocalBackend",
    "MemoryBackend",
    "MemoryEntry",
    "NullBackend",
    "evaluate_backend",
    "evaluate_backends",
    "get_memory_backend",
    "reset_backend",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
