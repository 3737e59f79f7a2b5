"""Sessions in a database file of their own."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from mnemos.memory.home import IN_MEMORY, path_of
from mnemos.memory.memory import Memory
from mnemos.sessions.sessions import Clock, Sessions
from mnemos.settings import Settings


class SessionDB(Sessions):
    """Sessions in a database file of their own: what agent hosts open.

    ``db_path`` None is the database of the default home.
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
        super().__init__(self._memory.storage, settings, clock, self._memory._ranked)

    def close(self) -> None:
        self._memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
