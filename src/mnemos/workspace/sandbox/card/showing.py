"""Names, values and comments as the card writes them: on one line, short, like nothing else in it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, TypeVar

import apsw

from mnemos.workspace.sandbox.card.model import Blob, Cell

NAME = 64
CELL = 60
COMMENT = 100
DATA_NAME = 300
DATA_CELL = 200

_Row = TypeVar("_Row")
_PLAIN = re.compile(r"[^\W\d]\w*")
_KEYWORDS = frozenset(word.lower() for word in apsw.keywords)
_WRITTEN = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# What closes a block of Markdown, or the tag that a host wraps the card in.
_CLOSES = re.compile(r"`{3,}|~{3,}|[<＜﹤‹]\s*/")


def line(text: str, most: int) -> str:
    """A text on one line: what is not printable is written out, what is too long is cut."""
    # More than enough to judge, and a long one costs no more than a short one.
    head = text[: most + 1]
    shown = head if head.isprintable() else "".join(map(_visible, head))
    shown = _CLOSES.sub(_defused, shown)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def name(identifier: str) -> str:
    """An identifier as SQL takes it: in quotes where it needs them."""
    if len(identifier) <= NAME and _PLAIN.fullmatch(identifier) and identifier.lower() not in _KEYWORDS:
        return identifier
    return '"' + line(identifier[: NAME + 1].replace('"', '""'), NAME) + '"'


def cell(value: Cell, most: int = CELL) -> str:
    """A value as SQL writes it."""
    if value is None:
        return "NULL"
    if isinstance(value, Blob):
        return f"<blob, {value.size} bytes>"
    if isinstance(value, str):
        return "'" + line(value[: most + 1].replace("'", "''"), most) + "'"
    return number(value)


def number(value: int | float) -> str:
    if isinstance(value, float):
        return f"{value:.10g}" if math.isfinite(value) else "-Infinity" if value < 0 else "Infinity"
    return str(value)


def plain(value: Cell) -> Any:
    """A value that JSON has a form for."""
    if isinstance(value, Blob):
        return f"<blob, {value.size} bytes>"
    if isinstance(value, str):
        return value if len(value) <= DATA_CELL else value[: DATA_CELL - 1] + "…"
    if isinstance(value, float) and not math.isfinite(value):
        return number(value)
    return value


def short(identifier: str) -> str:
    """A name for the data, where it may be as long as a sentence."""
    return identifier if len(identifier) <= DATA_NAME else identifier[: DATA_NAME - 1] + "…"


def spread(rows: Sequence[_Row], most: int) -> list[_Row]:
    """Rows from all over, the first and the last among them."""
    if len(rows) <= most:
        return list(rows)
    return [rows[place * (len(rows) - 1) // max(most - 1, 1)] for place in range(most)]


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return _WRITTEN.get(character) or f"\\u{ord(character):04x}"


def _defused(match: re.Match[str]) -> str:
    found = match[0]
    return f"{found[0]}\\/" if found[-1] == "/" else "\\".join(found)
