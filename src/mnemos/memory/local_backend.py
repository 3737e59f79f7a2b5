"""The local backend: entries in a database of this machine."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import Any

from mnemos.entries.service import Entries
from mnemos.memory import Memory
from mnemos.memory.home import IN_MEMORY, path_of
from mnemos.sessions.recording import Clock
from mnemos.settings import Settings


class LocalBackend(Entries):
    """Entries in a database file of their own, or with ``db_path`` None in that of the default home.

    The file is made when it is missing, with the folder it is in.
    """

    def __init__(
        self,
        db_path: str | os.PathLike[str] | None = None,
        *,
        space: str | None = None,
        clock: Clock = time.time,
        **flags: Any,
    ) -> None:
        settings = Settings.load(space=space, **flags)
        where = None if db_path is None else os.fspath(db_path)
        path = None if where is None or where == IN_MEMORY else path_of(where)
        if path is not None:
            settings = replace(settings, home=path.parent)
        self._memory = Memory(settings, clock=clock, database=path, in_memory=where == IN_MEMORY)
        super().__init__(self._memory.storage, settings, clock, self._memory._meaning, self._memory.close)
        # The background thread of the storage lets the entries be found.
        self._memory.__dict__["entries"] = self
