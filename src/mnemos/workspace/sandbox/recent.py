"""When each table was last used: kept beside the database, so that a card can begin with what matters."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

_EVERY_SECONDS = 5.0
_MOST_TABLES = 200
_MOST_BYTES = 1_000_000


class Recent:
    """Moments by table. What cannot be read or written is not missed: only the order suffers."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.at = _read(path)
        self._saved_at = time.monotonic()
        self._is_saved = True

    def note(self, tables: Iterable[str], *, may_save: bool) -> None:
        now = time.time()
        for table in tables:
            self.at[table] = now
            self._is_saved = False
        if may_save and time.monotonic() - self._saved_at > _EVERY_SECONDS:
            self.save()

    def save(self) -> None:
        if self._is_saved:
            return
        newest = sorted(self.at.items(), key=lambda item: -item[1])[:_MOST_TABLES]
        unfinished = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            unfinished.write_bytes(msgspec.json.encode(dict(newest)))
            unfinished.replace(self._path)
        except OSError:
            unfinished.unlink(missing_ok=True)
        self._is_saved = True
        self._saved_at = time.monotonic()


def _read(path: Path) -> dict[str, float]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            return {}
        return msgspec.json.decode(path.read_bytes(), type=dict[str, float])
    except (OSError, msgspec.MsgspecError):
        return {}
