"""Small files that people may edit and several processes change: locked, and replaced whole."""

from __future__ import annotations

import errno
import glob
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from mnemos.errors import Busy, DiskFull, InvalidInput, MnemosError, PermissionDenied, Unavailable

try:
    import fcntl
except ImportError:  # Windows: one process at a time.
    fcntl = None  # type: ignore[assignment]

_PRIVATE: Final = 0o600
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LOCK_PAUSE: Final = 0.005
_UNFINISHED: Final = ".new"
_SETTLED: Final = 2_000_000_000


def signature(path: Path) -> object:
    """A value that changes whenever a file does; None for a file that cannot be looked at."""
    try:
        found = path.stat()
    except OSError:
        return None
    if found.st_ctime_ns > time.time_ns() - _SETTLED:
        # It may be written again within one tick of the file system's clock.
        return object()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


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
        lock = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE)
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


def read(path: Path) -> str | None:
    """The text of a file; None when there is none. What is no text raises InvalidInput."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path} is not UTF-8 text: {exc.reason} at byte {exc.start}") from exc
    except OSError as exc:
        raise PermissionDenied(f"{path} cannot be read: {exc.strerror}") from exc


def replace(
    path: Path, data: bytes, *, keeps_mode: bool = False, alone: bool = False, durable: bool = True
) -> None:
    """Write beside and rename: whoever reads sees the old file or the new one, after a crash too.

    Missing folders are made. A link stays a link. The file becomes its owner's alone, unless one that is
    there ``keeps_mode``. A file that is read-only raises PermissionDenied. What killed processes left is
    removed; who is ``alone``, because he holds a lock, leaves nothing of anybody. What is not ``durable`` may
    be lost when the power fails.
    """
    # People link such files to where they keep their other settings.
    path = behind_links(path)
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionDenied(f"{path} is read-only; nothing was changed")
    fresh = path.with_name(f".{path.name}.{os.getpid()}{_UNFINISHED}")
    try:
        make_private(path.parent)
        discard_unfinished(path, alone=alone)
        write_new(fresh, data, durable=durable)
        if keeps_mode and path.exists():
            fresh.chmod(stat.S_IMODE(path.stat().st_mode))
        fresh.replace(path)
        if durable:
            _sync_folder(path.parent)
    except OSError as exc:
        raise unwritten(exc, path) from exc
    finally:
        _discard(fresh)


def discard_unfinished(path: Path, *, alone: bool = False) -> None:
    """Remove what killed processes left beside a file: it may hold secrets, and nobody looks there.

    Numbers of processes come again: only who is ``alone`` can be sure that nothing stays.
    """
    for left in path.parent.glob(f".{glob.escape(path.name)}.*{_UNFINISHED}"):
        process = left.name.removesuffix(_UNFINISHED).rpartition(".")[2]
        if process.isdecimal() and (alone or not _is_another(int(process))):
            _discard(left)


def behind_links(path: Path) -> Path:
    """The file itself, where a path may be a link to it; links in a circle raise InvalidInput."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as exc:
        raise InvalidInput(f"{path} is a link that leads nowhere: {exc}; mend it first") from exc


def write_new(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Make a file that is not there yet, when ``durable`` down to the disk; errors are the system's."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_EXCL, _PRIVATE)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        if durable:
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


def _is_another(process: int) -> bool:
    return process != os.getpid() and is_running(process)


def _discard(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        # Where nothing could be written, nothing was left either.
        return


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
