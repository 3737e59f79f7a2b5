"""Text without its disguises, with the way back to the original.

A model reads ``ignоre`` with a Cyrillic о, ``ig<zero width>nore``, ``i g n o r e``, ``1gn0re`` and base64 as
the words they stand for, so a scan has to as well. Every reading knows where its characters came from.
Time and size stay linear in the text: each step is one pass, and no step makes a text longer than
three times the original.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Final

_ROUNDS: Final = 3

INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


class Reading:
    """A text as a model may read it; ``span`` leads back to the original."""

    __slots__ = ("_ends", "_starts", "text")

    def __init__(self, text: str, starts: list[int] | None = None, ends: list[int] | None = None) -> None:
        self.text = text
        self._starts = starts
        self._ends = ends

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where ``text[start:end]`` is in the original; ``start < end``."""
        if self._starts is None or self._ends is None:
            return start, end
        return self._starts[start], max(self._ends[end - 1], self._starts[start] + 1)

    def replace(self, pattern: re.Pattern[str], plain: Callable[[re.Match[str]], str | None]) -> Reading:
        """Return the reading with matches replaced; ``plain`` answers None to leave one alone."""
        edits = [
            (match.span(), new) for match in pattern.finditer(self.text) if (new := plain(match)) is not None
        ]
        if not edits:
            return self
        text: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        done = 0
        for (start, end), new in [*edits, ((len(self.text), len(self.text)), "")]:
            text += (self.text[done:start], new)
            for at in range(done, start):
                origin = self.span(at, at + 1)
                starts.append(origin[0])
                ends.append(origin[1])
            if new:
                origin = self.span(start, end)
                starts += [origin[0]] * len(new)
                ends += [origin[1]] * len(new)
            done = end
        return Reading("".join(text), starts, ends)

    def fold(self) -> Reading:
        """Return the reading in lower case, without accents, look-alikes and invisible characters."""
        if self.text.isascii() and not INVISIBLE.search(self.text):
            return Reading(self.text.lower(), self._starts, self._ends)
        text: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        for at, character in enumerate(self.text):
            folded = _fold_character(character)
            text.append(folded)
            origin = self.span(at, at + 1)
            starts += [origin[0]] * len(folded)
            ends += [origin[1]] * len(folded)
        return Reading(_MIXED_WORD.sub(_unmask, "".join(text)), starts, ends)


def unfold(text: str, count_known: Callable[[str], int]) -> Iterator[Reading]:
    """Yield the text as it is, then without its disguises if that makes a difference, all folded.

    ``count_known`` counts the telling words of a text: letters are read backwards or rotated only where
    that makes words of them.
    """
    plain = Reading(text).fold()
    yield plain
    decoded = Reading(text)
    for _ in range(_ROUNDS):
        before = decoded.text
        for sign, code, decode in _CODES:
            if sign.search(decoded.text):
                decoded = decoded.replace(_compile(code), decode)
        if decoded.text == before:
            break
    opened = plain if decoded.text == text else decoded.fold()
    for pattern, plain_word, fewest in _SPELLINGS:
        if len(pattern.findall(opened.text)) >= fewest:
            opened = opened.replace(pattern, plain_word)
    if opened.text != plain.text:
        yield opened
    yield from _turn(plain, count_known)


_FEWEST_KNOWN: Final = 3


def _turn(plain: Reading, count_known: Callable[[str], int]) -> Iterator[Reading]:
    """Yield the text backwards and by ROT13, where that makes more words of it."""
    text = plain.text
    backwards, rotated = count_known(text[::-1]), count_known(text.translate(_ROT13))
    if max(backwards, rotated) < _FEWEST_KNOWN:
        return
    known = 2 * count_known(text)
    if backwards >= max(_FEWEST_KNOWN, known):
        yield plain.replace(_LINE, lambda line: line[0][::-1])
        yield plain.replace(_LETTERS, lambda word: word[0][::-1])
    if rotated >= max(_FEWEST_KNOWN, known):
        yield plain.replace(_LINE, lambda line: line[0].translate(_ROT13))


