"""Text of the agent's on one line, with nothing hidden in it."""

from __future__ import annotations

from typing import Final
from unicodedata import category

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS: Final = frozenset("\u200c\u200d")
_WRITTEN: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    """Control characters, line breaks and marks of direction written out."""
    return text if text.isprintable() else "".join(map(_visible, text))


def short(text: str, most: int) -> str:
    """The beginning of a text, on one line."""
    words = " ".join(text[: 2 * most].split())
    shown = visible(words)
    return shown if len(shown) <= most and len(text) <= 2 * most else shown[: most - 1] + "…"


def _visible(character: str) -> str:
    if category(character) not in _HIDDEN or character in _JOINERS:
        return character
    return _WRITTEN.get(character) or f"\\u{ord(character):04x}"
