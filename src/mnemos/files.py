"""Small files that people may edit and several processes change: locked, and replaced whole."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from mnemos.errors import Busy, DiskFull, MnemosError, PermissionDenied, Unavailable

try:
    import fcntl
except ImportError:  # Windows: one process at a time.
    fcntl = None  # type: ignore[assignment]

_MODE: Final = 0o600
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LOCK_PAUSE: Final = 0.005


def make_private(folder: Path) -> None:
    """Make a folder and the missing ones above it, for their owner only; errors are the system's."""
    # mkdir(parents=True) would give the mode to the last one alone.
    if not folder.parent.exists():
        make_private(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def locked(folder: Path, name: str, busy_seconds: float) -> Iterator[None]:
    """Hold the lock of that name in a folder, which is made; Busy when somebody has it for longer."""
    try:
        make_private(folder)
        lock = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _MODE)
    except OSError as exc:
        raise unwritten(exc, folder) from exc
    try:
        _wait_for(lock, folder, busy_seconds)
        yield
    finally:
        os.close(lock)


def _wait_for(lock: int, folder: Path, busy_seconds: float) -> None:
    """Take the lock; somebody who holds it for too long raises Busy, so that no turn hangs on it."""
    if fcntl is None:
        return
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > deadline:
                raise Busy(f"{folder} is kept busy by another process; try again") from None
            time.sleep(_LOCK_PAUSE)
        else:
            return


def replace(path: Path, text: str) -> None:
    """Write beside and rename: whoever reads sees the old file or the new one, after a crash too.

    For who holds the lock.
    """
    # People link such files to where they keep their other settings: the link stays.
    path = path.resolve()
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionDenied(f"{path} is read-only; nothing was changed")
    # One name for all: only who holds the lock is here, and what a killed one left is removed.
    fresh = path.with_name(f".{path.name}.new")
    try:
        fresh.unlink(missing_ok=True)
        write_new(fresh, text.encode())
        fresh.replace(path)
        _sync_folder(path.parent)
    except OSError as exc:
        fresh.unlink(missing_ok=True)
        raise unwritten(exc, path) from exc


def write_new(path: Path, data: bytes) -> None:
    """Make a file that is not there yet, down to the disk; errors are the system's."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_EXCL, _MODE)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def is_running(process: int) -> bool:
    """Whether there is a process of that number: what another one left unfinished may go."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def zstd() -> Any:
    """The module that packs and unpacks by zstd; imported only by who has such files."""
    if sys.version_info >= (3, 14):
        from compression import zstd as module
    else:
        from backports import zstd as module
    return module


def unwritten(exc: OSError, path: Path) -> MnemosError:
    """What to raise for a file that could not be written."""
    if exc.errno in _FULL:
        return DiskFull(f"{path} could not be written: the disk is full; it is as it was")
    if exc.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return PermissionDenied(f"{path} cannot be written ({exc.strerror}); nothing was changed")
    return Unavailable(f"{path} could not be written: {exc.strerror}; it is as it was")


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
