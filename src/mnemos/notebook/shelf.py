"""Where the files stand: a folder, written so that no reader ever sees half a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from mnemos.errors import Corrupt, PermissionDenied, Refused, Unavailable
from mnemos.notebook.model import Book

try:
    import fcntl
except ImportError:  # Windows: one process at a time.
    fcntl = None  # type: ignore[assignment]

_MODE = 0o600


class Shelf(Protocol):
    """The texts of the two files; ``change`` is atomic among all who use it."""

    def read(self, book: Book) -> str:
        """The text; empty when there is no file. What cannot be read as text raises Corrupt."""
        ...

    def change(self, book: Book, change: Callable[[str], str]) -> tuple[str, str]:
        """Replace the text by what ``change`` makes of it as it is now; before and after."""
        ...


class KeptInMemory:
    """For a memory that has no home."""

    def __init__(self) -> None:
        self._texts = dict.fromkeys(Book, "")

    def read(self, book: Book) -> str:
        return self._texts[book]

    def change(self, book: Book, change: Callable[[str], str]) -> tuple[str, str]:
        before = self._texts[book]
        self._texts[book] = change(before)
        return before, self._texts[book]


class Folder:
    """Files in a folder: read under a lock, replaced in one step, private to their owner."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, book: Book) -> Path:
        return self._folder / book.filename

    def read(self, book: Book) -> str:
        path = self.path(book)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return ""
        except (IsADirectoryError, NotADirectoryError) as exc:
            raise Refused(f"{path} is no file; move it away, and a new one is begun") from exc
        except PermissionError as exc:
            raise PermissionDenied(f"{path} cannot be read; give its owner access to it") from exc
        except OSError as exc:
            raise Unavailable(f"{path} cannot be read: {exc.strerror}") from exc
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as exc:
            where = f"{exc.reason} at byte {exc.start}"
            raise Corrupt(f"{path} is not UTF-8 text ({where}); {self._kept(path, data)}") from exc
        if "\0" in text:
            raise Corrupt(f"{path} has NUL bytes and is no text; {self._kept(path, data)}")
        return text

    def change(self, book: Book, change: Callable[[str], str]) -> tuple[str, str]:
        with self._locked(book):
            before = self.read(book)
            after = change(before)
            if after != before:
                self._replace(self.path(book), after)
        return before, after

    def keep_copy(self, book: Book, text: str) -> Path:
        """Put a text beside its file, under a name of its own; the same text only once."""
        return _copy(self.path(book), text.encode())

    def _kept(self, path: Path, data: bytes) -> str:
        """Advice for a file that we will not touch: where a copy of it is."""
        try:
            return f"it is left as it is, and a copy is in {_copy(path, data)}: repair it by hand"
        except OSError as exc:
            return f"it is left as it is ({exc.strerror}): repair it by hand"

    @contextmanager
    def _locked(self, book: Book) -> Iterator[None]:
        try:
            self._folder.mkdir(parents=True, mode=0o700, exist_ok=True)
            name = self._folder / f".{book.filename}.lock"
            lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _MODE)
        except OSError as exc:
            raise PermissionDenied(
                f"{self._folder} cannot be written ({exc.strerror}); nothing was changed"
            ) from exc
        try:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _replace(self, path: Path, text: str) -> None:
        """Write beside and rename: whoever reads sees the old file or the new one, after a crash too."""
        if path.is_dir():
            raise Refused(f"{path} is a folder; move it away first")
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionDenied(f"{path} is read-only; nothing was changed")
        # One name for all: only who holds the lock is here, and what a killed one left is overwritten.
        fresh = path.with_name(f".{path.name}.new")
        try:
            _write(fresh, text.encode(), os.O_TRUNC | os.O_NOFOLLOW)
            fresh.replace(path)
            _sync_folder(path.parent)
        except OSError as exc:
            fresh.unlink(missing_ok=True)
            raise Unavailable(f"{path} could not be written: {exc.strerror}; it is as it was") from exc


def _copy(path: Path, data: bytes) -> Path:
    for number in range(1, 1000):
        copy = path.with_name(f"{path.stem}.kept-{number}{path.suffix}")
        if copy.exists():
            if copy.read_bytes() == data:
                return copy
            continue
        _write(copy, data, os.O_EXCL)
        return copy
    raise OSError("there are too many copies already")


def _write(path: Path, data: bytes, flags: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flags, _MODE)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
