"""Storage of the notebook's files, written so that no reader ever sees half a file."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

from mnemos import files
from mnemos.errors import Conflict, Corrupt, PermissionDenied, Refused, TooLarge, Unavailable
from mnemos.notebook.notes import Book
from mnemos.storage.texts import Texts

MAX_BYTES = 500_000
"""The maximum size of a file in bytes. A larger one isn't a notebook."""
FOLDER = "memories"
_MOST_COPIES = 1_000
_MOST_TRIES = 20

Record = Callable[[str, str, Callable[[], None]], None]
"""Log a change and make it. Takes the text before and after, and a function that writes the file.

Called while the file is locked. A change that can't be logged is not made.
"""


class Shelf(Protocol):
    """The texts of the two files. ``change`` is atomic across processes."""

    def read(self, book: Book) -> str:
        """Return the text, empty if there is no file. A file that isn't text raises Corrupt."""
        ...

    def signature(self, book: Book) -> object:
        """Return a value that is cheap to compute and changes whenever the text does."""
        ...

    def read_modified_time(self, book: Book) -> float | None:
        """Return the time of the text's last change, or None if it is unknown."""
        ...

    def change(self, book: Book, change: Callable[[str], str], record: Record) -> tuple[str, str]:
        """Replace the text by the result of ``change``; return the texts before and after."""
        ...

    def keep_copy(self, book: Book, text: str) -> str:
        """Keep a copy of a text for people and return its path, or "" if that failed."""
        ...

    def copies(self) -> list[str]:
        """Return the paths of kept copies."""
        ...


class MemoryShelf:
    """The texts of a memory without a home."""

    def __init__(self) -> None:
        self._texts = dict.fromkeys(Book, "")
        self._lock = threading.RLock()

    def read(self, book: Book) -> str:
        return self._texts[book]

    def signature(self, book: Book) -> object:
        return self._texts[book]

    def read_modified_time(self, book: Book) -> float | None:  # noqa: ARG002 - as the protocol has it
        return None

    def change(self, book: Book, change: Callable[[str], str], record: Record) -> tuple[str, str]:
        with self._lock:
            before = self._texts[book]
            after = change(before)
            try:
                record(before, after, lambda: self._texts.update({book: after}))
            except BaseException:
                self._texts[book] = before
                raise
        return before, after

    def keep_copy(self, book: Book, text: str) -> str:  # noqa: ARG002
        return ""

    def copies(self) -> list[str]:
        return []


class DatabaseShelf:
    """Texts in a database that several machines share."""

    def __init__(self, texts: Texts, clock: Callable[[], float]) -> None:
        self._texts = texts
        self._clock = clock

    def read(self, book: Book) -> str:
        text = self._texts.read(_name_text(book))
        return text.content if text else ""

    def signature(self, book: Book) -> object:
        text = self._texts.read(_name_text(book))
        return text and text.version

    def read_modified_time(self, book: Book) -> float | None:
        text = self._texts.read(_name_text(book))
        return text.changed_at if text else None

    def change(self, book: Book, change: Callable[[str], str], record: Record) -> tuple[str, str]:
        tries = 0
        while True:
            before = self.read(book)
            after = change(before)
            put = partial(self._texts.put, _name_text(book), before, after, self._clock())
            try:
                record(before, after, put)
            except Conflict:
                tries += 1
                if tries == _MOST_TRIES:
                    raise
            else:
                return before, after

    def keep_copy(self, book: Book, text: str) -> str:  # noqa: ARG002
        return ""

    def copies(self) -> list[str]:
        return []


def _name_text(book: Book) -> str:
    return f"{FOLDER}/{book.filename}"


class FolderShelf:
    """Files in a folder: changed under a lock, replaced in one step, private to their owner."""

    def __init__(self, folder: Path, *, busy_seconds: float) -> None:
        self._folder = folder
        self._busy_seconds = busy_seconds

    def path(self, book: Book) -> Path:
        return self._folder / book.filename

    def read(self, book: Book) -> str:
        path = self.path(book)
        try:
            data = files.read_bounded(path, MAX_BYTES)
        except FileNotFoundError:
            return ""
        except PermissionError as exc:
            raise PermissionDenied(f"{path} can't be read. Give its owner access to it.") from exc
        except OSError as exc:
            if exc.errno == errno.EFBIG:
                raise TooLarge(f"{path} has more than {MAX_BYTES:,} bytes. Shorten it by hand.") from exc
            if exc.errno in (errno.EINVAL, errno.ENXIO):
                raise Refused(f"{path} is not a regular file. Move it elsewhere.") from exc
            raise Unavailable(f"{path} can't be read: {exc.strerror}") from exc
        return self._decode(path, data)

    def signature(self, book: Book) -> object:
        return files.signature(self.path(book))

    def read_modified_time(self, book: Book) -> float | None:
        try:
            return self.path(book).stat().st_mtime
        except OSError:
            return None

    def change(self, book: Book, change: Callable[[str], str], record: Record) -> tuple[str, str]:
        with files.lock(self._folder, f".{book.filename}.lock", self._busy_seconds):
            before = self.read(book)
            after = change(before)
            was_there = self.path(book).exists()
            try:
                record(before, after, lambda: files.replace(self.path(book), after.encode(), alone=True))
            except BaseException:
                # Logging failed after the file was written, for example because the disk is full.
                self._restore(book, before if was_there else None)
                raise
        return before, after

    def _restore(self, book: Book, text: str | None) -> None:
        if text is None:
            self.path(book).unlink(missing_ok=True)
        elif self.read(book) != text:
            files.replace(self.path(book), text.encode(), alone=True)

    def keep_copy(self, book: Book, text: str) -> str:
        return _copy(self.path(book), text.encode())

    def copies(self) -> list[str]:
        return sorted(str(copy) for copy in self._folder.glob("*.kept-*"))

    def _decode(self, path: Path, data: bytes) -> str:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as exc:
            complaint = f"{path} is not UTF-8 text ({exc.reason} at byte {exc.start})"
            raise Corrupt(f"{complaint}. {self._keep_damaged(path, data)}.") from exc
        if "\0" in text:
            raise Corrupt(f"{path} has NUL bytes and isn't text. {self._keep_damaged(path, data)}.")
        return text

    def _keep_damaged(self, path: Path, data: bytes) -> str:
        copy = _copy(path, data)
        kept = f", and a copy is in {copy}" if copy else ""
        return f"It was left unchanged{kept}. Repair it by hand"


def _copy(path: Path, data: bytes) -> str:
    """Copy data next to its file, but the same data only once; return the path, "" on failure."""
    try:
        for number in range(1, _MOST_COPIES):
            copy = path.with_name(f"{path.stem}.kept-{number}{path.suffix}")
            if not os.path.lexists(copy):
                files.write_new(copy, data)
                return str(copy)
            if copy.is_file() and copy.stat().st_size == len(data) and copy.read_bytes() == data:
                return str(copy)
    except OSError:
        # The copy is optional, and the file itself is not touched.
        return ""
    return ""
