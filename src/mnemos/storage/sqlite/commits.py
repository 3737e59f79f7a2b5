"""Commits of any process, seen by polling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mnemos.errors import DatabaseGone
from mnemos.storage.sqlite.connection import DRIVER_ERRORS
from mnemos.storage.sqlite.pool import Pool


@contextmanager
def watch_commits(
    pool: Pool, explain: Callable[[Any], Exception], *, in_memory: bool
) -> Iterator[Callable[[], object]]:
    """Return a function whose value changes with each commit; see ``Storage.watch``."""
    if in_memory:
        yield pool.writer().connection.total_changes
        return
    try:
        connection = pool.connect(read_only=True)
    except (DatabaseGone, *DRIVER_ERRORS) as exc:
        raise explain(exc) from exc

    def look() -> object:
        try:
            # Not the method of that name, which sees what others wrote only after a read.
            return connection.pragma("data_version")
        except DRIVER_ERRORS as exc:
            raise explain(exc) from exc

    try:
        yield look
    finally:
        connection.close()
