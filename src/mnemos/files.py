"""Locks and atomic replacement for small files that several processes change."""

from __future__ import annotations

import errno
import glob
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any, Final

from mnemos.errors import (
    AlreadyExists,
    Busy,
    DiskFull,
    InvalidInput,
    MnemosError,
    NotFound,
    PermissionDenied,
    Unavailable,
)

try:
    import fcntl
except ImportError:  # Windows has no fcntl: only one process at a time is supported.
    fcntl = None  # type: ignore[assignment]

_PRIVATE: Final = 0o600
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LOCK_PAUSE: Final = 0.005
_UNFINISHED: Final = ".new"
_SCRATCH: Final = ".mnemos-{}.unfinished"
_SETTLED: Final = 2_000_000_000
# Larger than any settings or notes a person would write.
_LARGEST: Final = 4_000_000


def signature(path: Path) -> object:
    """Return a value that changes whenever a file does; None for an unreadable file."""
    try:
        found = path.stat()
    except OSError:
        return None
    if found.st_ctime_ns > time.time_ns() - _SETTLED:
        # The file may be written again within one tick of the file system's clock.
        return object()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def make_private(folder: Path) -> None:
    """Create a folder and its missing parents, for the owner only. Raises OSError."""
    # mkdir(parents=True) sets the mode of the last folder only.
    if not folder.parent.exists():
        make_private(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def lock(folder: Path, name: str, busy_seconds: float) -> Iterator[None]:
    """Hold a lock file in a folder, created if missing. Raises Busy on a timeout."""
    try:
        make_private(folder)
        handle = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE)
    except OSError as exc:
        raise write_error(exc, folder) from exc
    try:
        _wait_for(handle, folder, busy_seconds)
        yield
    finally:
        os.close(handle)


def _wait_for(handle: int, folder: Path, busy_seconds: float) -> None:
    """Take the lock, or raise Busy so that no turn hangs."""
    if fcntl is None:
        return
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > deadline:
                raise Busy(f"{folder} is locked by another process. Try again.") from None
            time.sleep(_LOCK_PAUSE)
        else:
            return


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Create a hidden folder that is deleted at the end of the block. Raises OSError.

    It is locked while in use: the next call in ``parent`` deletes what killed processes left, even if
    their ids are in use again.
    """
    for left in parent.glob(_SCRATCH.format("*")):
        with suppress(OSError):
            _delete_abandoned(left)
    handle = None
    while handle is None:
        # Until it is locked, another process may take it for abandoned.
        made = parent / _SCRATCH.format(os.urandom(8).hex())
        made.mkdir(mode=0o700)
        handle = _lock_folder(made)
    try:
        yield made
    finally:
        _delete_folder(made)
        os.close(handle)


def _delete_abandoned(folder: Path) -> None:
    handle = None if folder.is_symlink() else _lock_folder(folder)
    if handle is not None:
        _delete_folder(folder)
        os.close(handle)


def _delete_folder(folder: Path) -> None:
    # Claude Code hooks import this module, and this takes a tenth of their time.
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _lock_folder(folder: Path) -> int | None:
    """Lock a folder until the handle is closed; None if it is gone or locked."""
    try:
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE)
    except FileNotFoundError:
        return None
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading; anything else raises OSError without waiting."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return os.fdopen(handle, "rb")


def read_bounded(path: Path, most: int) -> bytes:
    """Return a regular file's bytes; more than ``most`` raise OSError (EFBIG)."""
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
    return data


def read(path: Path) -> str | None:
    """Return a file's text; None without a file. InvalidInput if it is not UTF-8."""
    try:
        return read_bounded(path, _LARGEST).decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path} is not UTF-8 text: {exc.reason} at byte {exc.start}.") from exc
    except OSError as exc:
        raise PermissionDenied(f"{path} cannot be read: {exc.strerror}.") from exc


def replace(
    path: Path, data: bytes, *, keeps_mode: bool = False, alone: bool = False, durable: bool = True
) -> None:
    """Replace a file atomically: readers and crashes see the old or the new one.

    Missing folders are made. A link stays a link. The file is readable by its owner only, unless it exists
    and ``keeps_mode``. A read-only file, and anything but a file, raises PermissionDenied. Temporary files of
    killed processes are deleted; with ``alone``, because the caller holds a lock, those of all processes. A
    write that is not ``durable`` may be lost when the power fails.
    """
    # People keep dotfiles in one folder and link to them.
    path = resolve_links(path)
    if path.exists() and not path.is_file():
        raise PermissionDenied(f"{path} is not a regular file. Nothing was changed.")
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionDenied(f"{path} is read-only. Nothing was changed.")
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
        raise write_error(exc, path) from exc
    finally:
        _discard(fresh)


def discard_unfinished(path: Path, *, alone: bool = False) -> None:
    """Delete temporary files of killed processes, which may hold secrets.

    Process ids are reused: only with ``alone`` is it certain that nothing stays.
    """
    for left in path.parent.glob(f".{glob.escape(path.name)}.*{_UNFINISHED}"):
        process = left.name.removesuffix(_UNFINISHED).rpartition(".")[2]
        if process.isdecimal() and (alone or not _is_another(int(process))):
            _discard(left)


def resolve_links(path: Path) -> Path:
    """Follow links to the file itself. Raises InvalidInput if they form a loop."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as exc:
        raise InvalidInput(f"{path} is a broken link: {exc}. Repair it first.") from exc


def write_new(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Create a file, synced to disk if ``durable``. Raises OSError."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_EXCL, _PRIVATE)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        if durable:
            file.flush()
            os.fsync(file.fileno())


def is_running(process: int) -> bool:
    """True if there is a process with that id."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def zstd() -> Any:
    """Import and return the zstd module of this Python version."""
    if sys.version_info >= (3, 14):
        from compression import zstd as module
    else:
        from backports import zstd as module
    return module


@contextmanager
def write_copy(target: Path) -> Iterator[Path]:
    """Yield the name of an empty file that is renamed when complete.

    Raises AlreadyExists, NotFound for a missing folder, OSError.
    """
    if target.exists():
        raise AlreadyExists(f"{target} already exists. Choose another name for the backup.")
    if not target.parent.is_dir():
        raise NotFound(f"There is no folder {target.parent} for the backup. Create it first.")
    unfinished = target.with_name(target.name + ".unfinished")
    try:
        unfinished.unlink(missing_ok=True)
        unfinished.touch(mode=_PRIVATE)
        yield unfinished
        unfinished.rename(target)
    finally:
        _discard(unfinished)


def write_error(exc: OSError, path: Path) -> MnemosError:
    """Return the error to raise for a file that could not be written."""
    if exc.errno in _FULL:
        return DiskFull(f"{path} could not be written: the disk is full. Nothing was changed.")
    if exc.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return PermissionDenied(f"{path} cannot be written ({exc.strerror}). Nothing was changed.")
    return Unavailable(f"{path} could not be written: {exc.strerror}. Nothing was changed.")


def _is_another(process: int) -> bool:
    return process != os.getpid() and is_running(process)


def _discard(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        # If it could not be written, there is nothing to delete.
        return


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def name_beside(path: Path, label: str) -> Path:
    """Return an unused name for a copy next to the file."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    candidate = path.with_name(f"{path.stem}.{label}-{stamp}{path.suffix}")
    number = 2
    while candidate.exists():
        candidate = path.with_name(f"{path.stem}.{label}-{stamp}-{number}{path.suffix}")
        number += 1
    return candidate
