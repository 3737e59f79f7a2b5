"""Formats of settings files: adding or removing an entry keeps every other byte.

Each change is verified before it is used: the new text must parse to exactly the expected settings.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import tomlkit
import tomlkit.exceptions

from mnemos.errors import InvalidInput, Refused
from mnemos.integrations.clients.additions import Addition, Keys, add_setting, remove_setting, value_at
from mnemos.integrations.clients.machine import NAME

_BOM: Final = "\ufeff"
_SPACES: Final = " \t\r\n"
_STRING: Final = r'"(?:[^"\\\r\n]|\\.)*"'
_COMMENT: Final = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
# A comma without a value before it is an error, not a trailing comma.
_TRAILING_COMMA: Final = re.compile(rf"{_STRING}|(?<=[^\s{{\[,:])\s*(,)(?=\s*[}}\]])", re.DOTALL)
_NOT_BREAK: Final = re.compile(r"[^\r\n]")
_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_LONGEST_INT: Final = 400
_LONGEST_TABLE: Final = 100
"""Longest table that is handled, in lines. Ours has three, and a person may have added some."""


def _unparsable(where: str, kind: str, problem: str) -> InvalidInput:
    return InvalidInput(
        f"{where} is not valid {kind}: {problem}. Fix it there, or move the file away. Nothing was changed."
    )


def _unsafe(where: str) -> Refused:
    return Refused(f"{where} is written in a way that cannot be changed safely. Change it by hand.")


# --- JSON -----------------------------------------------------------------------------------------


class Json:
    """JSON with comments and trailing commas. ``where`` names the file in errors."""

    def parse(self, text: str, where: str) -> dict[str, Any]:
        """Return the settings; a blank text is an empty dict."""
        return _Document(text, where).settings

    def add(self, text: str, addition: Addition, where: str) -> str:
        """Return the text with an addition that it does not contain yet."""
        document = _Document(text, where)
        expected = add_setting(document.settings, addition, where)
        return self._verify(_insert(document, addition), expected, where)

    def remove(self, text: str, keys: Keys, where: str) -> str:
        """Return the text without the value at a path. Containers with comments are kept."""
        document = _Document(text, where)
        if document.is_only_comments(keys):
            return text
        return self._verify(_cut(document, keys), remove_setting(document.settings, keys), where)

    def _verify(self, text: str, expected: dict[str, Any], where: str) -> str:
        if self.parse(text, where) != expected:
            raise _unsafe(where)
        return text


@dataclass(frozen=True, slots=True)
class _Part:
    """A member of an object, or an item of a list, whose key is its index."""

    key: str | int
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Container:
    """An object or a list: the positions of its brackets, and its parts."""

    open: int
    close: int
    parts: tuple[_Part, ...]


class _Document:
    """A JSON text with the positions of its members.

    Comments and trailing commas are replaced by blanks of the same length, so the fast parser of the standard
    library can read it and positions stay valid.
    """

    def __init__(self, text: str, where: str) -> None:
        self.text = text
        self._where = where
        plain = " " + text[1:] if text.startswith(_BOM) else text
        self.bare = _COMMENT.sub(_blank_comment, plain)
        """The text without comments."""
        self._clean = _TRAILING_COMMA.sub(_blank_comma, self.bare)
        self.line_comments = {m.end() for m in _COMMENT.finditer(plain) if m[0].startswith("//")}
        """End positions of comments that end with their line."""
        self._root = self._skip_blanks(0)
        self.is_blank = self._root == len(text)
        self.settings: dict[str, Any] = {} if self.is_blank else self._parse()

    def containers(self, keys: Keys) -> list[_Container]:
        """Return the existing containers along a path, beginning with the root."""
        found = [self._container(self._root)]
        for key in keys:
            parts = [part for part in found[-1].parts if part.key == key]
            if len(parts) > 1:
                line = self.text.count("\n", 0, parts[1].start) + 1
                raise InvalidInput(
                    f"{self._where} has {key!r} twice, the second time in line {line}. "
                    "Remove one of them. Nothing was changed."
                )
            if not parts:
                break
            found.append(self._container(parts[0].value))
        return found

    def is_only_comments(self, keys: Keys) -> bool:
        """True if there is a container that only holds a comment."""
        value = value_at(self.settings, keys)
        if value or not isinstance(value, dict | list):
            return False
        inside = self.containers(keys)[-1]
        return bool(self.text[inside.open + 1 : inside.close].strip(_SPACES))

    def _container(self, start: int) -> _Container:
        is_object = self._clean[start] == "{"
        found: list[_Part] = []
        position = self._skip_blanks(start + 1)
        while self._clean[position] not in "}]":
            begin, key = position, len(found)
            if is_object:
                key, position = _DECODER.raw_decode(self._clean, position)
                position = self._skip_blanks(self._skip_blanks(position) + 1)
            _, end = _DECODER.raw_decode(self._clean, position)
            found.append(_Part(key, begin, position, end))
            position = self._skip_blanks(end)
            if self._clean[position] == ",":
                position = self._skip_blanks(position + 1)
        return _Container(start, position, tuple(found))

    def _skip_blanks(self, position: int) -> int:
        found = _BLANKS.match(self._clean, position)
        return found.end() if found else position

    def _parse(self) -> dict[str, Any]:
        try:
            settings, end = _DECODER.raw_decode(self._clean, self._root)
            if (end := self._skip_blanks(end)) < len(self._clean):
                raise json.JSONDecodeError("unexpected text after the end", self._clean, end)
        except json.JSONDecodeError as exc:
            raise self._error(exc) from exc
        except RecursionError:
            raise _unparsable(self._where, "JSON", "it is nested too deeply") from None
        if not isinstance(settings, dict):
            raise _unparsable(self._where, "JSON for settings", "it is not an object")
        return settings

    def _error(self, exc: json.JSONDecodeError) -> InvalidInput:
        position = exc.pos if exc.doc is self._clean else self._clean.find(exc.doc)
        line = self.text.count("\n", 0, position) + 1
        column = position - self.text.rfind("\n", 0, position) - (line == 1 and self.text.startswith(_BOM))
        return _unparsable(self._where, "JSON", f"line {line}, column {column}: {exc.msg}")


def _parse_int(text: str) -> int | str:
    # Python refuses to read integers of thousands of digits.
    return int(text) if len(text) < _LONGEST_INT else text


def _reject_constant(name: str) -> None:
    raise json.JSONDecodeError(f"{name} is not a JSON value", name, 0)


_DECODER: Final = json.JSONDecoder(parse_int=_parse_int, parse_constant=_reject_constant)


def _blank_comment(found: re.Match[str]) -> str:
    return found[0] if found[0][0] == '"' else _NOT_BREAK.sub(" ", found[0])


def _blank_comma(found: re.Match[str]) -> str:
    return found[0] if found[0][0] == '"' else found[0][:-1] + " "


def _insert(document: _Document, addition: Addition) -> str:
    """Add after the last part of the innermost existing container, in its style."""
    text = document.text
    newline = "\r\n" if "\r\n" in text else "\n"
    if document.is_blank:
        lead = newline if text.strip(_SPACES + _BOM) and not text.endswith(("\n", "\r")) else ""
        return text + lead + _render(_nest(addition, addition.containers), "  ", newline, "") + newline
    chain = document.containers(addition.containers)
    inside, missing = chain[-1], addition.containers[len(chain) - 1 :]
    key: str | None
    if missing:
        key, value = missing[0], _nest(addition, missing[1:])
    else:
        key, value = (None, addition.value) if addition.is_item else (addition.path[-1], addition.value)
    first = chain[0].parts[0] if chain[0].parts else None
    last = inside.parts[-1] if inside.parts else None
    content = len(text[: inside.close].rstrip(_SPACES))
    is_empty = content == inside.open + 1
    is_spread = (
        "\n" in (text.strip(_SPACES) if is_empty else text[inside.open : inside.close]) or first is None
    )
    gap = "" if first and text[first.value - 1] == ":" else " "
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ":" + gap
    tail = ""
    if is_spread:
        unit = _indent(text, first.start) if first and _begins_line(text, first.start) else "  "
        own = _indent(text, inside.open)
        indent = _indent(text, last.start) if last and _begins_line(text, last.start) else own + unit
        member = newline + indent + name + _render(value, unit, newline, indent)
        tail = newline + own if is_empty and "\n" not in text[content : inside.close] else ""
    else:
        lead = "" if is_empty else gap
        member = lead + name + json.dumps(value, ensure_ascii=False, separators=("," + gap, ":" + gap))
    has_comma = last is not None and "," in document.bare[last.end : inside.close]
    if has_comma:
        return text[:content] + member + "," + tail + text[content:]
    end = last.end if last else content
    return text[:end] + ("," if last else "") + text[end:content] + member + tail + text[content:]


def _nest(addition: Addition, names: tuple[str, ...]) -> Any:
    """Wrap an addition in containers of these names."""
    value: Any = [addition.value] if addition.is_item else {addition.path[-1]: addition.value}
    for name in reversed(names):
        value = {name: value}
    return value


def _render(value: Any, unit: str, newline: str, indent: str) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + indent)


def _cut(document: _Document, keys: Keys) -> str:
    """Remove one part with its comma, but not the comments around it."""
    text = document.text
    inside = document.containers(keys[:-1])[-1]
    number, part = next((n, part) for n, part in enumerate(inside.parts) if part.key == keys[-1])
    following = inside.parts[number + 1].start if number + 1 < len(inside.parts) else inside.close
    comma = document.bare.find(",", part.end, following)
    lead = len(text[: part.start].rstrip(_SPACES))
    cuts = [(lead, part.end)]
    if comma >= 0:
        cuts.append((comma, comma + 1))
    elif number:
        before = document.bare.find(",", inside.parts[number - 1].end, part.start)
        cuts.append((before, before + 1))
    rest = text[max(part.end, comma + 1) : following].lstrip(" \t")
    ends_line = rest.startswith(("\r", "\n", "//"))
    must_not_move = lead in document.line_comments or following != inside.close
    if "\n" in text[lead : part.start] and not ends_line and must_not_move:
        # The rest of this line must not move up, perhaps into a comment.
        cuts[0] = (part.start, part.end)
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    return text


def _begins_line(text: str, position: int) -> bool:
    return text[:position].rstrip(" \t").endswith(("\n", "\r"))


def _indent(text: str, position: int) -> str:
    """Return the indentation of the line at a position."""
    line = text[max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


# --- TOML -----------------------------------------------------------------------------------------


class Toml:
    """TOML. An addition becomes a table at the end of the file where possible."""

    def parse(self, text: str, where: str) -> dict[str, Any]:
        try:
            return _load_toml(text)
        except tomllib.TOMLDecodeError as exc:
            raise _unparsable(where, "TOML", str(exc)) from exc
        except RecursionError:
            raise _unparsable(where, "TOML", "it is nested too deeply") from None

    def add(self, text: str, addition: Addition, where: str) -> str:
        expected = add_setting(self.parse(text, where), addition, where)
        return _first_valid(_add_to_toml(text, addition), where, expected)

    def remove(self, text: str, keys: Keys, where: str) -> str:
        expected = remove_setting(self.parse(text, where), keys)
        # The table around an entry may only be implied by the entry's header.
        bare = remove_setting(expected, keys[:-1]) if not value_at(expected, keys[:-1]) else expected
        return _first_valid(_remove_from_toml(text, keys), where, bare, expected)


# --- a whole file ---------------------------------------------------------------------------------


class Script:
    """A file that is entirely ours, or not at all."""

    def parse(self, text: str, where: str) -> dict[str, Any]:  # noqa: ARG002
        return {NAME: text} if text.strip() else {}

    def add(self, text: str, addition: Addition, where: str) -> str:  # noqa: ARG002
        return str(addition.value)

    def remove(self, text: str, keys: Keys, where: str) -> str:  # noqa: ARG002
        return ""


Format = Json | Toml | Script


def _load_toml(text: str) -> dict[str, Any]:
    return tomllib.loads(text.removeprefix(_BOM), parse_float=_parse_float)


def _parse_float(text: str) -> float | str:
    # A NaN would not be equal to itself.
    value = float(text)
    return value if math.isfinite(value) else text


def _first_valid(texts: Iterator[str], where: str, *expected: Any) -> str:
    for text in texts:
        try:
            if _load_toml(text) in expected:
                return text
        except tomllib.TOMLDecodeError:
            continue
    raise _unsafe(where)


def _add_to_toml(text: str, addition: Addition) -> Iterator[str]:
    newline = "\r\n" if "\r\n" in text else "\n"
    lead = "" if not text.removeprefix(_BOM) else newline if text.endswith("\n") else newline * 2
    table, name = addition.path
    yield text + lead + tomlkit.dumps({table: {name: addition.value}}).replace("\n", newline)
    # No header may add to a table that is written in braces.
    yield from _edit_with_tomlkit(text, addition.path, addition.value)


def _remove_from_toml(text: str, keys: Keys) -> Iterator[str]:
    lines = text.splitlines(keepends=True)
    for start, line in enumerate(lines):
        if line.lstrip(" \t").startswith("[") and str(keys[-1]) in line:
            # As few lines as possible, because comments after the table belong to what follows.
            for end in range(start + 1, min(len(lines), start + _LONGEST_TABLE) + 1):
                yield "".join(lines[:start] + lines[end:])
    yield from _edit_with_tomlkit(text, keys, None)


def _edit_with_tomlkit(text: str, keys: Keys, value: Any) -> Iterator[str]:
    """Set, or with None delete, one key."""
    try:
        document = tomlkit.parse(text.removeprefix(_BOM))
        inside: Any = document
        for key in keys[:-1]:
            inside = inside[key]
        if value is None:
            del inside[keys[-1]]
        else:
            inside[keys[-1]] = value
        yield text[: text.startswith(_BOM)] + tomlkit.dumps(document)
    except tomlkit.exceptions.TOMLKitError:
        return
