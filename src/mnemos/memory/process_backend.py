"""The one backend of a process."""

from __future__ import annotations

import os
import threading
from typing import Any

from mnemos.entries import choosing
from mnemos.entries.contract import MemoryBackend
from mnemos.settings import Settings

_lock = threading.Lock()
_made: tuple[int, MemoryBackend] | None = None


def get_memory_backend() -> MemoryBackend:
    """The backend that the settings choose, made once a process; see ``reset_backend``.

    An explicit setting (``MNEMOS_BACKEND``, else ``HERMES_MEMORY_BACKEND``) always wins, and raises when it
    cannot be followed. Without one: Honcho if ``HONCHO_API_KEY`` is set and the SDK is there, else null.
    """
    global _made
    with _lock:
        if _made is None or _made[0] != os.getpid():
            _made = (os.getpid(), choosing.make(Settings.load(), _local))
        return _made[1]


def reset_backend() -> None:
    """Close the backend of this process, if there is one."""
    global _made
    with _lock:
        former, _made = _made, None
    if former is not None and former[0] == os.getpid():
        former[1].close()


def evaluate_backends(**options: Any) -> dict[str, Any]:
    """Evaluate every backend that could be used here: the report.

    ``timestamp``, ``backends_evaluated``, ``evaluations``, ``recommendation``, and what the workload showed.
    """
    from mnemos.memory import Memory

    with Memory.at() as memory:
        return memory.evaluate(**options)


def _local() -> MemoryBackend:
    # The database driver: only for those who keep something here.
    from mnemos.memory.local_backend import LocalBackend

    return LocalBackend()


os.register_at_fork(after_in_child=lambda: globals().__setitem__("_lock", threading.Lock()))
