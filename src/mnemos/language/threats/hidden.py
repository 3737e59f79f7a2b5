"""Characters that hide text from people while a model reads it.

The same characters have honest uses, which pass: joiners in emoji and in Persian or Hindi words, marks of
direction in Hebrew and Arabic, the flag of Wales, soft hyphens, a stray zero-width space from a web page.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

Found = tuple[str, int, int]
"""Reason, start, end."""

_TAGS: Final = re.compile("(\U0001f3f4)?[\U000e0000-\U000e007f]+")
_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_ZERO_WIDTH: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\u2800\u3164"
    "\ufeff\uffa0\ufff9-\ufffb]+"
)
_TURNING: Final = re.compile("[\u202b\u202d\u202e\u2067]")
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_SOFT_HYPHEN: Final = "\u00ad"
# Longer than any cluster of joiners and marks of direction that people type.
_LONG_RUN: Final = 4
# Web pages leave one here and there; text hidden between words needs one for each bit.
_MANY: Final = 12


def find_hidden(text: str) -> Iterator[Found]:
    """Yield what a text hides; nothing for ASCII."""
    if text.isascii():
        return
    for run in _TAGS.finditer(text):
        if not _FLAG.fullmatch(run[0]):
            yield ("holds invisible tag characters", *run.span())
    # One selector after a sign chooses how it looks. Several in a row, or one after a letter, carry data.
    for run in _SELECTORS.finditer(text):
        before = text[run.start() - 1] if run.start() else " "
        if len(run[0]) > 1 or (run[0] > "\ufe0f" and unicodedata.category(before) != "Lo"):
            yield ("holds a row of variation selectors", *run.span())
    is_right_to_left = _RIGHT_TO_LEFT.search(text) is not None
    for mark in _TURNING.finditer(text):
        if mark[0] == "\u202e" or not is_right_to_left:
            yield ("holds characters that change the order text is shown in", *mark.span())
    yield from _find_zero_width(text)


def _find_zero_width(text: str) -> Iterator[Found]:
    odd: list[tuple[int, int]] = []
    for run in _ZERO_WIDTH.finditer(text):
        start, end = run.span()
        before = text[start - 1] if start else " "
        after = text[end] if end < len(text) else " "
        if end - start >= _LONG_RUN:
            yield ("holds a row of invisible characters", start, end)
        elif _is_latin(before) and _is_latin(after) and run[0] != _SOFT_HYPHEN:
            yield ("hides invisible characters inside a word", start - 1, end + 1)
        elif run[0] != _SOFT_HYPHEN and before < "\u0300" and after < "\u0300":
            odd.append((start, end))
    if len(odd) > _MANY:
        yield ("holds many invisible characters", odd[0][0], odd[-1][1])


def _is_latin(character: str) -> bool:
    return character.isalpha() and character < "\u0250"
