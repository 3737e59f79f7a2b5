"""Entries: keys and values about users, in null, local, Honcho or plug-in backends.

Names are imported on first use, because the null backend needs no database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemos.lazy import lazily

if TYPE_CHECKING:
    from mnemos.entries.backend import MemoryBackend, MemoryEntry, NewEntry, NullBackend
    from mnemos.entries.evaluation import BackendEvaluation, evaluate_backend
    from mnemos.entries.honcho import HonchoBackend

_HOMES = {
    "BackendEvaluation": "mnemos.entries.evaluation",
    "HonchoBackend": "mnemos.entries.honcho",
    "MemoryBackend": "mnemos.entries.backend",
    "MemoryEntry": "mnemos.entries.backend",
    "NewEntry": "mnemos.entries.backend",
    "NullBackend": "mnemos.entries.backend",
    "evaluate_backend": "mnemos.entries.evaluation",
}

__all__ = [
    "BackendEvaluation",
    "HonchoBackend",
    "MemoryBackend",
    "MemoryEntry",
    "NewEntry",
    "NullBackend",
    "evaluate_backend",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
