"""Reading JSON so that it can be changed in one place: what it says, and where each member stands.

Comments and commas at the end, which some programs allow, are made blanks of the same length; so the standard
library reads the rest, at its speed, and every position is that of the text itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from mnemos.errors import InvalidInput
from mnemos.integrations.clients.edits import Keys

BOM: Final = "\ufeff"
_STRING: Final = r'"(?:[^"\\\r\n]|\\.)*"'
_COMMENT: Final = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA: Final = re.compile(rf"{_STRING}|,(?=[ \t\r\n]*[}}\]])", re.DOTALL)
_CONSTANT: Final = re.compile(rf"{_STRING}|NaN|-?Infinity", re.DOTALL)
_UNBROKEN: Final = re.compile(r"[^\r\n]")
_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_SPACES: Final = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Part:
    """A member of an object, or an item of a list, whose key is its number."""

    key: str | int
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class Container:
    """An object or a list: where it opens and closes, and what is in it."""

    open: int
    close: int
    parts: tuple[Part, ...]


class Document:
    """A text in JSON. What cannot be read raises InvalidInput with the line and the column."""

    def __init__(self, text: str, where: str, *, comments: bool) -> None:
        self.text = text
        self._where = where
        self._reads_comments = comments
        plain = " " + text[1:] if text.startswith(BOM) else text
        self.bare = _without_comments(plain) if comments else plain
        """The text without its comments."""
        self._clean = _without_last_commas(self.bare) if comments else self.bare
        self.line_comments = frozenset(_line_comments(plain)) if comments else frozenset()
        """Where comments end that reach to the end of their line."""
        self.is_blank = not self._clean.strip(_SPACES)
        self.root = self._after_blanks(0)
        self.value: Any = {} if self.is_blank else self._read()

    def outermost(self) -> Container:
        return self._parts(self.root, "{", ())

    def container(self, keys: Keys, kind: str = "{") -> Container | None:
        """The object, or list, that stands there; None when nothing does. Something else raises."""
        start = self.root
        for depth, key in enumerate(keys):
            inside = self._parts(start, "[" if isinstance(key, int) else "{", keys[:depth])
            part = self._only(inside, key, keys[:depth])
            if part is None:
                return None
            start = part.value
        return self._parts(start, kind, keys)

    def plain(self, inside: Container) -> Any:
        """What stands there, with numbers that are numbers."""
        return json.loads(self._clean[inside.open : inside.close + 1])

    def _parts(self, start: int, kind: str, keys: Keys) -> Container:
        if self._clean[start] != kind:
            what = "an object" if kind == "{" else "a list"
            name = ".".join(map(str, keys)) or "the file"
            raise InvalidInput(f"{self._where}: {name} is not {what}; change that first. Nothing was changed")
        close = "}" if kind == "{" else "]"
        found: list[Part] = []
        position = self._after_blanks(start + 1)
        while self._clean[position] != close:
            begin, key = position, len(found)
            if kind == "{":
                key, position = _DECODER.raw_decode(self._clean, position)
                position = self._after_blanks(self._after_blanks(position) + 1)
            _, end = _DECODER.raw_decode(self._clean, position)
            found.append(Part(key, begin, position, end))
            position = self._after_blanks(end)
            if self._clean[position] == ",":
                position = self._after_blanks(position + 1)
        return Container(start, position, tuple(found))

    def _only(self, inside: Container, key: str | int, keys: Keys) -> Part | None:
        found = [part for part in inside.parts if part.key == key]
        if len(found) > 1:
            name = ".".join(map(str, (*keys, key)))
            line = self.text.count("\n", 0, found[1].start) + 1
            raise InvalidInput(
                f"{self._where} has {name!r} twice, the second time in line {line}; "
                "leave one of them. Nothing was changed"
            )
        return found[0] if found else None

    def _after_blanks(self, position: int) -> int:
        found = _BLANKS.match(self._clean, position)
        return found.end() if found else position

    def _read(self) -> Any:
        constant = next((m for m in _CONSTANT.finditer(self._clean) if m[0][0] != '"'), None)
        if constant:
            self._fail(f"{constant[0]} is no value", constant.start())
        try:
            value, end = _DECODER.raw_decode(self._clean, self.root)
        except json.JSONDecodeError as exc:
            self._fail(exc.msg, exc.pos)
        except RecursionError:
            raise InvalidInput(f"{self._where} is nested too deeply to be settings; look at it") from None
        end = self._after_blanks(end)
        if end < len(self._clean):
            self._fail("Extra data", end)
        if not isinstance(value, dict):
            raise InvalidInput(f"{self._where} holds no object; settings are one. Nothing was changed")
        return value

    def _fail(self, message: str, position: int) -> NoReturn:
        comma = _ends_with_comma(self._clean, position)
        if comma is not None:
            message, position = "a comma after the last one, which this program does not read", comma
        line = self.text.count("\n", 0, position) + 1
        column = position - self.text.rfind("\n", 0, position)
        if line == 1 and self.text.startswith(BOM):
            column -= 1
        comment = self.text[position : position + 2] in ("//", "/*")
        if comment and self.bare[position : position + 2] == self.text[position : position + 2]:
            message = (
                "a comment without an end"
                if self._reads_comments
                else "a comment, which this program does not read"
            )
        raise InvalidInput(
            f"{self._where} is not JSON: line {line}, column {column}: {message}. "
            "Mend it there, or move the file away; nothing was changed"
        )


# Numbers stay as they are written: some are longer than Python reads, and none is of interest.
_DECODER: Final = json.JSONDecoder(parse_int=str, parse_float=str)


def decoded(value: Any) -> Any:
    """A value as a document of it would say it."""
    return _DECODER.decode(json.dumps(value))


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else _UNBROKEN.sub(" ", m[0]), text)


def _ends_with_comma(text: str, position: int) -> int | None:
    """Where a comma stands that is followed by the end of an object or a list, when that is what is wrong.

    Versions of Python point to the one or to the other.
    """
    if text[position : position + 1] in ("}", "]"):
        comma = len(text[:position].rstrip(_SPACES)) - 1
    else:
        comma = position
    follows = text[comma + 1 :].lstrip(_SPACES)[:1]
    return comma if text[comma : comma + 1] == "," and follows in ("}", "]") else None


def _line_comments(text: str) -> Iterator[int]:
    return (found.end() for found in _COMMENT.finditer(text) if found[0].startswith("//"))


def _without_last_commas(text: str) -> str:
    def blank(found: re.Match[str]) -> str:
        if found[0] != ",":
            return found[0]
        before = found.start() - 1
        while before >= 0 and text[before] in _SPACES:
            before -= 1
        # Nothing stands before it: that is no comma at the end, and no JSON.
        return "," if before < 0 or text[before] in "{[,:" else " "

    return _LAST_COMMA.sub(blank, text)
