"""The two files of the notebook, their entries, and what a change of them answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from unicodedata import category

from mnemos.errors import InvalidInput

SEPARATOR: Final = "\n§\n"
_SIGN: Final = "§"
# From this share of its limit on, every answer about a file says so.
WARNING: Final = 80
_SHOWN: Final = 80


class Book(StrEnum):
    """Which file: the model's own notes, or who the user is."""

    MEMORY = "memory"
    USER = "user"

    @property
    def filename(self) -> str:
        return f"{self.name}.md"


@dataclass(frozen=True, slots=True)
class Use:
    """How full a file is, in characters of its joined entries."""

    book: Book
    used: int
    limit: int
    entries: int

    @property
    def percent(self) -> int:
        return round(100 * self.used / self.limit)

    @property
    def warning(self) -> str:
        if self.percent < WARNING:
            return ""
        return f"{self.book.filename} is {self.percent}% full: shorten or remove entries soon"


def book_of(name: str) -> Book:
    try:
        return Book(name.lower() if isinstance(name, str) else name)
    except ValueError:
        raise InvalidInput(f"there is no file {given(name)}; use memory or user") from None


def given(value: object) -> str:
    """A value in an error, not longer than it helps."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def entries_of(text: str) -> list[str]:
    """The entries of a file, however people left its blanks and line ends."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    entries: list[list[str]] = [[]]
    for line in plain.split("\n"):
        if line.strip() == _SIGN:
            entries.append([])
        else:
            entries[-1].append(line)
    stripped = ("\n".join(lines).strip() for lines in entries)
    return [entry for entry in stripped if entry]


def joined(entries: list[str]) -> str:
    return SEPARATOR.join(entries)


def _is_seen(character: str) -> bool:
    return not character.isspace() and category(character) != "Cf"


def checked_entry(content: str) -> str:
    """A new entry as it is kept; one that would fall apart when read again raises InvalidInput."""
    if not isinstance(content, str) or not any(map(_is_seen, content)):
        raise InvalidInput(f"content is {given(content)}; write what is to be noted")
    entry = content.replace("\r\n", "\n").replace("\r", "\n").strip()
    if any(line.strip() == _SIGN for line in entry.split("\n")):
        raise InvalidInput(
            "a line that holds only § separates entries; leave it out or write something beside it"
        )
    for character in entry:
        if character != "\n" and character != "\t" and (character < " " or "\x7f" <= character < "\xa0"):
            raise InvalidInput(f"content has the control character U+{ord(character):04X}; leave it out")
    if any("\ud800" <= character <= "\udfff" for character in entry):
        raise InvalidInput("content has half a character, which no file can hold; write it anew")
    return entry
