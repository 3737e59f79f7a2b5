"""What is known about users, as keys and values behind one interface: null, local, Honcho, and plug-ins.

Nothing is imported before it is used: the null backend needs no database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemos.lazy import lazily

if TYPE_CHECKING:
    from mnemos.entries.contract import MemoryBackend, MemoryEntry
    from mnemos.entries.evaluation.model import BackendEvaluation
    from mnemos.entries.evaluation.trial import evaluate_backend
    from mnemos.entries.honcho import HonchoBackend
    from mnemos.entries.null import NullBackend

_HOMES = {
    "BackendEvaluation": "mnemos.entries.evaluation.model",
    "HonchoBackend": "mnemos.entries.honcho",
    "MemoryBackend": "mnemos.entries.contract",
    "MemoryEntry": "mnemos.entries.contract",
    "NullBackend": "mnemos.entries.null",
    "evaluate_backend": "mnemos.entries.evaluation.trial",
}

__all__ = [
    "BackendEvaluation",
    "HonchoBackend",
    "MemoryBackend",
    "MemoryEntry",
    "NullBackend",
    "evaluate_backend",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
