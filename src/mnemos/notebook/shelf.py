"""Where the files stand: a folder, written so that no reader ever sees half a file."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from mnemos import files
from mnemos.errors import Corrupt, PermissionDenied, Refused, Unavailable
from mnemos.notebook.model import Book

_MOST_COPIES = 1_000

Record = Callable[[str, str, Callable[[], None]], None]
"""Notes a change and makes it: the text before and after, and what puts it into the file.

Called while nobody else can change the file. What cannot be noted is not made.
"""


class Shelf(Protocol):
    """The texts of the two files; ``change`` is atomic among all who use it."""

    def read(self, book: Book) -> str:
        """The text; empty when there is no file. What cannot be read as text raises."""
        ...

    def signature(self, book: Book) -> object:
        """A value that changes whenever the text does; cheap, and equal to no other when in doubt."""
        ...

    def modified(self, book: Book) -> float | None:
        """When the text was last changed; None where that is not known."""
        ...

    def change(self, book: Book, change: Callable[[str], str], record: Record) -> tuple[str, str]:
        """Replace the text by what ``change`` makes of it as it is now; before and after."""
        ...

    def keep_copy(self, book: Book, text: str) -> str:
        """Where a copy of a text is, for people; empty when there is none."""
        ...

    def copies(self) -> list[str]:
        """Where copies are."""
        ...


class KeptInMemory:
    """For a memory that has no home."""

    def __init__(self) -> None:
        self._texts = dict.fromkeys(Book, "")
        self._lock = threading.RLock()

    def read(self, book: Book) -> str:
        return self._texts[book]

    def signature(self, book: Book) -> object:
        return self._texts[book]

    def modified(self, book: Book) -> float | None:  # noqa: ARG002 - as the protocol has it
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


class Folder:
    """Files in a folder: read under a lock, replaced in one step, private to their owner."""

    def __init__(self, folder: Path, *, busy_seconds: float) -> None:
        self._folder = folder
        self._busy_seconds = busy_seconds

    def path(self, book: Book) -> Path:
        return self._folder / book.filename

    def read(self, book: Book) -> str:
        path = self.path(book)
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                raise Refused(f"{path} is no file; move it away, and a new one is begun")
            data = path.read_bytes()
        except FileNotFoundError:
            return ""
        except PermissionError as exc:
            raise PermissionDenied(f"{path} cannot be read; give its owner access to it") from exc
        except OSError as exc:
            raise Unavailable(f"{path} cannot be read: {exc.strerror}") from exc
        return self._decoded(path, data)

    def signature(self, book: Book) -> object:
        return files.signature(self.path(book))

    def modified(self, book: Book) -> float | None:
        try:
            return self.path(book).stat().st_mtime
        except OSError:
            return None

    def change(self, book: Book, change: Callable[[str], str], record: Record) -> tuple[str, str]:
        with files.locked(self._folder, f".{book.filename}.lock", self._busy_seconds):
            before = self.read(book)
            after = change(before)
            was_there = self.path(book).exists()
            try:
                record(before, after, lambda: files.replace(self.path(book), after.encode(), alone=True))
            except BaseException:
                # Noted in vain, or not at all: the disk may have become full between file and log.
                self._put_back(book, before if was_there else None)
                raise
        return before, after

    def _put_back(self, book: Book, text: str | None) -> None:
        if text is None:
            self.path(book).unlink(missing_ok=True)
        elif self.read(book) != text:
            files.replace(self.path(book), text.encode(), alone=True)

    def keep_copy(self, book: Book, text: str) -> str:
        return _copied(self.path(book), text.encode())

    def copies(self) -> list[str]:
        return sorted(str(copy) for copy in self._folder.glob("*.kept-*"))

    def _decoded(self, path: Path, data: bytes) -> str:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as exc:
            complaint = f"{path} is not UTF-8 text ({exc.reason} at byte {exc.start})"
            raise Corrupt(f"{complaint}; {self._left_alone(path, data)}") from exc
        if "\0" in text:
            raise Corrupt(f"{path} has NUL bytes and is no text; {self._left_alone(path, data)}")
        return text

    def _left_alone(self, path: Path, data: bytes) -> str:
        copy = _copied(path, data)
        kept = f", and a copy is in {copy}" if copy else ""
        return f"it is left as it is{kept}: repair it by hand"


def _copied(path: Path, data: bytes) -> str:
    """Put data beside its file, under a name of its own, the same data only once; empty if that fails."""
    try:
        for number in range(1, _MOST_COPIES):
            copy = path.with_name(f"{path.stem}.kept-{number}{path.suffix}")
            if not os.path.lexists(copy):
                files.write_new(copy, data)
                return str(copy)
            if copy.is_file() and copy.read_bytes() == data:
                return str(copy)
    except OSError:
        # A copy is a courtesy: the file itself is not touched.
        return ""
    return ""
