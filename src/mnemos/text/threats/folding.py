"""Text as it is matched against: plain lower-case letters, with the way back to where they stood.

``ignоre`` with a Cyrillic о, ``ｉｇｎｏｒｅ``, ``ig<zero width>nore``, ``i g n o r e`` and ``1gn0re`` are all
read as the word a model reads. What is found is reported in the original, so each view of a text knows
where its characters came from.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final


class View:
    """``text`` is what rules look at; ``span`` says where a part of it stands in the original."""

    __slots__ = ("_origin", "_pieces", "_starts", "text")

    def __init__(self, text: str, origin: str, pieces: list[tuple[int, int, int]] | None = None) -> None:
        self.text = text
        self._origin = origin
        self._pieces = pieces
        self._starts: list[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where ``text[start:end]`` stands in the original; never empty, never outside it."""
        if self._pieces is None:
            if self._origin.isascii():
                return start, end
            self._pieces = _pieces_of(self._origin)
        if self._starts is None:
            self._starts = [piece[0] for piece in self._pieces]
        first = self._pieces[max(0, bisect_right(self._starts, start) - 1)]
        last = self._pieces[max(0, bisect_right(self._starts, max(start, end - 1)) - 1)]
        return first[1], last[2]


class Rewritten:
    """A text with some places written anew; ``edits`` are (start, end, new text), in order and apart."""

    __slots__ = ("_marks", "_starts", "text")

    def __init__(self, text: str, edits: Sequence[tuple[int, int, str]]) -> None:
        kept: list[str] = []
        # Where a stretch begins now, where it began and ended, and whether it is the same as before.
        self._marks: list[tuple[int, int, bool]] = []
        self._starts: list[int] = []
        length = done = 0
        for start, end, new in (*edits, (len(text), len(text), "")):
            for piece, first, last, same in ((text[done:start], done, start, True), (new, start, end, False)):
                if piece:
                    self._starts.append(length)
                    self._marks.append((first, last, same))
                    kept.append(piece)
                    length += len(piece)
            done = end
        self.text = "".join(kept)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where ``text[start:end]`` stood before; a place that was written anew counts as a whole."""
        return self._before(start)[0], self._before(max(start, end - 1))[1]

    def _before(self, at: int) -> tuple[int, int]:
        number = max(0, bisect_right(self._starts, at) - 1)
        first, last, same = self._marks[number]
        if same:
            first += at - self._starts[number]
            return first, first + 1
        return first, last


def folded(text: str) -> View:
    """Lower case without accents, styles, look-alikes and characters that show nothing."""
    return View(text.lower() if text.isascii() else text.translate(_FOLDS), text)


def unspaced(text: str) -> Rewritten | None:
    """A folded text with ``i g n o r e`` and ``i-g-n-o-r-e`` pulled together, or None if it has no such word.

    Wider gaps stay gaps between words.
    """
    if not _SPACED_WORD.search(text):
        return None
    return Rewritten(
        text, [(*run.span(), run[0].replace(run[1], "")) for run in _SPACED.finditer(text) if run[1]]
    )


class _Folds(dict[int, str]):
    """What each character is read as, worked out when it is first seen."""

    def __missing__(self, code: int) -> str:
        fold = _fold(chr(code))
        self[code] = fold
        return fold


def _fold(character: str) -> str:
    if character in _LOOK_ALIKES:
        return _LOOK_ALIKES[character]
    if INVISIBLE.match(character):
        return ""
    plain = unicodedata.normalize("NFKD", character).casefold()
    return "".join(_LOOK_ALIKES.get(part, part) for part in plain if not unicodedata.combining(part))


def _pieces_of(origin: str) -> list[tuple[int, int, int]]:
    """(place in the folded text, start and end in the original) of every character that left a trace."""
    pieces: list[tuple[int, int, int]] = []
    length = 0
    for at, character in enumerate(origin):
        fold = _FOLDS[ord(character)]
        if fold:
            pieces.append((length, at, at + 1))
            length += len(fold)
    return pieces or [(0, 0, len(origin))]


def _look_alikes() -> Iterator[tuple[str, str]]:
    pairs = (
        # Cyrillic and Armenian, Greek, and letters of phonetics and small capitals.
        ("аеіјорсухѕԁԛԝһӏкмтнвп", "aeijopcyxsdqwhlkmthbn"),
        ("АЕІЈОРСУХЅԀԚԜҺӀКМТНВ", "aeijopcyxsdqwhlkmthb"),
        ("օսոհցյ", "ounhgj"),
        ("αβεηικνορτυχωϲϳγ", "abenikvoptuxwcjy"),
        ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "abezhikmnoptyx"),
        ("ɑɡɩɪıʟɴʀᴀʙᴄᴅᴇꜰɢʜᴊᴋᴍᴏᴘꜱᴛᴜᴠᴡʏᴢƖɛ", "agiiilnrabcdefghjkmopstuvwyzle"),
        ("‘’‚‛′´`ʼ", "'''''''`"),
        ("“”„‟″«»‹›「」『』", '"' * 13),
        ("‐‑‒–—―−", "-" * 7),
    )
    for letters, plain in pairs:
        yield from zip(letters, plain, strict=True)
    for first in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6):  # squared and circled capitals, letters of flags
        for number in range(26):
            yield chr(first + number), chr(ord("a") + number)


# Characters that take no room and show nothing, or only change how others are shown.
INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_LOOK_ALIKES: Final = dict(_look_alikes())
_FOLDS: Final = _Folds()
# Single letters with the same sign between them; four in a row are hardly ever anything but a word.
_SPACED_WORD: Final = re.compile(r"(?<![\w'])[a-z]( \| |[ ._*|/,+~-])[a-z](?:\1[a-z0134579@$](?![\w'])){2}")
_SPACED: Final = re.compile(
    r"(?<![\w'])[a-z]( \| |[ ._*|/,+~-])[a-z](?![\w'])(?:\1[a-z0134579@$](?![\w']))*+"
)
