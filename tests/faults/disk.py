"""A disk that fails, or takes the process down with it, at the operation we choose.

A VFS between SQLite and the operating system: it counts every operation that changes a file. Reads pass
through, and so does everything done without SQLite.
"""

from __future__ import annotations

import os
import signal
from typing import Any

import apsw

_REAL = "unix"


class Disk(apsw.VFS):
    """Once made, every connection of the process goes through it."""

    def __init__(self) -> None:
        super().__init__("faulty", _REAL, makedefault=True)
        self.operations = 0
        self._kills_at = 0
        self._full_at = 0

    def kill_at(self, operation: int) -> None:
        """SIGKILL this process instead of the n-th change of a file from now; 0: never."""
        self.operations, self._kills_at = 0, operation

    def full_from(self, operation: int) -> None:
        """No room from the n-th change of a file on, until told otherwise; 0: room enough."""
        self.operations, self._full_at = 0, operation

    def xOpen(self, name: Any, flags: Any) -> _File:
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.changes()
        super().xDelete(filename, syncdir)

    def changes(self, *, takes_room: bool = False) -> None:
        self.operations += 1
        if self.operations == self._kills_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if takes_room and 0 < self._full_at <= self.operations:
            raise apsw.FullError


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: Any) -> None:
        super().__init__(_REAL, name, flags)
        self._disk = disk

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.changes(takes_room=True)
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        self._disk.changes()
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        self._disk.changes()
        super().xSync(flags)
