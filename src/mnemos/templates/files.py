"""Where templates stand: a folder with a file for each, written so that no reader sees half of one."""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

from mnemos.errors import (
    Busy,
    Corrupt,
    DiskFull,
    MnemosError,
    NotFound,
    PermissionDenied,
    Refused,
    TooLarge,
    Unavailable,
)

try:
    import fcntl
except ImportError:  # Windows: one process at a time.
    fcntl = None  # type: ignore[assignment]

SUFFIX: Final = ".json"
LARGEST: Final = 4 * 1024 * 1024
_MODE: Final = 0o600
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LOCK_PAUSE: Final = 0.005
_SETTLED: Final = 2_000_000_000

Change = Callable[[str | None], str | None]
"""What a text becomes, None for a name that is not there. None leaves all as it was; so does an error."""


class Files(Protocol):
    """Texts by name; ``change`` is atomic among all who use them, in any process."""

    def names(self) -> list[str]:
        """What there is, whether it can be read or not; also names that no template can have."""
        ...

    def read(self, name: str) -> str:
        """Unknown raises NotFound; what is no text Corrupt, TooLarge or Refused."""
        ...

    def change(self, name: str, change: Change) -> None:
        """Put a text in the place of what is there now. What cannot be read is not replaced, but raises."""
        ...

    def remove(self, name: str) -> bool:
        """Take away, readable or not; False when there is none."""
        ...

    def states(self) -> dict[str, object]:
        """By name, something that is another whenever the text is another."""
        ...

    def place(self, name: str) -> str:
        """Where the text is, for people."""
        ...


class KeptInMemory:
    """For a memory that has no home."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._lock = threading.RLock()

    def names(self) -> list[str]:
        return sorted(self._texts)

    def read(self, name: str) -> str:
        try:
            return self._texts[name]
        except KeyError:
            raise NotFound(f"there is no template {name!r}") from None

    def change(self, name: str, change: Change) -> None:
        with self._lock:
            after = change(self._texts.get(name))
            if after is not None:
                self._texts[name] = after

    def remove(self, name: str) -> bool:
        with self._lock:
            return self._texts.pop(name, None) is not None

    def states(self) -> dict[str, object]:
        return dict(self._texts)

    def place(self, name: str) -> str:
        return name


class Folder:
    """Files in a folder: replaced in one step, private to their owner, changed by one process at a time."""

    def __init__(self, folder: Path, *, busy_seconds: float) -> None:
        self._folder = folder
        self._busy_seconds = busy_seconds

    def names(self) -> list[str]:
        return sorted(name for name, _ in self._entries())

    def read(self, name: str) -> str:
        path = self._path(name)
        try:
            found = path.stat()
            if not stat.S_ISREG(found.st_mode):
                raise Refused(f"{path} is no file; move it away")
            if found.st_size > LARGEST:
                raise TooLarge(f"{path} has {found.st_size:,} bytes; a template has at most {LARGEST:,}")
            data = path.read_bytes()
        except FileNotFoundError:
            raise NotFound(f"there is no template {name!r}") from None
        except PermissionError as exc:
            raise PermissionDenied(f"{path} cannot be read; give its owner access to it") from exc
        except OSError as exc:
            raise Unavailable(f"{path} cannot be read: {exc.strerror}") from exc
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as exc:
            raise Corrupt(f"{path} is not UTF-8 text ({exc.reason} at byte {exc.start})") from exc

    def change(self, name: str, change: Change) -> None:
        with self._locked():
            try:
                before: str | None = self.read(name)
            except NotFound:
                before = None
            after = change(before)
            if after is not None and after != before:
                self._replace(self._path(name), after)

    def remove(self, name: str) -> bool:
        path = self._path(name)
        if not os.path.lexists(path):
            return False
        with self._locked():
            try:
                path.unlink()
            except FileNotFoundError:
                return False
            except OSError as exc:
                raise _translated(exc, path) from exc
        return True

    def states(self) -> dict[str, object]:
        # A file that was just written may be written again within one tick of the file system's clock.
        settled = time.time_ns() - _SETTLED
        return {
            name: signature if signature and signature[-1] < settled else object()
            for name, signature in self._entries()
        }

    def place(self, name: str) -> str:
        return str(self._path(name))

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{SUFFIX}"

    def _entries(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Names, each with what changes when the file does."""
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    name = entry.name
                    if name.endswith(SUFFIX) and not name.startswith("."):
                        yield name.removesuffix(SUFFIX), _signature(entry)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as exc:
            raise Unavailable(f"{self._folder} cannot be read: {exc.strerror}") from exc

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._folder.mkdir(parents=True, mode=0o700, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            lock = os.open(self._folder / ".lock", flags, _MODE)
        except OSError as exc:
            raise _translated(exc, self._folder) from exc
        try:
            self._wait_for(lock)
            yield
        finally:
            os.close(lock)

    def _wait_for(self, lock: int) -> None:
        if fcntl is None:
            return
        deadline = time.monotonic() + self._busy_seconds
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if time.monotonic() > deadline:
                    raise Busy(f"{self._folder} is kept busy by another process; try again") from None
                time.sleep(_LOCK_PAUSE)
            else:
                return

    def _replace(self, path: Path, text: str) -> None:
        """Write beside and rename: whoever reads sees the old file or the new one, after a crash too."""
        # People link such files to where they keep their other settings: the link stays.
        path = path.resolve()
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionDenied(f"{path} is read-only; nothing was changed")
        # One name for all: only who holds the lock is here, and what a killed one left is removed.
        fresh = path.with_name(f".{path.name}.new")
        try:
            fresh.unlink(missing_ok=True)
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
            _sync_folder(path.parent)
        except OSError as exc:
            fresh.unlink(missing_ok=True)
            raise _translated(exc, path) from exc


def _signature(entry: os.DirEntry[str]) -> tuple[int, ...]:
    try:
        found = entry.stat()
    except OSError:
        # A link that leads nowhere, or gone since.
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _translated(exc: OSError, path: Path) -> MnemosError:
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
