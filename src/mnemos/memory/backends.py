"""The local backend, and the one backend of a process."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mnemos.entries import backend_choice
from mnemos.entries.backend import MemoryBackend, MemoryEntry
from mnemos.progress import Progress
from mnemos.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from mnemos.entries.entry_store import Entries, Meaning

_lock = threading.Lock()
_made: tuple[int, MemoryBackend] | None = None


class LocalBackend(MemoryBackend):
    """Entries in a database file, by default the one of the default home.

    A missing file is created together with its folder.
    """

    def __init__(
        self,
        db_path: str | os.PathLike[str] | None = None,
        *,
        space: str | None = None,
        clock: Callable[[], float] = time.time,
        **flags: Any,
    ) -> None:
        # Loads the database driver, which a process with another backend doesn't need.
        from mnemos.memory.home import IN_MEMORY, path_of
        from mnemos.memory.memory import Memory

        settings = Settings.load(space=space, **flags)
        where = None if db_path is None else os.fspath(db_path)
        path = None if where is None or where == IN_MEMORY else path_of(where)
        if path is not None:
            settings = replace(settings, home=path.parent)
        self._memory = Memory(settings, clock=clock, database=path, in_memory=where == IN_MEMORY)
        self.entries = self._memory.entries

    @property
    def backend_name(self) -> str:
        return self.entries.backend_name

    @property
    def is_cloud(self) -> bool:
        return False

    @property
    def location(self) -> str:
        return self.entries.location

    def is_available(self) -> bool:
        return True

    def store(self, user_id: str, key: str, value: str, metadata: Mapping[str, Any] | None = None) -> bool:
        return self.entries.store(user_id, key, value, metadata)

    def retrieve(self, user_id: str, key: str) -> MemoryEntry | None:
        return self.entries.retrieve(user_id, key)

    def query(self, user_id: str, query_text: str, limit: int = 10) -> list[MemoryEntry]:
        return self.entries.query(user_id, query_text, limit)

    def list_keys(self, user_id: str) -> list[str]:
        return self.entries.list_keys(user_id)

    def delete(self, user_id: str, key: str) -> bool:
        return self.entries.delete(user_id, key)

    def close(self) -> None:
        self._memory.close()


def get_memory_backend() -> MemoryBackend:
    """Return the backend that the settings select, made once per process; see ``reset_backend``.

    An explicit setting (``MNEMOS_BACKEND``, else ``HERMES_MEMORY_BACKEND``) always wins, and raises if it
    can't be used. Without one, it is Honcho if ``HONCHO_API_KEY`` is set and the SDK is installed, else null.
    """
    global _made
    with _lock:
        if _made is None or _made[0] != os.getpid():
            _made = (os.getpid(), backend_choice.make_backend(Settings.load(), LocalBackend))
        return _made[1]


def reset_backend() -> None:
    """Close the backend of this process, if there is one."""
    global _made
    with _lock:
        former, _made = _made, None
    if former is not None and former[0] == os.getpid():
        former[1].close()


def evaluate_backends(**options: Any) -> dict[str, Any]:
    """Evaluate the backends that can be used here and return the report.

    It has ``timestamp``, ``backends_evaluated``, ``evaluations``, ``recommendation`` and ``workloads``.
    """
    # The database driver, as above.
    from mnemos.memory.memory import Memory

    with Memory.at() as memory:
        return memory.evaluate(**options)


def open_trial(settings: Settings, clock: Callable[[], float], folder: Path) -> Entries:
    """Open the local backend in its own database, for trials."""
    # The database driver, as above.
    from mnemos.entries.entry_store import Entries
    from mnemos.memory.memory import Memory

    memory = Memory(replace(settings, home=folder, disabled=False), clock=clock)
    made = Entries(memory.storage, memory.settings, clock, memory._meaning, memory.close)
    memory.__dict__["entries"] = made
    return made


def evaluate(
    settings: Settings, clock: Callable[[], float], progress: Progress | None, *, workload: bool
) -> dict[str, Any]:
    """Compare the backends that can be used here and return the report."""
    from mnemos.entries.evaluation import compare_backends

    settings.check_enabled()
    return compare_backends(settings, partial(open_trial, settings, clock), progress, workload=workload)


def load_meaning() -> Meaning | None:
    """Return the shipped embedding model; None if its files are missing or damaged.

    It is used even if recall has another model, because a remote one is too slow here. The doctor reports
    missing and damaged files.
    """
    from mnemos.entries.entry_store import Meaning
    from mnemos.errors import Unavailable
    from mnemos.recall.embedders import embedder
    from mnemos.recall.embedding import quantise

    try:
        static = embedder("static")
    except Unavailable:
        return None
    return Meaning(static.name, static.embed, quantise)


os.register_at_fork(after_in_child=lambda: globals().__setitem__("_lock", threading.Lock()))
