"""The two files of the notebook, their entries and how full they are."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from unicodedata import category

from mnemos.errors import InvalidInput
from mnemos.inputs import suggest

SEPARATOR: Final = "\n§\n"
_SIGN: Final = "§"
# Above this share of its limit, every answer about a file has a warning.
WARNING: Final = 80
_SHOWN: Final = 80


class Book(StrEnum):
    """A file of the notebook: the model's own notes, or notes about the user."""

    MEMORY = "memory"
    USER = "user"

    @property
    def filename(self) -> str:
        return f"{self.name}.md"


@dataclass(frozen=True, slots=True)
class Use:
    """The fill level of a file, in characters of its joined entries."""

    book: Book
    used: int
    limit: int
    entries: int

    def __str__(self) -> str:
        return f"{self.book.filename}: {self.percent}% ({self.used:,}/{self.limit:,} characters)"

    @property
    def percent(self) -> int:
        return round(100 * self.used / self.limit)

    @property
    def warning(self) -> str:
        if self.percent < WARNING:
            return ""
        return f"{self.book.filename} is {self.percent}% full: shorten or remove entries soon"


@dataclass(frozen=True, slots=True)
class Version:
    """A state of a file."""

    name: str
    entries: tuple[str, ...]
    at: float | None = None
    """When it was written, or None for a manual edit that isn't logged yet."""
    actor: str = ""
    entry: int | None = None
    """The id of the log entry."""


def parse_book(name: str) -> Book:
    try:
        return Book(name.lower() if isinstance(name, str) else name)
    except ValueError:
        meant = suggest(name, ("memory", "user"))
        raise InvalidInput(f"There is no file {quote(name)}.{meant} Use memory or user.") from None


def quote(value: object) -> str:
    """Quote a value in an error, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def parse_entries(text: str) -> list[str]:
    """Split a file into entries, ignoring differences in blanks and line ends."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    entries: list[list[str]] = [[]]
    for line in plain.split("\n"):
        if line.strip() == _SIGN:
            entries.append([])
        else:
            entries[-1].append(line)
    stripped = ("\n".join(lines).strip() for lines in entries)
    return [entry for entry in stripped if entry]


def merge_entries(edited: list[str], before: list[str], now: list[str]) -> list[str]:
    """Merge two lists of entries that were both edited from ``before``; additions of both are kept.

    An entry that one side removed and the other didn't change is removed.
    """
    kept = [entry for entry in edited if entry in now or entry not in before]
    return list(dict.fromkeys([*kept, *(entry for entry in now if entry not in before)]))


def name_version(entries: list[str]) -> str:
    """Return a short name for a state of a file. Equal entries give the same name."""
    return hashlib.sha256(join_entries(entries).encode()).hexdigest()[:12]


def join_entries(entries: list[str]) -> str:
    return SEPARATOR.join(entries)


def _is_visible(character: str) -> bool:
    return not character.isspace() and category(character) != "Cf"


def check_entry(content: str) -> str:
    """Normalize a new entry for storage. One that can't be read back raises InvalidInput."""
    if not isinstance(content, str) or not any(map(_is_visible, content)):
        raise InvalidInput(f"content must be the text of a note, not {quote(content)}.")
    entry = content.replace("\r\n", "\n").replace("\r", "\n").strip()
    if any(line.strip() == _SIGN for line in entry.split("\n")):
        raise InvalidInput("content has a line with only §, which separates entries. Remove it.")
    for character in entry:
        if character != "\n" and character != "\t" and (character < " " or "\x7f" <= character < "\xa0"):
            raise InvalidInput(f"content has the control character U+{ord(character):04X}. Remove it.")
    if any("\ud800" <= character <= "\udfff" for character in entry):
        raise InvalidInput("content has a lone surrogate, which can't be stored as UTF-8. Remove it.")
    return entry


def removal_key(book: Book, at: float, entry: str) -> str:
    """Return the key for recording a removal: when the entry was added, and its length."""
    return f"{book}:{at!r}:{len(entry)}"
