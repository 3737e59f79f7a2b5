"""Characters that hide something: text nobody sees, text shown in another order, letters in disguise.

The same characters have honest uses, and those pass: joiners in emoji and in Persian or Hindi words,
marks of direction beside Hebrew and Arabic, the flag of Wales, a soft hyphen, a stray zero-width space
from a web page, Greek letters in formulas, Russian endings on English words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from mnemos.text.threats.folding import INVISIBLE

Hidden = tuple[str, int, int]
"""The reason, where it starts, and where it ends."""


def hidden(text: str) -> Iterator[Hidden]:
    """What ``text`` hides, kind by kind; nothing for ASCII."""
    if text.isascii():
        return
    if INVISIBLE.search(text):
        yield from _tags(text)
        yield from _reordered(text)
        yield from _selectors(text)
        yield from _zero_width(text)
    if _MAYBE_MIXED.search(text):
        yield from _disguised(text)


# --- characters that show nothing ----------------------------------------------------------------

_TAGS: Final = re.compile("(\U0001f3f4)?[\U000e0000-\U000e007f]+")
_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_ZERO_WIDTH: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\u2800\u3164"
    "\ufeff\uffa0\ufff9-\ufffb]+"
)
_SOFT_HYPHEN: Final = "\u00ad"
# Longer than any cluster of joiners and marks of direction that people type.
_LONG_RUN: Final = 4
# Web pages leave one here and there; text hidden between words needs one a bit.
_MANY: Final = 12


def _tags(text: str) -> Iterator[Hidden]:
    for run in _TAGS.finditer(text):
        if not _FLAG.fullmatch(run[0]):
            yield ("holds invisible tag characters", *run.span())


def _selectors(text: str) -> Iterator[Hidden]:
    """One selector after a sign chooses how it looks; several in a row, or after a letter, carry data."""
    for run in _SELECTORS.finditer(text):
        before = text[run.start() - 1] if run.start() else " "
        if len(run[0]) > 1 or (run[0] > "\ufe0f" and unicodedata.category(before) != "Lo"):
            yield ("holds a row of variation selectors", *run.span())


def _zero_width(text: str) -> Iterator[Hidden]:
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


# --- characters that change the order ------------------------------------------------------------

_TURNING: Final = re.compile("[\u202b\u202d\u202e\u2067]")
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")


def _reordered(text: str) -> Iterator[Hidden]:
    """Overrides, and embeddings from right to left where nothing is written that way."""
    honest = _RIGHT_TO_LEFT.search(text) is not None
    for mark in _TURNING.finditer(text):
        if mark[0] == "\u202e" or not honest:
            yield ("holds characters that change the order text is shown in", *mark.span())


# --- letters of another script -------------------------------------------------------------------

_MAYBE_MIXED: Final = re.compile("[A-Za-z][\u0370-\u058f]|[\u0370-\u058f][A-Za-z]")
_WORD: Final = re.compile("[A-Za-z\u0370-\u058f]+")
_FOREIGN: Final = re.compile("[\u0370-\u058f]+")
_EXPLAINED: Final = re.compile(r"(?i)cyrillic|homoglyph|look-?alike|confusable|punycode|greek|mixed.script")
# Letters of the other scripts that nobody can tell from Latin ones.
_TWINS: Final = frozenset("аеіјорсухѕԁԛԝһӏАЕІЈОРСУХЅКМТНВοονΟΑΒΕΖΗΙΚΜΝΡΤΥΧօսոհցյ")


def _disguised(text: str) -> Iterator[Hidden]:
    """Words of Latin letters with twins of other scripts among them.

    ``в Slackе`` has a Russian ending: behind the Latin letters, in a text with Russian words, it is honest.
    """
    native = any(not _TWINS.issuperset(word) for word in _FOREIGN.findall(text))
    for word in _WORD.finditer(text):
        foreign = "".join(_FOREIGN.findall(word[0]))
        latin = len(word[0]) - len(foreign)
        if not foreign or not latin or len(word[0]) < 4 or not _TWINS.issuperset(foreign):
            continue
        honest = native and (len(foreign) > latin or word[0].endswith(foreign))
        if not honest and not _EXPLAINED.search(text, max(0, word.start() - 80), word.end() + 80):
            yield ("disguises a word with letters of another script", *word.span())
