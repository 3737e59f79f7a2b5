"""The notebook: its two files, entries as the files separate them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mnemos.errors import InvalidInput, MnemosError
from mnemos.notebook.model import Book, entries_of, joined
from mnemos.transfer.archive.model import Brought, Compared

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.archive.reading import Source
    from mnemos.transfer.archive.writing import Out

NAME: Final = "notebook"
_LARGEST: Final = 10_000_000
_SHOWN: Final = 60


class NotePart:
    name = NAME

    def __init__(self, memory: Memory) -> None:
        self._notebook = memory.notebook

    def size(self) -> int:
        return len(Book)

    def write(self, out: Out) -> None:
        for book in Book:
            try:
                entries = self._notebook.entries(book)
            except MnemosError as exc:
                out.left_out.append(f"{book.filename}: {exc}")
                continue
            text = joined(entries)
            if text and len(text.encode()) < _LARGEST:
                out.path(_file(book)).write_text(f"{text}\n", encoding="utf-8", newline="\n")
                out.note(NAME, _file(book), len(entries))
            elif text:
                out.left_out.append(f"{book.filename} has {len(text):,} characters; shorten it first")
            out.count("notes", len(entries))
            out.advance(1)

    def check(self, source: Source) -> dict[str, int]:
        return {_file(book): len(_entries(source, book)) for book in Book if source.has(_file(book))}

    def bring_in(self, source: Source, brought: Brought) -> None:
        for book in Book:
            for entry in _entries(source, book):
                if entry in self._notebook.entries(book):
                    brought.there += 1
                    continue
                try:
                    # Each for itself: one that does not fit keeps no other out.
                    self._notebook.turn_begun()
                    self._notebook.add(entry, target=book)
                except MnemosError as exc:
                    # What to do about it is said to a model that writes, and names all entries.
                    brought.refuse(f"{book.filename}, {_shown(entry)}: {str(exc).partition('. ')[0]}")
                else:
                    brought.imported += 1
        self._notebook.turn_begun()

    def compare(self, source: Source, compared: Compared) -> None:
        for book in Book:
            there = self._notebook.entries(book)
            for entry in _entries(source, book):
                if entry in there:
                    compared.same += 1
                else:
                    compared.miss(f"the note {_shown(entry)} of {book.filename}")


def _file(book: Book) -> str:
    return f"notebook/{book.filename}"


def _entries(source: Source, book: Book) -> list[str]:
    if not source.has(_file(book)):
        return []
    data = source.path(_file(book)).read_bytes()
    if len(data) > _LARGEST:
        raise InvalidInput(f"{_file(book)} has {len(data):,} bytes; no notebook is as large")
    try:
        return entries_of(data.decode("utf-8"))
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{_file(book)} is not UTF-8 text ({exc.reason} at byte {exc.start})") from exc


def _shown(entry: str) -> str:
    return repr(entry if len(entry) <= _SHOWN else entry[: _SHOWN - 1] + "…")
