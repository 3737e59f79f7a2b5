"""A disk that fails, or takes the process down with it, at the operation we choose.

A VFS between SQLite and the operating system counts every operation that changes a file; renaming and
removing files, which Python does, are counted too. Reads pass through.
"""

from __future__ import annotations

import os
import signal
import sys
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
        self._moves_only = False
        sys.addaudithook(self._notice)

    def kill_at(self, operation: int, *, moves_only: bool = False) -> None:
        """SIGKILL this process instead of the n-th change of a file from now; 0: never.

        ``moves_only``: count only files that are renamed or removed as a whole.
        """
        self.operations, self._kills_at, self._moves_only = 0, operation, moves_only

    def full_from(self, operation: int) -> None:
        """No room from the n-th change of a file on, until this is changed; 0: room enough."""
        self.operations, self._full_at = 0, operation

    def _notice(self, event: str, _: object) -> None:
        if event in ("os.rename", "os.remove", "os.link"):
            self._count()

    def xOpen(self, name: Any, flags: Any) -> _File:
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.changes()
        super().xDelete(filename, syncdir)

    def changes(self, *, takes_room: bool = False) -> None:
        if not self._moves_only:
            self._count()
        if takes_room and 0 < self._full_at <= self.operations:
            raise apsw.FullError

    def _count(self) -> None:
        self.operations += 1
        if self.operations == self._kills_at:
            os.kill(os.getpid(), signal.SIGKILL)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: Any) -> None:
        super().__init__(_REAL, name, flags)
        self._disk = disk

    def xLock(self, level: int) -> None:
        try:
            super().xLock(level)
        except apsw.IOError:
            # A reader that closes asks for a lock it cannot get; SQLite does not mind, apsw would raise.
            raise apsw.BusyError from None

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.changes(takes_room=True)
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        self._disk.changes()
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        self._disk.changes()
        super().xSync(flags)
