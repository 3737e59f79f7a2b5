"""Arguments as they come in: made sound, and explained when they do not fit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mnemos.errors import InvalidInput
from mnemos.operations.wording import cut

MOST = 2**53
"""The largest whole number that JSON carries unchanged everywhere."""

_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "nothing",
}
_QUOTED = re.compile(r"`([^`]*)`")
_FIELD = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_AT = re.compile(r" - at `\$\.(\w+)")
_SHOWN = 80


def sound(value: Any) -> Any:
    """The same value; where a text holds half a character, which has no UTF-8, a sign stands for it."""
    if isinstance(value, str):
        if value.isascii() or _has_utf8(value):
            return value
        # Two halves that belong together become one character again.
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, Mapping):
        return {sound(key): sound(below) for key, below in value.items()}
    if isinstance(value, list | tuple):
        return [sound(below) for below in value]
    return value


def file_named(text: str) -> Path:
    """The file of that name, ``~`` included; a name that no file can have raises InvalidInput."""
    if not text.strip() or "\0" in text:
        raise InvalidInput(f"path is {text!r}; use the name of a file")
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as exc:
        raise InvalidInput(f"path is {text!r}: {exc}; write the folder out") from exc


def explained(message: str, arguments: Mapping[str, Any], fields: Mapping[str, Any]) -> str:
    """A complaint of the decoder in words for people and models, with the value it is about.

    ``fields``: the JSON schema of every argument there is.
    """
    field = _FIELD.fullmatch(message)
    if field is not None and field[1] == "missing required":
        return f"the argument {field[2]!r} is missing"
    if field is not None:
        return f"there is no argument {cut(field[2], _SHOWN)!r}; there are {', '.join(fields)}"
    at = _AT.search(message)
    complaint = _QUOTED.sub(_in_words, message.partition(" - at ")[0])
    complaint = cut(complaint, 3 * _SHOWN)
    if at is None:
        return complaint
    given = cut(repr(arguments.get(at[1])), _SHOWN)
    choices = _choices(fields.get(at[1], {}))
    if choices and complaint.startswith("Invalid enum value"):
        return f"{at[1]} is {given}; use {', '.join(choices)}"
    return f"{at[1]} is {given}; {complaint[:1].lower()}{complaint[1:]}"


def _choices(field: Mapping[str, Any]) -> list[str]:
    """The values that a field takes, where they are a fixed set."""
    kinds = [field, *field.get("anyOf", ())]
    return [str(choice) for kind in kinds for choice in kind.get("enum", ()) if choice is not None]


def _in_words(quoted: re.Match[str]) -> str:
    kinds = quoted[1].split(" | ")
    if all(kind in _KINDS for kind in kinds):
        return " or ".join(_KINDS[kind] for kind in kinds)
    return quoted[1]


def _has_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