_ROT13: Final = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
_LINE: Final = re.compile(r"[^\n]{8,}")
_LETTERS: Final = re.compile(r"[^\W\d_]{2,}")


# --- single characters ---------------------------------------------------------------------------

_TWINS: Final = str.maketrans(
    "аеіјорсухѕԁԛԝһӏкмтнвпոօսհցյαβεηικνορτυχωϲϳγ",
    "aeijopcyxsdqwhlkmthbnnouhgjabenikvoptuxwcjy",
)
_SHAPES: Final = dict(
    zip(
        "ɑɡɩɪıʟɴʀᴀʙᴄᴅᴇꜰɢʜᴊᴋᴍᴏᴘꜱᴛᴜᴠᴡʏᴢɐǝɟƃɥɾʞɯɹʇʌʍʎɔ‘’‚′´ʼ“”„«»「」『』‐‑‒–—−",
        'agiiilnrabcdefghjkmopstuvwyzaefghjkmrtvwyc\'\'\'\'\'\'"""""""""------',
        strict=True,
    )
)
# From the beginning of a word on, because within a long one each letter would be tried.
_MIXED_WORD: Final = re.compile(
    r"(?<![a-z\u0370-\u058f])(?:[a-z]+[\u0370-\u058f]|[\u0370-\u058f]+[a-z])[a-z\u0370-\u058f]*"
)
_CAPITALS: Final = (0x1F130, 0x1F150, 0x1F170, 0x1F1E6)  # squared and circled letters, letters of flags


def _unmask(word: re.Match[str]) -> str:
    return word[0].translate(_TWINS)


@lru_cache(maxsize=4096)
def _fold_character(character: str) -> str:
    if character in _SHAPES:
        return _SHAPES[character]
    if INVISIBLE.match(character):
        return ""
    code = ord(character)
    for first in _CAPITALS:
        if first <= code < first + 26:
            return chr(ord("a") + code - first)
    parts = unicodedata.normalize("NFKD", character).casefold()
    return unicodedata.normalize("NFC", "".join(one for one in parts if not unicodedata.combining(one)))


# --- codes: what decodes them is imported when a text has some -----------------------------------


