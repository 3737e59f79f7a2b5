"""Sessions in their own database file."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import Any

from mnemos.memory.home import IN_MEMORY, Resource, path_of
from mnemos.memory.memory import Memory
from mnemos.sessions.lookups import Clock
from mnemos.sessions.sessions import Sessions
from mnemos.settings import Settings


class SessionDB(Resource, Sessions):
    """Sessions in their own database file, for agent hosts.

    Without a ``db_path``, it is the database of the default home.
    """

    def __init__(
        self,
        db_path: str | os.PathLike[str] | None = None,
        *,
        space: str = "default",
        read_only: bool = False,
        clock: Clock = time.time,
        **flags: Any,
    ) -> None:
        settings = Settings.load(space=space, **flags)
        where = None if db_path is None else os.fspath(db_path)
        path = None if where is None else path_of(where)
        if path is not None:
            settings = replace(settings, home=path.parent)
        self._memory = Memory(
            settings,
            read_only=read_only,
            clock=clock,
            database=path,
            in_memory=where == IN_MEMORY,
        )
        super().__init__(self._memory.storage, settings, clock, self._memory._rank_messages)

    def close(self) -> None:
        self._memory.close()
