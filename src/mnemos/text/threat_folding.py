"""Text as it is matched against: plain lower-case letters, with the way back to where they stood.

``ignоre`` with a Cyrillic о, ``ｉｇｎｏｒｅ``, ``ig<zero width>nore``, ``i g n o r e`` and ``1gn0re`` are all
read as the word a model reads. What is found is reported in the original, so each view of a text knows
where its characters came from.
"""

from __future__ import annotations

import base64
import codecs
import html
import re
import unicodedata
import urllib.parse
from bisect import bisect_right
from collections.abc import Callable, Iterator
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


def folded(text: str) -> View:
    """Lower case without accents, styles, look-alikes and characters that show nothing."""
    return View(text.lower() if text.isascii() else text.translate(_FOLDS), text)


def unspaced(view: View) -> View | None:
    """The view with ``i g n o r e`` and ``i-g-n-o-r-e`` pulled together, or None if there is no such word.

    Wider gaps stay gaps between words.
    """
    if not _SPACED_WORD.search(view.text):
        return None
    kept: list[str] = []
    pieces: list[tuple[int, int, int]] = []
    length = end = 0

    def keep(start: int, stop: int) -> None:
        nonlocal length
        for at in range(start, stop):
            pieces.append((length, *view.span(at, at + 1)))
            kept.append(view.text[at])
            length += 1

    for start, stop in (run.span() for run in _SPACED.finditer(view.text)):
        keep(end, start)
        separator = view.text[start + 1]
        for at in range(start, stop):
            if view.text[at] != separator or at == start:
                keep(at, at + 1)
        end = stop
    keep(end, len(view.text))
    return View("".join(kept), view._origin, pieces)


def without_digits(view: View) -> View | None:
    """The view with ``1gn0re`` read as ``ignore``, or None if hardly a word has digits for letters."""
    if len(_DIGITS_FOR_LETTERS.findall(view.text)) < 2:
        return None
    return View(view.text.translate(_LETTERS_FOR_DIGITS), view._origin, view._pieces)


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
_SPACED_WORD: Final = re.compile(r"(?<![\w'])[a-z]([ ._*-])[a-z](?:\1[a-z](?![\w'])){2}")
_SPACED: Final = re.compile(r"(?<![\w'])[a-z]([ ._*-])[a-z](?![\w'])(?:\1[a-z](?![\w']))*+")
_DIGITS_FOR_LETTERS: Final = re.compile(
    r"(?<![\w./-])(?:[a-z]{1,12}[01345@$]|[013457@$][a-z])[a-z013457@$]{1,14}(?![\w/-])"
)
_LETTERS_FOR_DIGITS: Final = str.maketrans("013457@$", "oieastas")


# --- encoded passages -----------------------------------------------------------------------------

_MOST_PASSAGES: Final = 20
_LONGEST_PASSAGE: Final = 4_000
_LEAST: Final = 24
_ENCODED: Final = re.compile(
    r"(?P<base64>[A-Za-z0-9+/]{24,}+={0,2})|(?P<percent>(?:%[0-9A-Fa-f]{2}){8,}+)"
    r"|(?P<entities>(?:&#x?[0-9A-Fa-f]{2,5};){8,}+)|(?P<escapes>(?:\\x[0-9A-Fa-f]{2}"
    r"|\\u00[0-9A-Fa-f]{2}){8,}+)"
)
_HEX: Final = re.compile(r"(?:[0-9A-Fa-f]{2}){16,}")
# Words that matter written backwards, and in ROT13.
_BACKWARDS: Final = (
    *(
        "erongi",
        "snoitcurtsni",
        "suoiverp",
        "dragersid",
        "sdrowssap",
        "drawrof",
        "tpmorp metsys",
        "metsys ruoy",
    ),
    *("slaitnederc", "syek ipa", "laever", "sterces", "daolpu", "senilediug", "snekot", "resu eht"),
)
_WHOLE: Final[tuple[tuple[tuple[str, ...], Callable[[str], str]], ...]] = (
    (_BACKWARDS, lambda text: text[::-1]),
    (_BACKWARDS, lambda text: " ".join(word[::-1] for word in text.split())),
    (("vtaber", "vafgehpgvba", "cerivbhf", "qvfertneq"), lambda text: codecs.encode(text, "rot13")),
)
_SAYS_SOMETHING: Final = re.compile(r"[a-z]{2,}[^a-z]{1,3}[a-z]{2,}", re.I)


def encoded(view: View) -> Iterator[tuple[str, int, int]]:
    """Passages in base64, hexadecimal, percent signs, entities or escapes that hold words, decoded.

    A text written backwards or in ROT13 is decoded as a whole. Places are those in the original.
    """
    text = view._origin
    for signs, decode in _WHOLE:
        if any(map(view.text.__contains__, signs)):
            yield decode(text), 0, len(text)
    if not any(map(text.__contains__, ("%", "&#", "\\"))) and max(map(len, text.split()), default=0) < _LEAST:
        return
    for number, passage in enumerate(_ENCODED.finditer(text)):
        if number == _MOST_PASSAGES:
            return
        decoded = _decoded(passage.lastgroup or "", passage[0][:_LONGEST_PASSAGE])
        if decoded is not None and _SAYS_SOMETHING.search(decoded):
            yield decoded, *passage.span()


def _decoded(form: str, passage: str) -> str | None:
    try:
        if form == "percent":
            return urllib.parse.unquote(passage, errors="strict")
        if form == "entities":
            return html.unescape(passage)
        if form == "escapes":
            return bytes.fromhex(re.sub(r"\\x|\\u00", "", passage)).decode("utf-8")
        if _HEX.fullmatch(passage):
            return bytes.fromhex(passage).decode("utf-8")
        whole = passage.rstrip("=")
        return base64.b64decode(whole[: len(whole) - (len(whole) % 4 == 1)] + "==", validate=False).decode(
            "utf-8"
        )
    except (ValueError, UnicodeDecodeError):
        return None