def _read_bytes(data: bytes) -> str | None:
    """Return decoded bytes as text, or None if nobody wrote them."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    letters = sum(one.isalnum() or one in " .,:/%+=-'\n" for one in text)
    return (
        f" {text} "
        if len(text) >= 6 and text.isprintable() | ("\n" in text) and letters >= 0.85 * len(text)
        else None
    )


def _decode_base64(match: re.Match[str]) -> str | None:
    import base64

    code = match[0].rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _read_bytes(
            base64.b64decode(code[: len(code) - (len(code) % 4 == 1)] + "=" * (-len(code) % 4))
        )
    except ValueError:
        return None


def _decode_base32(match: re.Match[str]) -> str | None:
    import base64

    try:
        return _read_bytes(base64.b32decode(match[0].rstrip("=") + "=" * (-len(match[0].rstrip("=")) % 8)))
    except ValueError:
        return None


def _decode_hex(match: re.Match[str]) -> str | None:
    digits = re.sub(r"0x|\\x|u\+00|[^0-9a-f]", "", match[0].lower())
    return _read_bytes(bytes.fromhex(digits)) if len(digits) % 2 == 0 else None


def _decode_numbers(match: re.Match[str]) -> str | None:
    codes = re.findall(r"\d+", match[0])
    base = 2 if all(len(code) == 8 for code in codes) else 10
    return _read_bytes(bytes(number for code in codes if (number := int(code, base)) < 256))


def _decode_percent(match: re.Match[str]) -> str:
    from urllib.parse import unquote

    return unquote(match[0].replace("=", "%") if match[0][0] == "=" else match[0])


def _decode_entity(match: re.Match[str]) -> str:
    from html import unescape

    return unescape(match[0])


def _decode_escape(match: re.Match[str]) -> str | None:
    code = int(match[1] or match[2] or match[3], 16)
    return chr(code) if 31 < code < 0xD800 else None


Replacement = Callable[[re.Match[str]], str | None]

# A pattern that a text with a code matches, the pattern of the code, and its decoder.
_CODES: Final[tuple[tuple[re.Pattern[str], str, Replacement], ...]] = (
    (re.compile(r"[%=][0-9A-Fa-f]{2}"), r"(?:%[0-9A-Fa-f]{2})+|(?:=[0-9A-F]{2}){3,}", _decode_percent),
    (
        re.compile(r"&[#a-z]"),
        r"&#\d{2,7};?|&#[xX][0-9A-Fa-f]{2,6};?|&[a-z]{2,6};",
        _decode_entity,
    ),
    (
        re.compile(r"\\[xu]"),
        r"\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\u\{([0-9A-Fa-f]{2,5})\}",
        _decode_escape,
    ),
    (
        re.compile(r"\w\+\w"),
        r"(?<=[?&=])[\w%.,'-]+(?:\+[\w%.,'-]+)+",
        lambda match: match[0].replace("+", " "),
    ),
    (
        re.compile(r"[0-9A-Fa-f]{2}[\s,;:]{1,2}(?:0x|[uU]\+00)?[0-9A-Fa-f]{2}\b|[0-9A-Fa-f]{24}"),
        r"(?:\b(?:0x|[uU]\+00)?[0-9A-Fa-f]{2}\b[\s,;:]{0,2}){8,}|\b(?:[0-9A-Fa-f]{2}){12,}\b",
        _decode_hex,
    ),
    (
        re.compile(r"\d{2}[\s,;-]{1,2}\d{2}"),
        r"(?:\b(?:[01]{8}|3[2-9]|[4-9]\d|1[01]\d|12[0-6])\b[\s,;-]{0,2}){8,}",
        _decode_numbers,
    ),
    (
        re.compile(r"[\w+/-]{16}"),
        r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{16,}={0,2}(?![A-Za-z0-9+/_-])",
        _decode_base64,
    ),
    (re.compile(r"[A-Z2-7]{16}"), r"(?<![A-Z2-7])[A-Z2-7]{16,}={0,6}(?![A-Z2-7a-z])", _decode_base32),
)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    # Compiled when first needed: most texts hold no code.
    return re.compile(pattern)


# --- spellings -----------------------------------------------------------------------------------

_DIGITS: Final = str.maketrans("013457@$!|", "oieastasil")
_SPELLINGS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str], int], ...]] = (
    # i g n o r e, i-g-n-o-r-e; wider gaps stay gaps between words.
    (
        re.compile(r"(?<![\w'])[a-z]( \| |[ ._*|/,+~-])[a-z](?![\w'])(?:\1[a-z0134579@$](?![\w'])){2,}"),
        lambda match: match[0].replace(match[1], ""),
        1,
    ),
    # ign**ore, ig<b></b>nore, ig-nore
    (re.compile(r"(?<=[a-z]{2})(?:-|\*{1,3}|<[^<>\n]{1,30}>(?:</?\w{1,9}>)?)(?=[a-z]{2})"), lambda _: "", 3),
    # 1gn0re
    (
        re.compile(r"\b(?=[a-z@$]{0,20}[013457@$][a-z0-9@$]{0,20}[a-z])[a-z013457@$]{3,}\b"),
        lambda match: match[0].translate(_DIGITS),
        2,
    ),
    # ignore_all_previous_rules and "ignore" + " all"
    (
        re.compile(r"(?<=[a-z])(?:_|[\"'] ?\+ ?[\"'])(?=[a-z ])"),
        lambda match: " " if match[0] == "_" else "",
        3,
    ),
)
