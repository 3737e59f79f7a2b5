"""Changing one table of a TOML text; every other byte stays."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import tomlkit
import tomlkit.exceptions

from mnemos.errors import InvalidInput, Refused
from mnemos.integrations.clients.edits import Addition, Keys, Trace, at

_BOM: Final = "\ufeff"
_HEADER: Final = re.compile(r"[ \t]*\[")
_MOST_LINES: Final = 100
"""A table of ours is no longer, even when a person added to it."""


class Toml:
    """Settings in TOML: an addition is a table of its own at the end, where that is allowed."""

    def value(self, text: str, where: str) -> dict[str, Any]:
        try:
            return _loaded(text)
        except tomllib.TOMLDecodeError as exc:
            raise InvalidInput(
                f"{where} is not TOML: {exc}. Mend it there, or move the file away; nothing was changed"
            ) from exc
        except RecursionError:
            raise InvalidInput(f"{where} is nested too deeply to be settings; look at it") from None

    def add(self, text: str, addition: Addition, where: str) -> tuple[str, Trace]:
        value = self.value(text, where)
        outer = at(value, addition.path[:-1])
        if outer is not None and not isinstance(outer, Mapping):
            raise InvalidInput(f"{where}: {'.'.join(addition.path[:-1])} is not a table; change that first")
        expected = _with(value, addition)
        fragment = _fragment(text, addition)
        if _says(text + fragment, expected):
            return text + fragment, Trace(fragment=fragment)
        changed = _put_inline(text, addition)
        if not _says(changed, expected):
            raise Refused(f"{where} is written in a way that cannot be changed safely; change it by hand")
        return changed, Trace()

    def entry(self, text: str, keys: Keys, where: str) -> dict[str, Any]:
        self.value(text, where)
        found = at(tomllib.loads(text.removeprefix(_BOM)), keys)
        return dict(found) if isinstance(found, Mapping) else {}

    def remove(self, text: str, keys: Keys, trace: Trace, where: str) -> str:
        value = self.value(text, where)
        expected = _without(value, keys)
        for shorter in _shorter(text, keys, trace):
            if any(_says(shorter, one) for one in expected):
                return shorter
        raise Refused(f"{where} is written in a way that cannot be changed safely; change it by hand")


def _loaded(text: str) -> dict[str, Any]:
    # Numbers as they are written: a NaN would not be equal to itself.
    return tomllib.loads(text.removeprefix(_BOM), parse_float=str)


def _says(text: str, expected: Any) -> bool:
    try:
        return bool(_loaded(text) == expected)
    except tomllib.TOMLDecodeError:
        return False


def _with(value: dict[str, Any], addition: Addition) -> dict[str, Any]:
    changed = inside = dict(value)
    for name in addition.path[:-1]:
        inside[name] = inside = dict(inside.get(name, {}))
    inside[addition.path[-1]] = _loaded("\n".join(_members(addition.value)))
    return changed


def _without(value: dict[str, Any], keys: Keys) -> list[Any]:
    """What may be left: the table around it empty, or gone, as its header may have been ours alone."""
    changed: Any = value.copy()
    inside = changed
    for key in keys[:-1]:
        inside[key] = inside = inside[key].copy()
    del inside[keys[-1]]
    if inside or len(keys) < 2:
        return [changed]
    bare = dict(changed)
    del bare[keys[0]]
    return [bare, changed] if len(keys) == 2 else [changed]


def _fragment(text: str, addition: Addition) -> str:
    """The table as text, set apart from what stands before it."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(addition.path)}]", *_members(addition.value)]
    apart = "" if not text.removeprefix(_BOM) else newline
    ended = "" if not apart or text.endswith("\n") else newline
    return ended + apart + newline.join(lines) + newline


def _members(value: Mapping[str, Any]) -> list[str]:
    """Each member of a table on a line."""
    return [f"{tomlkit.key(name).as_string()} = {_inline(one).as_string()}" for name, one in value.items()]


def _inline(value: Any) -> Any:
    """A value that fits on the line of its name."""
    if not isinstance(value, Mapping):
        return tomlkit.item(value)
    table = tomlkit.inline_table()
    for name, one in value.items():
        table.append(name, _inline(one))
    return table


def _put_inline(text: str, addition: Addition) -> str:
    """The text with the addition in a table that is written in braces, which no header may add to."""
    try:
        document = tomlkit.parse(text.removeprefix(_BOM))
        inside: Any = document
        for name in addition.path[:-1]:
            inside = inside[name]
        inside[addition.path[-1]] = _inline(addition.value)
    except tomlkit.exceptions.TOMLKitError:
        # What it does not read, nobody changes: the text as it is does not say what is expected.
        return text
    return text[: text.startswith(_BOM)] + tomlkit.dumps(document)


def _shorter(text: str, keys: Keys, trace: Trace) -> Iterator[str]:
    """Texts with less in them, the likeliest first; not all of them are what is wanted."""
    if trace.fragment and text.count(trace.fragment) == 1:
        yield text.replace(trace.fragment, "")
    lines = text.splitlines(keepends=True)
    for start, line in enumerate(lines):
        if _HEADER.match(line) and str(keys[-1]) in line:
            # Comments behind it belong to what follows: the fewest lines that do.
            for end in range(start + 1, min(len(lines), start + _MOST_LINES) + 1):
                yield "".join(lines[:start] + lines[end:])
    try:
        document = tomlkit.parse(text.removeprefix(_BOM))
        inside: Any = document
        for key in keys[:-1]:
            inside = inside[key]
        del inside[keys[-1]]
        yield text[: text.startswith(_BOM)] + tomlkit.dumps(document)
    except tomlkit.exceptions.TOMLKitError:
        return
